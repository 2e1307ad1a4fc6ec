/** Sheets: what follows the verdict. A sheet has data; a tinted one is a remark in the color of its door. */
import type { ComponentChildren, JSX } from "preact";

export interface SheetProps {
  readonly title: ComponentChildren;
  /** The line below the title: what is counted, in which unit, of how many. */
  readonly of?: ComponentChildren;
  /** What stands at the right of the title, such as links. */
  readonly end?: ComponentChildren;
  readonly id?: string;
  readonly isTinted?: boolean;
  /** Quiet links below. */
  readonly tools?: ComponentChildren;
  readonly children?: ComponentChildren;
}

export const Sheet = ({ title, of, end, id, isTinted = false, tools, children }: SheetProps): JSX.Element => (
  <section class={isTinted ? "fig tint" : "fig"} id={id}>
    {of === undefined && end === undefined ? (
      <h2>{title}</h2>
    ) : (
      <div class="head">
        <div>
          <h2>{title}</h2>
          {of === undefined ? null : <p class="of">{of}</p>}
        </div>
        {end}
      </div>
    )}
    {children}
    {tools === undefined ? null : <div class="tools">{tools}</div>}
  </section>
);

/** Terms and values: the label above its value, in columns. */
export const Spec = ({ facts }: { readonly facts: readonly (readonly [name: string, value: ComponentChildren])[] }) => (
  <dl class="spec">
    {facts.map(([name, value]) => (
      <div key={name}>
        <dt>{name}</dt>
        <dd>{value}</dd>
      </div>
    ))}
  </dl>
);

interface NoteProps {
  readonly children: ComponentChildren;
  /** Buttons at its right. */
  readonly end?: ComponentChildren;
  /** Whether it is about a failure. */
  readonly isAlert?: boolean;
}

/** A note between the parts of a page: what a change did, or what would show more. */
export const Note = ({ children, end, isAlert = false }: NoteProps): JSX.Element => (
  <div class={isAlert ? "note alert" : "note"} role={isAlert ? "alert" : "status"}>
    <span>{children}</span>
    {end === undefined ? null : <span class="end">{end}</span>}
  </div>
);
