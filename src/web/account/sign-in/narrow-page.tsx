/** Pages of one form below a car on the road, and the forms that need no session. */
import type { ComponentChildren, JSX } from "preact";
import { Button } from "../../components/button.tsx";
import type { PageContent } from "../../shell/document.tsx";
import { notice } from "../../shell/notice.tsx";

/** Returns a page; its heading is its title by default. */
export const narrowPage = (
  {
    title,
    heading = title,
    status = 200,
  }: { readonly title: string; readonly heading?: string; readonly status?: number },
  children: ComponentChildren,
): PageContent => ({ title, status, ...notice({ sentence: [heading], car: "hatch", isNarrow: true, children }) });

interface PublicFormProps {
  readonly action: string;
  /** Hidden fields. */
  readonly hidden: Readonly<Record<string, string>>;
  readonly button: string;
  readonly children?: ComponentChildren;
}

export const PublicForm = ({ action, hidden, button, children }: PublicFormProps): JSX.Element => (
  <form class="form" method="post" action={action}>
    {Object.entries(hidden).map(([name, value]) => (
      <input key={name} type="hidden" name={name} value={value} />
    ))}
    {children}
    <Button look="main">{button}</Button>
  </form>
);
