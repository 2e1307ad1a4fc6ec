/**
 * How a field's text becomes a value, and in words why it does not: both follow from the field's JSON Schema in
 * `schemas/feed.json`. All is SQL over a text without blanks around it, or over a list of such texts.
 */
import { plusDays } from "../../base/day.ts";
import { columnType, join, type Sql, sql } from "../../db/sql.ts";
import { lineItemsType } from "../../lake/tables.ts";
import type { FeedField } from "../feed/feed-schema.ts";

export interface FieldReader {
  /** The value; null when the text is not usable. Of a list, the usable items. */
  readonly value: (text: Sql) => Sql;
  /** Why a text, or an item of a list, is not usable; null when it is. */
  readonly fault: (text: Sql) => Sql;
}

/** How a field is read, for the day of the delivery. */
export function fieldReader(field: string, schema: FeedField, day: string): FieldReader {
  if (field === "vin") return vinReading;
  switch (schema.type) {
    case "integer":
      return numberReading(schema, wholeNumber, "INTEGER", "not a whole number");
    case "number":
      return numberReading(schema, (text) => sql`TRY_CAST(${text} AS DOUBLE)`, "DOUBLE", "not a number");
    case "boolean":
      return booleanReading;
    case "array":
      return schema.items === undefined || "$ref" in schema.items ? pricingRows : listReading(schema.items);
    case "string":
      return textReading(schema, day);
  }
}

const vinReading: FieldReader = {
  value: (text) => sql`CASE WHEN regexp_full_match(upper(${text}), '[A-HJ-NPR-Z0-9]{17}') THEN upper(${text}) END`,
  fault: (
    text,
  ) => sql`CASE WHEN length(${text}) <> 17 THEN 'not 17 characters' WHEN regexp_matches(${text}, '[IOQ]', 'i')
    THEN 'holds I, O or Q' ELSE 'holds a character that no VIN has' END`,
};

/** A number as dealers write it: `25995`, `$25,995`, `25995.00`. */
function wholeNumber(text: Sql): Sql {
  const bare = sql`regexp_replace(${text}, '^\\$|,|\\s+', '', 'g')`;
  return sql`CASE WHEN regexp_full_match(${text}, '[0-9]{1,15}') THEN TRY_CAST(${text} AS BIGINT)
    WHEN regexp_full_match(${bare}, '[+-]?[0-9]{1,15}(\\.[0-9]{1,2})?') THEN TRY_CAST(${bare} AS DECIMAL(18, 2))::BIGINT END`;
}

function numberReading(schema: FeedField, number: (text: Sql) => Sql, type: string, otherwise: string): FieldReader {
  const { minimum = Number.MIN_SAFE_INTEGER, maximum = Number.MAX_SAFE_INTEGER } = schema;
  return {
    value: (text) =>
      sql`CASE WHEN ${number(text)} BETWEEN ${minimum} AND ${maximum} THEN (${number(text)})::${columnType(type)} END`,
    fault: (
      text,
    ) => sql`CASE WHEN ${number(text)} < ${minimum} THEN ${`below ${minimum}`} WHEN ${number(text)} > ${maximum}
      THEN ${`above ${maximum}`} ELSE ${otherwise} END`,
  };
}

const booleanReading: FieldReader = {
  value: (text) => sql`CASE WHEN lower(${text}) IN ('true', 't', 'yes', 'y', '1') THEN true
    WHEN lower(${text}) IN ('false', 'f', 'no', 'n', '0') THEN false END`,
  fault: () => sql`'not true or false'`,
};

function textReading(schema: FeedField, day: string): FieldReader {
  if (schema.format === "date-time") return timeReading(day);
  if (schema.format === "uuid") {
    return { value: (text) => sql`TRY_CAST(${text} AS UUID)::VARCHAR`, fault: () => sql`'not a UUID'` };
  }
  const fault = textFault(schema);
  const word = (text: Sql): Sql => (schema.enum === undefined ? text : closedWord(schema, text));
  return {
    value: (text) => sql`CASE WHEN ${fault(word(text))} IS NULL THEN ${word(text)} END`,
    fault: (text) => fault(word(text)),
  };
}

