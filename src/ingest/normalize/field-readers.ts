/**
 * Field readers: SQL expressions that parse a trimmed text, or a list of trimmed texts, into a typed value, and that name the reason if
 * the text is invalid. All derive from the field's JSON Schema in `schemas/feed.json`, as do the markers of an unknown value, such as `N/A`.
 */
import { plusDays } from "../../base/day.ts";
import type { DuckType } from "../../db/duck-type.ts";
import { any, columnType, join, numberLiteral, type Sql, sql } from "../../db/sql.ts";
import { buildColumns, dealerColumns, listingColumns } from "../../lake/tables.ts";
import { lineItemsType } from "../../listing/nested-types.ts";
import { type FeedField, isTextList, unknownMarkers } from "../feed/feed-schema.ts";

export interface FieldReader {
  readonly type: DuckType;
  /**
   * Converts a text, or each item of a list, to a column that the other functions take; undefined if they take the text. Repeating the conversion
   * at each use would multiply the planning time.
   */
  readonly converted?: (text: Sql) => Sql;
  /** Returns the value, or the valid items of a list; null if the text is invalid. */
  readonly value: (converted: Sql) => Sql;
  /** Returns why a text, or an item of a list, is invalid. For text fields and list items, null if it is valid. */
  readonly reason: (converted: Sql) => Sql;
}

/** Returns the reader of a field. `day` is the day of the delivery. */
export function fieldReader(field: string, schema: FeedField, day: string): FieldReader {
  if (field === "vin") return vinReader;
  switch (schema.type) {
    case "integer":
      return numberReader(schema, wholeNumber, "INTEGER", "not a whole number");
    case "number": {
      const type = columnTypes[field] ?? "DOUBLE";
      return numberReader(schema, (text) => sql`TRY_CAST(${text} AS ${columnType(type)})`, type, "not a number");
    }
    case "boolean":
      return booleanReader;
    case "array":
      return schema.items === undefined || "$ref" in schema.items ? lineItemsReader : listReader(schema.items);
    case "string":
      return textReader(schema, day);
  }
}

/** The types of the columns that fields fill. */
const columnTypes: Readonly<Record<string, DuckType>> = { ...dealerColumns, ...buildColumns, ...listingColumns };

const vinReader: FieldReader = {
  type: "VARCHAR",
  value: (text) => sql`CASE WHEN regexp_full_match(upper(${text}), '[A-HJ-NPR-Z0-9]{17}') THEN upper(${text}) END`,
  reason: (
    text,
  ) => sql`CASE WHEN length(${text}) <> 17 THEN 'not 17 characters' WHEN regexp_matches(${text}, '[IOQ]', 'i')
    THEN 'contains I, O or Q' ELSE 'contains an invalid character' END`,
};

/** Parses a whole number in any of the forms `25995`, `$25,995` and `25995.00`. */
function wholeNumber(text: Sql): Sql {
  const digits = sql`regexp_replace(${text}, '^\\$|,|\\s+', '', 'g')`;
  return sql`CASE WHEN regexp_full_match(${text}, '[0-9]{1,15}') THEN TRY_CAST(${text} AS BIGINT)
    WHEN regexp_full_match(${digits}, '[+-]?[0-9]{1,15}(\\.[0-9]{1,2})?') THEN TRY_CAST(${digits} AS DECIMAL(18, 2))::BIGINT END`;
}

function numberReader(
  schema: FeedField,
  number: (text: Sql) => Sql,
  type: DuckType,
  invalidReason: string,
): FieldReader {
  const { minimum = Number.MIN_SAFE_INTEGER, maximum = Number.MAX_SAFE_INTEGER } = schema;
  return {
    type,
    converted: number,
    value: (converted) =>
      sql`CASE WHEN ${converted} BETWEEN ${numberLiteral(minimum)} AND ${numberLiteral(maximum)} THEN ${converted}::${columnType(type)} END`,
    reason: (
      converted,
    ) => sql`CASE WHEN ${converted} < ${numberLiteral(minimum)} THEN ${`below ${minimum}`} WHEN ${converted} > ${numberLiteral(maximum)}
      THEN ${`above ${maximum}`} ELSE ${invalidReason} END`,
  };
}

const booleanReader: FieldReader = {
  type: "BOOLEAN",
  value: (text) => sql`CASE WHEN lower(${text}) IN ('true', 't', 'yes', 'y', '1') THEN true
    WHEN lower(${text}) IN ('false', 'f', 'no', 'n', '0') THEN false END`,
  reason: () => sql`'not true or false'`,
};

function textReader(schema: FeedField, day: string): FieldReader {
  if (schema.format === "date-time") return timeReader(day);
  if (schema.format === "uuid") {
    return {
      type: "VARCHAR",
      value: (text) => sql`TRY_CAST(${text} AS UUID)::VARCHAR`,
      reason: () => sql`'not a UUID'`,
    };
  }
  const reason = textReason(schema);
  return {
    type: "VARCHAR",
    ...(schema.enum === undefined ? {} : { converted: (text: Sql) => enumValue(schema, text) }),
    value: (converted) => sql`CASE WHEN ${reason(converted)} IS NULL THEN ${converted} END`,
    reason,
  };
}

