/** Fields of forms: the label above, a hint or the error below in plain words. */
import type { ComponentChildren, JSX } from "preact";

interface Labelled {
  readonly label: ComponentChildren;
  /** One line below: what is expected. */
  readonly hint?: ComponentChildren;
  /** What is wrong with the value, with an example that works. */
  readonly error?: string | undefined;
}

type FieldProps = Labelled & JSX.IntrinsicElements["input"];

/** An input of a text, unless it has another type. */
export const Field = ({ label, hint, error, ...input }: FieldProps): JSX.Element => (
  <Label label={label} hint={hint} error={error}>
    <input class="in" type="text" aria-invalid={error === undefined ? undefined : true} {...input} />
  </Label>
);

type AreaProps = Labelled & Omit<JSX.IntrinsicElements["textarea"], "label">;

/** An input of several lines. */
export const Area = ({ label, hint, error, ...input }: AreaProps): JSX.Element => (
  <Label label={label} hint={hint} error={error}>
    <textarea class="in" aria-invalid={error === undefined ? undefined : true} {...input} />
  </Label>
);

interface SelectProps extends Labelled {
  readonly name: string;
  readonly value?: string | undefined;
  readonly options: readonly (readonly [value: string, text: string])[];
}

/** A choice of one value. */
export const Select = ({ name, value, options, ...labelled }: SelectProps): JSX.Element => (
  <Label {...labelled}>
    <select class="in" name={name}>
      {options.map(([option, text]) => (
        <option key={option} value={option} selected={option === value}>
          {text}
        </option>
      ))}
    </select>
  </Label>
);

const Label = ({ label, hint, error, children }: Labelled & { readonly children: ComponentChildren }): JSX.Element => (
  // biome-ignore lint/a11y/noLabelWithoutControl: Its control is among its children.
  <label class="fld">
    {label}
    {children}
    {error === undefined ? null : (
      <span class="error" role="alert">
        {error}
      </span>
    )}
    {hint === undefined ? null : <small>{hint}</small>}
  </label>
);
