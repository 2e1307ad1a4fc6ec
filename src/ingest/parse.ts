/**
 * Turns `raw_<table>` into `parsed_<table>`: typed values, and a row in `issues` with the reason for whatever was not usable.
 *
 * How a field is read follows from its JSON Schema in `schemas/feed.json`. A value that is not usable becomes unknown; a row
 * without one of its table's required values is rejected. Nothing is dropped in silence.
 */
import { plusDays } from "../base/day.ts";
import { all, join, literal, name, type Sql, sql, type } from "../base/sql.ts";
import type { Session } from "../lake/duckdb.ts";
import { lineItemsType, tables } from "../lake/layout.ts";
import { type FeedTable, type Field, feed, feedTables, listSeparator } from "./feed.ts";
import { rawTable } from "./read.ts";
import { checkDigitFits } from "./vin.ts";

/** What becomes of a row or a value that `issues` records. */
export type Outcome = "rejected" | "merged" | "unknown" | "noted";

/** How a raw text becomes a value, and in words why it does not. Both are SQL; the text is never blank. */
interface Reading {
  readonly value: Sql;
  readonly fault: Sql;
}

/** The name of the table that holds the typed, usable rows. */
export const parsedTable = (table: FeedTable): string => `parsed_${table}`;

/** Parses all that was read, for the day of the delivery. */
export async function parseDelivery(session: Session, day: string): Promise<void> {
  const columns = Object.entries(tables.rejects.columns).map(([column, of]) => sql`${name(column)} ${type(of)}`);
  await session.run(sql`CREATE OR REPLACE TEMPORARY TABLE issues (${join(columns)})`);
  for (const table of feedTables) await parseTable(session, table, day);
  await session.run(sql`
    INSERT INTO issues SELECT 'noted', 'inventory', file, "row", vin, dealer_id, 'vin', vin, 'check digit does not fit'
    FROM ${name(parsedTable("inventory"))} WHERE NOT ${checkDigitFits(sql`vin`)}`);
}

async function parseTable(session: Session, table: FeedTable, day: string): Promise<void> {
  const { properties, required } = feed[table];
  const fields = Object.entries(properties).map(([field, schema]) => ({
    field,
    schema,
    isRequired: required.includes(field),
    reading: readingOf(field, schema, name("raw", field), day),
  }));
  const values = fields.map(({ field, reading }) => sql`${reading.value} AS ${name(field)}`);
  const [raw, parsed] = [name(rawTable(table)), name(parsedTable(table))];
  await session.keep(parsedTable(table), sql`SELECT file, "row", ${join(values)} FROM ${raw} AS raw`);
  const pairs = sql`${raw} AS raw POSITIONAL JOIN ${parsed} AS parsed`;
  const [vin, dealer] = ["vin", "dealer_id"].map((column) =>
    column in properties ? sql`coalesce(${name("parsed", column)}, trim(${name("raw", column)}))` : sql`NULL`,
  );
  for (const { field, schema, isRequired, reading } of fields) {
    const [was, is] = [name("raw", field), name("parsed", field)];
    const isBlank = sql`coalesce(trim(${was}), '') = ''`;
    const outcome: Outcome = isRequired ? "rejected" : "unknown";
    await session.run(sql`
      INSERT INTO issues
      SELECT ${outcome}, ${table}, raw.file, raw."row", ${vin ?? sql`NULL`}, ${dealer ?? sql`NULL`}, ${field}, ${was},
             CASE WHEN ${isBlank} THEN 'missing' ELSE ${reading.fault} END
      FROM ${pairs} WHERE ${is} IS NULL AND ${isRequired ? sql`true` : sql`NOT ${isBlank}`}`);
    const faultOfItem = itemFault(schema);
    if (faultOfItem === undefined) continue;
    await session.run(sql`
      INSERT INTO issues
      SELECT 'unknown', ${table}, file, "row", vin, dealer_id, ${field}, item, ${faultOfItem(sql`item`)}
      FROM (SELECT raw.file, raw."row", ${vin ?? sql`NULL`} AS vin, ${dealer ?? sql`NULL`} AS dealer_id,
                   unnest(${itemsOf(schema, was)}) AS item FROM ${pairs}
            WHERE len(${itemsOf(schema, was)}) > len(${is}))
      WHERE ${faultOfItem(sql`item`)} IS NOT NULL`);
  }
  await session.run(
    sql`DELETE FROM ${parsed} WHERE NOT ${all(required.map((field) => sql`${name(field)} IS NOT NULL`))}`,
  );
  await session.drop(rawTable(table));
}

