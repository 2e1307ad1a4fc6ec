/**
 * What a person decides about a proposed mapping: the field of a column, a value for rows without one, the unit of a mileage. Written as
 * `field=value`, `field={Column}`, `none={Column}` and `miles.unit=km`.
 */

import { textIn } from "../../base/json.ts";
import { nearestWord } from "../../base/nearest-word.ts";
import { printable, UserError } from "../../base/user-error.ts";
import type { Session } from "../../db/duckdb.ts";
import { sql } from "../../db/sql.ts";
import { caseFold } from "../../db/text-matching.ts";
import { defaultCurrency } from "../../lake/manifest.ts";
import { feed, isTextList } from "../feed/feed-schema.ts";
import { matchingColumns } from "../mapping/mapping.ts";
import { fieldReader } from "../normalize/field-readers.ts";
import { lastDay, targetName, targets } from "./match-columns.ts";

export interface Choices {
  /** The field that each of some columns fills; `none` for a column that is not used. */
  readonly columns: ReadonlyMap<string, string>;
  /** The value of a field in rows without another. */
  readonly constants: ReadonlyMap<string, string>;
  /** The unit of a mileage without one. */
  readonly unit?: string | undefined;
  /** ISO 4217 code of the currency of prices. */
  readonly currency: string;
}

export interface ProposalSettings {
  readonly choices: Choices;
  /** Whether what is only suggested is used. */
  readonly isAccepting: boolean;
}

export const nothingChosen: ProposalSettings = {
  choices: { columns: new Map(), constants: new Map(), currency: defaultCurrency },
  isAccepting: false,
};

/** The names of what a column can fill, and of the unit. */
export const chosenFields: readonly string[] = targets.map(targetName);
const unitName = "miles.unit";

/** Returns what texts choose. Throws a UserError for an unknown field or column, and for a value that ingest would refuse. */
export async function readChoices(
  session: Session,
  texts: readonly string[],
  columns: readonly string[],
): Promise<Omit<Choices, "currency">> {
  const ofColumns = new Map<string, string>();
  const constants = new Map<string, string>();
  for (const text of texts) {
    const [, name = text, value = ""] = /^\s*([^=]*?)\s*=\s*(.*?)\s*$/s.exec(text) ?? [];
    const [, column] = /^\{(.*)\}$/s.exec(value) ?? [];
    if (![...chosenFields, unitName].includes(name)) throw unknown("field", name, chosenFields);
    if (column === undefined) constants.set(name, await checkedValue(session, name, value));
    else ofColumns.set(matchingColumns(columns, column)[0] ?? fail(unknown("column", column, columns)), name);
  }
  const unit = constants.get(unitName);
  constants.delete(unitName);
  return { columns: ofColumns, constants, unit };
}

const fail = (error: UserError): never => {
  throw error;
};

function unknown(what: string, name: string, known: readonly string[]): UserError {
  const nearest = nearestWord(name, known);
  const hint = nearest === undefined ? "" : ` Did you mean ${printable(nearest, 40)}?`;
  return new UserError(
    `Unknown ${what} "${printable(name, 40)}": expected one of ${printable(known.join(", "), 1000)}.${hint}`,
  );
}

/** Vocabularies outside of which a constant is a mistake. */
const closed = ["body_type", "drivetrain", "fuel_type", "state"];

async function checkedValue(session: Session, name: string, value: string): Promise<string> {
  const reason =
    name === "vin" || name === "none" || value === ""
      ? `expected ${name}={Column}${value === "" ? ` or ${name}=value` : ""}`
      : name === unitName
        ? ["km", "mi"].includes(value)
          ? ""
          : "expected km or mi"
        : await reasonAgainst(session, name, value);
  if (reason === "") return value;
  throw new UserError(`Invalid value "${printable(value, 40)}" for ${name}: ${reason}.`);
}

/** Returns why ingest would refuse the value of a field, or no vocabulary has it; empty if it is valid. */
async function reasonAgainst(session: Session, name: string, value: string): Promise<string> {
  const field = name.replace("dealer.", "");
  const schema = feed[field === name ? "inventory" : "dealers"].properties[field];
  if (schema === undefined || isTextList(schema)) return "";
  const { converted = (text) => text, ...reader } = fieldReader(field, schema, {
    day: lastDay,
    currency: defaultCurrency,
  });
  const row = await session.row(sql`
    SELECT CASE WHEN ${reader.value(sql`"read"`)} IS NULL THEN ${reader.reason(sql`"read"`)} ELSE '' END AS reason,
      (FROM (SELECT count(*) FROM canonical_of WHERE attribute = ${field} AND "key" = ${caseFold(sql`${value}`)}))::INTEGER AS spellings
    FROM (SELECT ${converted(sql`${value}::VARCHAR`)} AS "read")`);
  if (closed.includes(field) && row?.spellings === 0) return "not in the vocabulary of data/reference/spellings.csv";
  return textIn(row, "reason");
}
