/** The forms that change an account. The form of a change, and the command that does the same, derive from the row of the change. */
import type { ComponentChildren, JSX } from "preact";
import type { Account } from "../../accounts/account.ts";
import type { ChangeField } from "../../accounts/administration/change-fields.ts";
import { changes, type Declaration, type OperatorChangeName } from "../../accounts/administration/changes.ts";
import { Button } from "../components/button.tsx";
import { Field, Select } from "../components/field.tsx";
import { Sheet } from "../components/sheet.tsx";
import { Form } from "../shell/forms.tsx";
import type { Visitor } from "../shell/visitor.ts";

interface FormChange extends Declaration {
  readonly name: OperatorChangeName;
}

/** The changes with a form, by the last part of its path, such as `accounts-cap`. */
export const formChanges: ReadonlyMap<string, FormChange> = new Map(
  Object.entries(changes).flatMap(([name, change]) =>
    "form" in change && change.form !== undefined
      ? // The name of a change that is declared with a form.
        [[name.replace(" ", "-"), { ...change, name: name as OperatorChangeName }] as const]
      : [],
  ),
);

interface CommandTextProps {
  readonly name: OperatorChangeName;
  readonly accountId?: string;
}

/** The command of a change, with the flags of the inputs of its form. */
export function CommandText({ name, accountId }: CommandTextProps): JSX.Element {
  const fields = Object.entries<ChangeField>(changes[name].fields).flatMap(([field, { flags, label, parse }]) => {
    if (field === "accountId") return [`--account ${accountId}`];
    return parse !== undefined && (label !== undefined || flags.startsWith("<")) ? [flags] : [];
  });
  return <code class="small">{["carquet", name, ...fields].join(" ")}</code>;
}

interface ChangeFormsProps {
  readonly account: Account;
  readonly visitor: Visitor;
  readonly children: ComponentChildren;
}

export const ChangeForms = ({ account, visitor, children }: ChangeFormsProps): JSX.Element => (
  <Sheet id="changes" title="Change it">
    <div class="changes">
      {[...formChanges].map(([path, change]) => {
        const { buttons, ending } = change.form ?? {};
        if (buttons === undefined) return null;
        const action = `/operate/accounts/${account.accountId}/${path}`;
        return (
          <div key={path}>
            {ending?.isNow?.(account) ? (
              <Button look="danger" href={action}>
                {ending.title}…
              </Button>
            ) : (
              <Form visitor={visitor} action={action} class="line">
                {Object.entries(change.fields).map(([name, field]) => (
                  <Input key={name} name={name} field={field} account={account} />
                ))}
                {buttons.map(([text, name, value]) => (
                  <Button key={text} {...(name === undefined ? {} : { name, value: value ?? "" })}>
                    {text}
                  </Button>
                ))}
              </Form>
            )}
            <CommandText name={change.name} accountId={account.accountId} />
          </div>
        );
      })}
      {children}
    </div>
  </Sheet>
);

interface InputProps {
  readonly name: string;
  readonly field: ChangeField;
  /** The account that is changed; none if it is created. */
  readonly account?: Account;
}

/** The input of a field; nothing for a field without a label. */
export function Input({ name, field, account }: InputProps): JSX.Element | null {
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
  const value = typeof proposed === "string" ? proposed : account && proposed?.(account);
  const isNeeded = isRequired || proposed !== undefined;
  return <Field label={label} name={name} value={value} inputMode={inputMode} required={isNeeded} />;
}
