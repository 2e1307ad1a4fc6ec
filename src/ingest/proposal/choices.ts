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
import { type FeedField, feed, isTextList, listSeparator } from "../feed/feed-schema.ts";
import { matchingColumns } from "../mapping/mapping.ts";
import { fieldReader } from "../normalize/field-readers.ts";

export interface Choices {
  /** The field that each of some columns fills; `none` for a column that is not used. */
  readonly columns: ReadonlyMap<string, string>;
  /** The value of a field in rows without another. */
  readonly constants: ReadonlyMap<string, string>;
  /** The unit of a mileage without one. */
  readonly unit?: string;
}

export const noChoices: Choices = { columns: new Map(), constants: new Map() };

const derived: readonly string[] = ["dealer_id"];

/** The fields that a column or a constant can fill, as `--set` names them. */
export const chosenFields: readonly string[] = [
  ...Object.keys(feed.inventory.properties).filter((field) => !derived.includes(field)),
  "dealer",
  ...Object.keys(feed.dealers.properties).flatMap((field) => (derived.includes(field) ? [] : [`dealer.${field}`])),
];

const units = ["km", "mi"];

/** Returns what the texts of `--set` say. Throws a UserError for an unknown field or column, and for a value that ingest would refuse. */
export async function readChoices(
  session: Session,
  texts: readonly string[],
  columns: readonly string[],
): Promise<Choices> {
  const ofColumns = new Map<string, string>();
  const constants = new Map<string, string>();
  let unit: string | undefined;
  for (const text of texts) {
    const [, field = "", value = ""] = /^([^=]*)=(.*)$/s.exec(text) ?? [];
    const name = field.trim();
    const column = /^\{(.*)\}$/s.exec(value)?.[1];
    if (name === "miles.unit") unit = unitIn(value);
    else if (column !== undefined)
      ofColumns.set(columnIn(column, columns), checkedField(name, [...chosenFields, "none"]));
    else constants.set(checkedField(name, chosenFields), await checkedValue(session, name, value.trim()));
  }
  return { columns: ofColumns, constants, ...(unit === undefined ? {} : { unit }) };
}

function unitIn(value: string): string {
  if (units.includes(value)) return value;
  throw new UserError(`Invalid value "${printable(value, 40)}" for miles.unit: expected ${units.join(" or ")}.`);
}

function columnIn(name: string, columns: readonly string[]): string {
  const [column] = matchingColumns(columns, name);
  if (column !== undefined) return column;
  throw new UserError(
    `Unknown column "${printable(name, 40)}": expected one of ${printable(columns.join(", "), 400)}.`,
  );
}

function checkedField(name: string, known: readonly string[]): string {
  if (known.includes(name)) return name;
  const nearest = nearestWord(name, known);
  const hint = nearest === undefined ? "" : ` Did you mean ${nearest}?`;
  throw new UserError(`Unknown field "${printable(name, 40)}": expected one of ${known.join(", ")}.${hint}`);
}

/** Vocabularies outside of which a constant is a mistake. */
const closed = ["body_type", "drivetrain", "fuel_type", "state"];

/** Returns the value of a constant. Throws a UserError if ingest would refuse it, or no vocabulary has it. */
async function checkedValue(session: Session, name: string, value: string): Promise<string> {
  const fail = (reason: string): never => {
    throw new UserError(`Invalid value "${printable(value, 40)}" for ${name}: ${reason}.`);
  };
  if (value === "") fail(`expected ${name}=value or ${name}={Column}`);
  if (name === "vin") fail("expected vin={Column}: each vehicle has another");
  if (name === "dealer") return value;
  const field = name.replace("dealer.", "");
  const schema = feed[field === name ? "inventory" : "dealers"].properties[field];
  const reason = schema === undefined ? null : await reasonAgainst(session, field, schema, value);
  if (reason !== null) fail(reason);
  const isForeign =
    closed.includes(field) &&
    !(await session.hasRows(sql`FROM canonical_of WHERE attribute = ${field} AND "key" = ${caseFold(sql`${value}`)}`));
  return isForeign ? fail("not in the vocabulary of data/reference/spellings.csv") : value;
}

/** A day after all times in files. */
const lastDay = "9000-01-01";

async function reasonAgainst(
  session: Session,
  field: string,
  schema: FeedField,
  value: string,
): Promise<string | null> {
  const { converted = (text) => text, ...reader } = fieldReader(field, schema, lastDay);
  const isList = isTextList(schema);
  const items = isList ? value.split(listSeparator) : [value];
  for (const item of items) {
    const text = sql`${item}::VARCHAR`;
    const read = isList ? sql`${converted(sql`[${text}]`)}` : converted(text);
    const row = await session.row(sql`
      SELECT ${isList ? sql`len(${reader.value(sql`"read"`)}) > 0` : sql`${reader.value(sql`"read"`)} IS NOT NULL`} AS is_usable,
        coalesce(${reader.reason(isList ? sql`"read"[1]` : sql`"read"`)}, '') AS reason FROM (SELECT ${read} AS "read")`);
    if (row?.is_usable !== true) return textIn(row ?? {}, "reason");
  }
  return null;
}