function readingOf(field: string, schema: Field, raw: Sql, day: string): Reading {
  if (field === "vin") return vinReading(raw);
  switch (schema.type) {
    case "integer":
      return numberReading(schema, wholeNumber(raw), "INTEGER", "not a whole number");
    case "number":
      return numberReading(schema, sql`TRY_CAST(trim(${raw}) AS DOUBLE)`, "DOUBLE", "not a number");
    case "boolean":
      return booleanReading(raw);
    case "array":
      return field === "line_items" ? pricingRows(raw) : listReading(schema, raw);
    case "string":
      return textReading(schema, raw, day);
  }
}

function vinReading(raw: Sql): Reading {
  const vin = sql`upper(trim(${raw}))`;
  return {
    value: sql`CASE WHEN regexp_full_match(${vin}, '[A-HJ-NPR-Z0-9]{17}') THEN ${vin} END`,
    fault: sql`CASE WHEN length(${vin}) <> 17 THEN 'not 17 characters' WHEN regexp_matches(${vin}, '[IOQ]')
      THEN 'holds I, O or Q' ELSE 'holds a character that no VIN has' END`,
  };
}

/** A number as dealers write it: `25995`, `$25,995`, `25995.00`. */
function wholeNumber(raw: Sql): Sql {
  const bare = sql`regexp_replace(${raw}, '^\\s*\\$|,|\\s+', '', 'g')`;
  return sql`coalesce(TRY_CAST(${raw} AS BIGINT), TRY_CAST(${bare} AS DECIMAL(18, 2))::BIGINT)`;
}

function numberReading(schema: Field, number: Sql, columnType: string, otherwise: string): Reading {
  const { minimum = Number.MIN_SAFE_INTEGER, maximum = Number.MAX_SAFE_INTEGER } = schema;
  return {
    value: sql`CASE WHEN ${number} BETWEEN ${minimum} AND ${maximum} THEN (${number})::${type(columnType)} END`,
    fault: sql`CASE WHEN ${number} < ${minimum} THEN ${`below ${minimum}`} WHEN ${number} > ${maximum}
      THEN ${`above ${maximum}`} ELSE ${otherwise} END`,
  };
}

function booleanReading(raw: Sql): Reading {
  return {
    value: sql`CASE WHEN lower(trim(${raw})) IN ('true', 't', 'yes', 'y', '1') THEN true
      WHEN lower(trim(${raw})) IN ('false', 'f', 'no', 'n', '0') THEN false END`,
    fault: sql`'not true or false'`,
  };
}

function textReading(schema: Field, raw: Sql, day: string): Reading {
  const text = sql`nullif(trim(${raw}), '')`;
  if (schema.format === "date-time") return timeReading(raw, day);
  if (schema.format === "uuid") {
    return { value: sql`TRY_CAST(${text} AS UUID)::VARCHAR`, fault: sql`'not a UUID'` };
  }
  const fault = textFault(schema);
  if (schema.enum === undefined)
    return { value: sql`CASE WHEN ${fault(text)} IS NULL THEN ${text} END`, fault: fault(text) };
  const word = closedWord(schema, text);
  return { value: sql`CASE WHEN ${fault(word)} IS NULL THEN ${word} END`, fault: fault(word) };
}