/** Maps an alias to its enum value and lower-cases all other texts. */
function enumValue(schema: FeedField, text: Sql): Sql {
  const aliases = Object.entries(schema["x-aliases"] ?? {}).map(([alias, value]) => sql`WHEN ${alias} THEN ${value}`);
  return aliases.length === 0
    ? sql`lower(${text})`
    : sql`CASE lower(${text}) ${join(aliases, sql` `)} ELSE lower(${text}) END`;
}

/** Returns an expression for the first schema keyword that a text violates; null if it is valid. */
function textReason(schema: Omit<FeedField, "items">): (text: Sql) => Sql {
  const rules: readonly (readonly [isDefined: boolean, isViolated: (text: Sql) => Sql, reason: string])[] = [
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
      "not an HTTP URL",
    ],
    [
      schema.format === "website",
      (text) =>
        sql`NOT regexp_full_match(${text}, '(https?://)?([\\p{L}\\p{N}-]+\\.)+\\p{L}{2,}(:[0-9]+)?([/?#]\\S*)?', 'i')`,
      "not a website",
    ],
    [
      schema.pattern !== undefined,
      (text) => sql`NOT regexp_matches(${text}, ${schema.pattern ?? ""})`,
      `does not match ${schema.pattern}`,
    ],
  ];
  const defined = rules.filter(([isDefined]) => isDefined);
  return (text) => {
    const cases = defined.map(([, isViolated, reason]) => sql`WHEN ${isViolated(text)} THEN ${reason}`);
    return cases.length === 0 ? sql`NULL::VARCHAR` : sql`CASE ${join(cases, sql` `)} END`;
  };
}

/** Parses an ISO 8601 time to UTC. A time more than a day after the delivery's day is invalid. */
function timeReader(day: string): FieldReader {
  const latest = sql`${`${plusDays(day, 2)}T00:00:00Z`}::TIMESTAMPTZ`;
  return {
    type: "TIMESTAMP",
    converted: (text) => sql`TRY_CAST(${text} AS TIMESTAMPTZ)`,
    value: (time) => sql`CASE WHEN isfinite(${time}) AND ${time} < ${latest} AND year(${time}) >= 1990
      THEN ${time} AT TIME ZONE 'UTC' END`,
    reason: (time) =>
      sql`CASE WHEN ${time} >= ${latest} THEN ${`later than the delivery of ${day}`} ELSE 'not a time' END`,
  };
}

function listReader(items: Omit<FeedField, "items">): FieldReader {
  const reason = textReason(items);
  return {
    type: "VARCHAR[]",
    ...(items.enum === undefined
      ? {}
      : { converted: (list: Sql) => sql`list_transform(${list}, lambda item: ${enumValue(items, sql`item`)})` }),
    value: (converted) => sql`list_filter(${converted}, lambda item: ${reason(sql`item`)} IS NULL)`,
    reason,
  };
}

/** Reads line items from a JSON array. If any of them lacks an amount or a label, the whole list is invalid. */
const lineItemsReader: FieldReader = {
  type: lineItemsType,
  value(text) {
    const rows = sql`TRY_CAST(TRY_CAST(${text} AS JSON) AS ${columnType(lineItemsType)})`;
    const isValid = sql`len(list_filter(${rows}, lambda line: (line.amount_usd >= 0 AND isfinite(line.amount_usd)
      AND line.raw_label IS NOT NULL AND coalesce(line.direction IN ('add', 'subtract', 'none'), true)) IS NOT TRUE)) = 0`;
    return sql`CASE WHEN ${isValid} THEN ${rows} END`;
  },
  reason: () => sql`'not a list of line items'`,
};

const wordlessMarkers = unknownMarkers.filter((marker) => !/\p{Letter}/u.test(marker));

/** Returns the markers of a field; none if its texts are parsed, because a marker is no number, time, URL or word of a vocabulary. */
export function markersOf(field: FeedField | undefined): readonly string[] {
  const texts = isTextList(field) ? field?.items : field;
  if (texts === undefined || "$ref" in texts || texts.type !== "string") return [];
  if (texts.enum !== undefined || texts.format !== undefined || texts.pattern !== undefined) return [];
  return field?.["x-words-are-values"] ? wordlessMarkers : unknownMarkers;
}

/** A condition: a trimmed text is one of the markers, in any case. Null for null. Tests the length first, which is cheaper. */
export function isMarker(text: Sql, markers: readonly string[]): Sql {
  const bytesMax = Math.max(0, ...markers.map((marker) => Buffer.byteLength(marker)));
  return sql`(strlen(${text}) <= ${bytesMax} AND list_contains(${markers}, lower(${text})))`;
}

/** Characters that are trimmed: ASCII white space and the no-break space. */
const whiteSpace = " \t\r\n\u00a0";

/**
 * Trims a text; null if it is blank or a marker. Testing the first and last character before trimming is six times as fast: the engine's
 * `trim` builds a character set for every value.
 */
export function knownText(text: Sql, markers: readonly string[]): Sql {
  const endsBlank = any([...whiteSpace].map((character) => sql`suffix(${text}, ${character})`));
  const known = (trimmed: Sql): Sql =>
    markers.length === 0 ? trimmed : sql`CASE WHEN ${isMarker(trimmed, markers)} THEN NULL ELSE ${trimmed} END`;
  return sql`CASE WHEN ${text} BETWEEN '!' AND '~' AND NOT ${endsBlank} THEN ${known(text)}
    ELSE ${known(sql`nullif(trim(${text}, ${whiteSpace}), '')`)} END`;
}
