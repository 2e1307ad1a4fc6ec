/** Pages with one narrow sheet, and the forms that need no session. */
import type { ComponentChildren, JSX } from "preact";
import type { PageContent } from "../../shell/document.tsx";

interface NarrowPage {
  readonly title: string;
  /** The title by default. */
  readonly heading?: string;
  readonly status?: number;
}

export const narrowPage = (
  { title, heading = title, status = 200 }: NarrowPage,
  children: ComponentChildren,
): PageContent => ({
  title,
  status,
  body: (
    <section class="narrow">
      <h1>{heading}</h1>
      {children}
    </section>
  ),
});

/** Says why an earlier attempt failed. */
export const FailureNote = ({ message }: { readonly message: string | undefined }): JSX.Element | null =>
  message === undefined ? null : (
    <p class="note warn" role="alert">
      {message}
    </p>
  );

interface PublicFormProps {
  readonly action: string;
  /** Hidden fields. */
  readonly hidden: Readonly<Record<string, string>>;
  readonly button: string;
  readonly children?: ComponentChildren;
}

export const PublicForm = ({ action, hidden, button, children }: PublicFormProps): JSX.Element => (
  <form class="stack" method="post" action={action}>
    {Object.entries(hidden).map(([name, value]) => (
      <input key={name} type="hidden" name={name} value={value} />
    ))}
    {children}
    <button type="submit" class="btn prime">
      {button}
    </button>
  </form>
);
