/** Mapping files of version 1, which become those of version 2. */
import { printable, UserError } from "../../base/user-error.ts";
import { listSeparator } from "../feed/feed-schema.ts";
import { columnsInTemplate, type FileMapping } from "./rules.ts";

interface FirstRule {
  readonly column?: string;
  readonly template?: string;
  readonly constant?: string;
  readonly values?: Readonly<Record<string, string | null>>;
  readonly separator?: string;
}

type FirstRules = Readonly<Record<string, FirstRule>>;

/** The content of a mapping file of version 1. */
export interface FirstMapping {
  readonly description?: string;
  readonly day?: string;
  readonly delimiter?: string;
  readonly encoding?: string;
  readonly fields: FirstRules;
  readonly dealer: { readonly columns: readonly string[]; readonly fields: FirstRules };
}

/** Returns a mapping of version 1 as one of version 2. Throws a UserError if a rule of the dealer uses other columns than the dealer's. */
export function secondVersionOf(first: FirstMapping, name: string): FileMapping {
  checkDealerColumns(first.dealer, name);
  const { delimiter = ",", encoding = "utf-8", fields, dealer, description, day } = first;
  return {
    ...(description === undefined ? {} : { description }),
    ...(day === undefined ? {} : { day }),
    file: { delimiter, encoding },
    fields: rulesOf(fields),
    dealer: { key: dealer.columns, fields: rulesOf(dealer.fields) },
  };
}

const rulesOf = (rules: FirstRules): FileMapping["fields"] =>
  Object.fromEntries(
    Object.entries(rules).map(([field, { values, separator, ...source }]) => [
      field,
      {
        from: source,
        ...(values === undefined ? {} : { values }),
        ...(separator === undefined ? {} : { list: { separator: [separator, listSeparator] } }),
      },
    ]),
  );

function checkDealerColumns({ columns, fields }: FirstMapping["dealer"], name: string): void {
  for (const [field, { column, template = "" }] of Object.entries(fields))
    for (const used of column === undefined ? columnsInTemplate(template) : [column]) {
      if (columns.includes(used)) continue;
      throw new UserError(
        `${printable(name)}: invalid column "${printable(used, 40)}" in dealer.fields.${field}: ` +
          `expected one of dealer.columns (${columns.join(", ")}).`,
      );
    }
}
