/** The forms that change an account: each derives from the row of its change. */
import type { ComponentChildren, JSX } from "preact";
import type { Account } from "../../accounts/account.ts";
import type { ChangeField } from "../../accounts/administration/change-fields.ts";
import { changes, type Declaration, type OperatorChangeName } from "../../accounts/administration/changes.ts";
import { Button } from "../components/button.tsx";
import { Field, Select } from "../components/field.tsx";
import { Sheet } from "../components/sheet.tsx";
import { Form } from "../shell/forms.tsx";
import type { Visitor } from "../shell/visitor.ts";

/** The changes with a form, by the last part of its path, such as `accounts-cap`. */
export const formChanges: ReadonlyMap<string, Declaration & { readonly name: OperatorChangeName }> = new Map(
  Object.entries(changes).flatMap(([name, change]) =>
    "form" in change && change.form !== undefined
      ? // The name of a change that is declared with a form.
        [[name.replace(" ", "-"), { ...change, name: name as OperatorChangeName }] as const]
      : [],
  ),
);

interface ChangeFormsProps {
  readonly account: Account;
  readonly visitor: Visitor;
  /** A form that changes nothing of the account itself. */
  readonly children: ComponentChildren;
}

export const ChangeForms = ({ account, visitor, children }: ChangeFormsProps): JSX.Element => (
  <Sheet id="changes" title="Change it">
    <div class="changes">
      {[...formChanges].map(([path, { fields, form }]) => {
        const action = `/operate/accounts/${account.accountId}/${path}`;
        if (form?.ending?.isNow?.(account))
          return (
            <Button key={path} look="danger" href={action}>
              {form.ending.title}…
            </Button>
          );
        return form?.buttons === undefined ? null : (
          <Form key={path} visitor={visitor} action={action} class="line">
            {Object.entries(fields).map(([name, field]) => (
              <Input key={name} name={name} field={field} account={account} />
            ))}
            {form.buttons.map(([text, name, value = ""]) => (
              <Button key={text} {...(name === undefined ? {} : { name, value })}>
                {text}
              </Button>
            ))}
          </Form>
        );
      })}
      {children}
    </div>
  </Sheet>
);

interface InputProps {
  readonly name: string;
  readonly field: ChangeField;
  readonly account: Account;
}

/** The input of a field; nothing for a field without a label. */
function Input({ name, field, account }: InputProps): JSX.Element | null {
  const { label, choices, parse, inputMode, isRequired = false, proposed } = field;
  if (label === undefined) return null;
  if (choices !== undefined)
    return <Select label={label} name={name} options={choices.map((choice) => [choice, choice])} />;
  if (parse === undefined)
    return (
      <label class="check">
        <input type="checkbox" name={name} /> {label}
      </label>
    );
  const value = typeof proposed === "function" ? proposed(account) : proposed;
  const isNeeded = isRequired || proposed !== undefined;
  return <Field label={label} name={name} value={value} inputMode={inputMode} required={isNeeded} />;
}
