/** The inputs of changes of accounts: a field is an option or argument of the command and an input of the form, with one parser for both. */
import { UserError } from "../../base/user-error.ts";
import type { Account } from "../account.ts";
import { formatUsd, parseUsd } from "../money.ts";

export interface ChangeField<Value = unknown> {
  /** In the command, an option `--name <value>` or `--name`, or an argument `<name>`. */
  readonly flags: `--${string}` | `<${string}`;
  readonly help: string;
  /** Parses a text; undefined if it is invalid. Without a parser the field is true or false. */
  readonly parse?: (text: string) => Value | undefined;
  /** What a text has to be. */
  readonly expected?: string;
  readonly choices?: readonly string[];
  readonly default?: Value;
  readonly isRequired?: boolean;
  /** The label of the input; the form has no input without it. */
  readonly label?: string;
  readonly inputMode?: "decimal" | "numeric" | "email";
  /** The value that the form proposes, of some fields by the account. A field with one is required in the form. */
  readonly proposed?: string | ((account: Account) => string);
  /** Formats a value for the audit log; by default, as text. */
  format?(value: Value): string;
}

export type ChangeFields = Readonly<Record<string, ChangeField>>;

type ValueOf<F> = F extends { readonly parse: (text: string) => infer Value } ? Exclude<Value, undefined> : boolean;

/** Arguments, fields with a default, required ones and those without a parser always have a value. */
type IsAlwaysSet<F> = F extends { readonly parse: unknown; readonly flags: `--${string}` }
  ? F extends { readonly default: unknown } | { readonly isRequired: true }
    ? true
    : false
  : true;

/** The values of fields. */
export type FieldValues<F extends ChangeFields> = {
  readonly [Name in keyof F as IsAlwaysSet<F[Name]> extends true ? Name : never]: ValueOf<F[Name]>;
} & {
  readonly [Name in keyof F as IsAlwaysSet<F[Name]> extends true ? never : Name]?: ValueOf<F[Name]>;
};

/** A field of one of some values. */
export const choiceOf = <const Choice extends string | number>(choices: readonly Choice[]) => ({
  choices: choices.map(String),
  expected: choices.join(" or "),
  parse: (text: string): Choice | undefined => choices.find((choice) => String(choice) === text),
});

const amountBounds = {
  negative: "from -999999 to 999999 and not 0",
  zero: "from 0 to 999999",
  positive: "above 0 and up to 999999",
} as const;

/** A field of an amount in USD, as micros. `negative` also allows negative amounts but not zero. */
export const usdFrom = (lowest: keyof typeof amountBounds) => ({
  // Keyboards for decimals lack the minus sign.
  ...(lowest === "negative" ? {} : { inputMode: "decimal" as const }),
  expected: `an amount in USD such as 25 or 0.50, ${amountBounds[lowest]}, with at most 6 decimals`,
  parse: (text: string): number | undefined => {
    // As pages show it.
    const micros = parseUsd(text.replace(/^(-?)\$/, "$1"));
    const isInRange =
      micros !== undefined && (lowest === "negative" ? micros !== 0 : micros >= (lowest === "zero" ? 0 : 1));
    return isInRange ? micros : undefined;
  },
  format: (micros: number): string => `${formatUsd(micros)} USD`,
});

export const anyText = { expected: "a text", parse: (text: string): string => text };

/** A field of a number of requests in some seconds. */
export const requestsIn = (seconds: number) => ({
  label: `Requests in ${seconds} s`,
  inputMode: "numeric" as const,
  expected: "a whole number from 0 to 1000000",
  parse: (text: string): number | undefined =>
    /^\d{1,7}$/.test(text) && Number(text) <= 1_000_000 ? Number(text) : undefined,
  format: (requests: number): string => `${requests} in ${seconds} s`,
});

/** Formats values for the audit log, in the order of their fields. The log has the account in a column. */
export const formatValues = (fields: ChangeFields, values: Readonly<Record<string, unknown>>): readonly string[] =>
  Object.entries(fields).flatMap(([name, { flags, format = String }]) => {
    const value = values[name];
    if (name === "accountId" || value === undefined || value === false || value === "") return [];
    return [value === true ? flags.replace("--", "") : format(value)];
  });

/** Reads the values of a form, whose path names the account. An empty text is no value. Throws a UserError for an invalid or missing value. */
export function readForm(fields: ChangeFields, form: URLSearchParams): Readonly<Record<string, unknown>> {
  const valueIn = (name: string, field: ChangeField): unknown => {
    const { label = name, expected = "", parse } = field;
    const text = (form.get(name) ?? "").trim();
    if (parse === undefined) return text !== "";
    const value = text === "" ? field.default : parse(text);
    if (value !== undefined) return value;
    if (text !== "") throw new UserError(`Invalid ${label} "${text.slice(0, 40)}": expected ${expected}.`);
    if (field.isRequired || field.proposed !== undefined || field.flags.startsWith("<"))
      throw new UserError(`Missing ${label}: expected ${expected}.`);
    return undefined;
  };
  const read = Object.entries(fields).filter(([name]) => name !== "accountId");
  const values = read.map(([name, field]) => [name, valueIn(name, field)] as const);
  return Object.fromEntries(values.filter(([, value]) => value !== undefined));
}