/** A value of a closed vocabulary in its own spelling. */
function closedWord(schema: Field, text: Sql): Sql {
  const aliases = Object.entries(schema["x-aliases"] ?? {}).map(([alias, word]) => sql`WHEN ${alias} THEN ${word}`);
  return aliases.length === 0
    ? sql`lower(${text})`
    : sql`CASE lower(${text}) ${join(aliases, sql` `)} ELSE lower(${text}) END`;
}

/** Why a text is not usable; null when it is. */
function textFault(schema: Omit<Field, "items">): (text: Sql) => Sql {
  const rules = (text: Sql): readonly Sql[] => [
    ...(schema.enum === undefined
      ? []
      : [sql`WHEN NOT list_contains(${schema.enum}, ${text}) THEN ${`not one of ${schema.enum.join(", ")}`}`]),
    ...(schema.maxLength === undefined
      ? []
      : [sql`WHEN length(${text}) > ${schema.maxLength} THEN ${`longer than ${schema.maxLength} characters`}`]),
    ...(schema.format === "uri"
      ? [sql`WHEN NOT regexp_full_match(${text}, 'https?://[^\\s/]+\\S*', 'i') THEN 'not a web address'`]
      : []),
    ...(schema.pattern === undefined
      ? []
      : [sql`WHEN NOT regexp_matches(${text}, ${schema.pattern}) THEN ${`not of the form ${schema.pattern}`}`]),
  ];
  return (text) => (rules(text).length === 0 ? sql`NULL::VARCHAR` : sql`CASE ${join(rules(text), sql` `)} END`);
}

/** A time in UTC, to the microsecond; one that lies after the delivery is not believed. */
function timeReading(raw: Sql, day: string): Reading {
  const time = sql`TRY_CAST(trim(${raw}) AS TIMESTAMPTZ)`;
  const latest = sql`${`${plusDays(day, 2)}T00:00:00Z`}::TIMESTAMPTZ`;
  return {
    value: sql`CASE WHEN isfinite(${time}) AND ${time} < ${latest} AND year(${time}) >= 1990 THEN ${time} AT TIME ZONE 'UTC' END`,
    fault: sql`CASE WHEN ${time} >= ${latest} THEN ${`later than the delivery of ${day}`} ELSE 'not a time' END`,
  };
}

/** The items of a list, as they were written: a JSON list, or texts with the feed's separator between them. */
function itemsOf(schema: Field, raw: Sql): Sql {
  const items = sql`CASE WHEN starts_with(${raw}, '[') AND json_valid(${raw}) THEN ${raw}::JSON::VARCHAR[]
    ELSE string_split(${raw}, ${listSeparator}) END`;
  const isClosed = schema.items !== undefined && "enum" in schema.items;
  const item = isClosed ? sql`lower(trim(item))` : sql`trim(item)`;
  return sql`list_filter(list_transform(${items}, lambda item: ${item}), lambda item: item <> '')`;
}

function itemFault(schema: Field): ((item: Sql) => Sql) | undefined {
  return schema.items === undefined || "$ref" in schema.items ? undefined : textFault(schema.items);
}

/** A list with its usable items; the others are recorded one by one. Sorted and distinct, unless the order says something. */
function listReading(schema: Field, raw: Sql): Reading {
  const fault = itemFault(schema) ?? (() => sql`NULL`);
  const usable = sql`list_filter(${itemsOf(schema, raw)}, lambda item: ${fault(sql`item`)} IS NULL)`;
  const list = schema["x-ordered"] === true ? usable : sql`list_sort(list_distinct(${usable}))`;
  return { value: sql`coalesce(${list}, [])`, fault: sql`'not a list'` };
}

/** Pricing rows; each needs an amount and a label, or the whole list is unknown. */
function pricingRows(raw: Sql): Reading {
  const rows = sql`TRY_CAST(TRY_CAST(${raw} AS JSON) AS ${type(lineItemsType)})`;
  const isWhole = sql`len(list_filter(${rows}, lambda line: line.amount_usd IS NULL OR line.raw_label IS NULL)) = 0`;
  return { value: sql`CASE WHEN ${isWhole} THEN ${rows} END`, fault: literal("not a list of pricing rows") };
}
