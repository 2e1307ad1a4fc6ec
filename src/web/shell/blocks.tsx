/** Parts of the dashboard's and the operator's pages: their frame with its navigation, figures, sheets, tables of rows, and notices. */
import type { ComponentChildren, JSX } from "preact";
import type { PageContent } from "./document.tsx";

interface Frame<Path extends string> {
  readonly door: "account" | "operate";
  readonly pages: readonly { readonly path: Path; readonly text: string }[];
  /** The page of the navigation that is shown. */
  readonly path: Path;
}

/** Returns a page beside the navigation of its section. */
export const framedPage = <Path extends string>(
  { door, pages, path: current }: Frame<Path>,
  title: string,
  body: ComponentChildren,
): PageContent => ({
  title,
  door,
  body: (
    <div class="dash">
      <nav aria-label="Section">
        {pages.map(({ path, text }) => (
          <a key={path} href={path} aria-current={path === current ? "page" : undefined}>
            {text}
          </a>
        ))}
      </nav>
      <div class="stack">
        <h1>{title}</h1>
        {body}
      </div>
    </div>
  ),
});

export type Figure = readonly [name: string, value: ComponentChildren, note?: ComponentChildren];

interface FiguresProps {
  readonly figures: readonly Figure[];
  /** The class of the list. */
  readonly look?: string;
}

export const Figures = ({ figures, look = "sheet figures" }: FiguresProps): JSX.Element => (
  <dl class={look}>
    {figures.map(([name, value, note]) => (
      <div key={name}>
        <dt>{name}</dt>
        <dd>
          {value}
          <small>{note}</small>
        </dd>
      </div>
    ))}
  </dl>
);

/** A message about the change that led to this page. */
export const Notice = ({ text }: { readonly text: string | undefined }): JSX.Element | null =>
  text === undefined ? null : (
    <p class="note" role="status">
      {text}
    </p>
  );

interface BlockProps {
  readonly id: string;
  readonly title: ComponentChildren;
  /** Links that stand beside the title. */
  readonly end?: ComponentChildren;
  readonly children: ComponentChildren;
}

export const Block = ({ id, title, end, children }: BlockProps): JSX.Element => (
  <section class="sheet pad" aria-labelledby={id}>
    <div class="head">
      <h2 id={id}>{title}</h2>
      {end === undefined ? null : <span class="end">{end}</span>}
    </div>
    {children}
  </section>
);

/** A column whose name is a link that sorts, and the order of the rows by it. */
interface SortedColumn {
  readonly name: string;
  readonly path?: string;
  readonly direction?: "ascending" | "descending";
}

interface DataTableProps {
  readonly label: string;
  /** The names of the columns: those of numbers after `#`, of times and ids, which do not wrap, after `@`, of what phones leave out after `~`. */
  readonly columns: readonly (string | SortedColumn)[];
  readonly rows: readonly (readonly ComponentChildren[])[];
  /** What is shown without rows. */
  readonly empty?: string;
  /** The index of the row that is marked. */
  readonly current?: number;
  /** The class of the table. */
  readonly look?: string;
  /** Whether it is a sheet, and not on one. */
  readonly isSheet?: boolean;
}

const columnClasses: Readonly<Record<string, string>> = { "#": "num", "@": "nowrap", "~": "nowrap col-opt" };

/** A table that scrolls sideways where it is too wide. */
export const DataTable = ({ label, columns, rows, empty = "None.", ...props }: DataTableProps): JSX.Element => {
  const heads = columns.map((column): SortedColumn => (typeof column === "string" ? { name: column } : column));
  const classes = heads.map(({ name }) => classOf(name));
  if (rows.length === 0) return <p class="muted">{empty}</p>;
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard
    <section class={props.isSheet ? "sheet scroll" : "scroll"} tabIndex={0} aria-label={`${label}, table`}>
      <table class={props.look}>
        <thead>
          <tr>
            {heads.map(({ name, path, direction }, index) => (
              <th key={name} scope="col" class={classes[index]} aria-sort={direction}>
                {path === undefined ? titleOf(name) : <a href={path}>{titleOf(name)}</a>}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((cells, row) => (
            <tr key={row} aria-current={row === props.current ? "true" : undefined}>
              {cells.map((cell, index) => (
                <td key={heads[index]?.name} class={classes[index]}>
                  {cell}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
};

const titleOf = (column: string): string => column.replace(/^[#@~]+/, "");

/** Returns the class of a column's cells by the signs before its name. */
const classOf = (column: string): string | undefined =>
  [...column.slice(0, -titleOf(column).length)].map((sign) => columnClasses[sign]).join(" ") || undefined;

interface FactsProps {
  readonly facts: readonly (readonly [name: string, value: ComponentChildren])[];
}

/** Names and values beside each other. */
export const Facts = ({ facts }: FactsProps): JSX.Element => (
  <dl class="kv left">
    {facts.map(([name, value]) => (
      <>
        <dt>{name}</dt>
        <dd>{value}</dd>
      </>
    ))}
  </dl>
);

/** A text to copy: a key, a link or a request. */
export const Code = ({ label, text }: { readonly label: string; readonly text: string }): JSX.Element => (
  <figure class="code">
    <figcaption>{label}</figcaption>
    <button type="button" class="btn s copy js-only" data-copy>
      Copy
    </button>
    {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard */}
    <pre tabIndex={0}>
      <code>{text}</code>
    </pre>
  </figure>
);
