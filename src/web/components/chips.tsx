/** Chips and segments: rows of links. Chips are what is filtered or offered; segments are the views of one thing. */
import type { ComponentChildren, JSX } from "preact";
import { Icon } from "../shell/icons.tsx";

export interface Chip {
  readonly path: string;
  readonly text: ComponentChildren;
  /** `on` is a filter that the link removes, `current` the shown tab; a plain chip adds something. */
  readonly state?: "on" | "current";
}

interface ChipsProps {
  readonly chips: readonly Chip[];
  readonly label: string;
  /** What stands before the chips, such as the link to the filters on phones; and after them, such as segments. */
  readonly start?: ComponentChildren;
  readonly end?: ComponentChildren;
}

/** One row of chips, which scrolls where it is too wide. */
export const Chips = ({ chips, label, start, end }: ChipsProps): JSX.Element => (
  <nav class="chips" aria-label={label}>
    {start}
    {chips.map(({ path, text, state }) => (
      <a
        key={path}
        class={state === "on" ? "chip on" : "chip"}
        href={path}
        aria-current={state === "current" ? "true" : undefined}
      >
        {text}
        {state === "on" ? (
          <>
            <span class="vh">, remove</span>
            <Icon name="remove" />
          </>
        ) : null}
      </a>
    ))}
    {end}
  </nav>
);

interface SegmentsProps {
  readonly label: string;
  readonly segments: readonly { readonly path: string; readonly text: string; readonly isCurrent: boolean }[];
  /** Another class, such as `no-phone`. */
  readonly look?: string;
}

/** Links of which one is current: views, radii, used and new. */
export const Segments = ({ label, segments, look }: SegmentsProps): JSX.Element => (
  <nav class={look === undefined ? "seg" : `seg ${look}`} aria-label={label}>
    {segments.map(({ path, text, isCurrent }) => (
      <a key={path} href={path} aria-current={isCurrent ? "true" : undefined}>
        {text}
      </a>
    ))}
  </nav>
);
