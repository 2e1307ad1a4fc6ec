/** Pages with one narrow column below a car on the road, and the forms that need no session. */
import type { ComponentChildren, JSX } from "preact";
import { Button } from "../../components/button.tsx";
import { Note } from "../../components/sheet.tsx";
import { CarDrawing } from "../../drawings/car-drawing.tsx";
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
  top: (
    <div class="road">
      <CarDrawing car={roadCar} />
    </div>
  ),
  body: (
    <section class="narrow">
      <h1>{heading}</h1>
      {children}
    </section>
  ),
});

/** The car on the road above the sheet. */
const roadCar = { model: "Golf", exterior_color: "teal", base_exterior_color: "Blue", vin: "sign-in" };

/** Says why an earlier attempt failed. */
export const FailureNote = ({ message }: { readonly message: string | undefined }): JSX.Element | null =>
  message === undefined ? null : <Note isAlert>{message}</Note>;

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