/** A value of a closed vocabulary in its own spelling. */
function closedWord(schema: FeedField, text: Sql): Sql {
  const aliases = Object.entries(schema["x-aliases"] ?? {}).map(([alias, word]) => sql`WHEN ${alias} THEN ${word}`);
  return aliases.length === 0
    ? sql`lower(${text})`
    : sql`CASE lower(${text}) ${join(aliases, sql` `)} ELSE lower(${text}) END`;
}

/** Why a text is not usable by the keywords of a schema; null when it is. */
function textFault(schema: Omit<FeedField, "items">): (text: Sql) => Sql {
  const rules: readonly (readonly [isGiven: boolean, isBroken: (text: Sql) => Sql, reason: string])[] = [
    [
      schema.enum !== undefined,
      (text) => sql`NOT list_contains(${schema.enum ?? []}, ${text})`,
      `not one of ${schema.enum?.join(", ")}`,
    ],
    [
      schema.maxLength !== undefined,
      (text) => sql`length(${text}) > ${schema.maxLength ?? 0}`,
      `longer than ${schema.maxLength} characters`,
    ],
    [
      schema.format === "uri",
      (text) => sql`NOT regexp_full_match(${text}, 'https?://[^\\s/]+\\S*', 'i')`,
      "not a web address",
    ],
    [
      schema.pattern !== undefined,
      (text) => sql`NOT regexp_matches(${text}, ${schema.pattern ?? ""})`,
      `not of the form ${schema.pattern}`,
    ],
  ];
  const given = rules.filter(([isGiven]) => isGiven);
  return (text) => {
    const cases = given.map(([, isBroken, reason]) => sql`WHEN ${isBroken(text)} THEN ${reason}`);
    return cases.length === 0 ? sql`NULL::VARCHAR` : sql`CASE ${join(cases, sql` `)} END`;
  };
}

/** A time in UTC, to the microsecond; one that lies after the delivery is not believed. */
function timeReading(day: string): FieldReader {
  const time = (text: Sql): Sql => sql`TRY_CAST(${text} AS TIMESTAMPTZ)`;
  const latest = sql`${`${plusDays(day, 2)}T00:00:00Z`}::TIMESTAMPTZ`;
  return {
    value: (text) => sql`CASE WHEN isfinite(${time(text)}) AND ${time(text)} < ${latest} AND year(${time(text)}) >= 1990
      THEN ${time(text)} AT TIME ZONE 'UTC' END`,
    fault: (text) =>
      sql`CASE WHEN ${time(text)} >= ${latest} THEN ${`later than the delivery of ${day}`} ELSE 'not a time' END`,
  };
}

/** A list's usable items, in their order. */
function listReading(items: Omit<FeedField, "items">): FieldReader {
  const word = (item: Sql): Sql => (items.enum === undefined ? item : closedWord(items, item));
  const fault = (item: Sql): Sql => textFault(items)(word(item));
  const words = (list: Sql): Sql =>
    items.enum === undefined ? list : sql`list_transform(${list}, lambda item: ${word(sql`item`)})`;
  return { value: (list) => words(sql`list_filter(${list}, lambda item: ${fault(sql`item`)} IS NULL)`), fault };
}

/** Pricing rows; each needs an amount and a label, or the whole list is unknown. */
const pricingRows: FieldReader = {
  value(text) {
    const rows = sql`TRY_CAST(TRY_CAST(${text} AS JSON) AS ${columnType(lineItemsType)})`;
    const isWhole = sql`len(list_filter(${rows}, lambda line: (line.amount_usd >= 0 AND isfinite(line.amount_usd)
      AND line.raw_label IS NOT NULL AND coalesce(line.direction IN ('add', 'subtract', 'none'), true)) IS NOT TRUE)) = 0`;
    return sql`CASE WHEN ${isWhole} THEN ${rows} END`;
  },
  fault: () => sql`'not a list of pricing rows'`,
};
