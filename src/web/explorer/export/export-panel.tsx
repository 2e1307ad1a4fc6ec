/** The frame of the pages of an export, which a browser module shows as a dialog. */
import type { ComponentChildren, JSX } from "preact";
import { type ViewParameters, viewPath, withParameters } from "../view.ts";

/** The link to the export of a view. */
export const ExportLink = ({ view }: { readonly view: ViewParameters }): JSX.Element => (
  <a
    class="btn"
    href={viewPath(withParameters(view, { layout: undefined, columns: undefined }), "/export")}
    data-export
  >
    Export
  </a>
);

interface ExportPanelProps {
  readonly title: string;
  /** The view that closing returns to. */
  readonly view: ViewParameters;
  readonly children: ComponentChildren;
}

/** What the page and the dialog show. */
export const ExportPanel = ({ title, view, children }: ExportPanelProps): JSX.Element => (
  <section class="export sheet" data-export-panel aria-labelledby="export">
    <header>
      <h1 id="export">{title}</h1>
      <a href={viewPath(withParameters(view, { fields: undefined, format: undefined }))} data-close>
        Close
      </a>
    </header>
    {children}
  </section>
);

const units = ["bytes", "KB", "MB", "GB"] as const;

/** Formats a number of bytes, for example `1.1 MB`. */
export function byteSize(bytes: number): string {
  const power = Math.min(units.length - 1, Math.floor(Math.log10(Math.max(1, bytes)) / 3));
  const value = bytes / 1000 ** power;
  return `${value < 10 && power > 0 ? value.toFixed(1) : Math.round(value)} ${units[power]}`;
}
