/**
 * Field readers: SQL expressions that parse a trimmed text, or a list of trimmed texts, into a typed value, and that name the reason if
 * the text is invalid. All derive from the field's JSON Schema in `schemas/feed.json`, as do the markers of an unknown value, such as `N/A`.
 */
import { plusDays } from "../../base/day.ts";
import { invisibleCharacters, whiteSpace } from "../../base/text.ts";
import type { DuckType } from "../../db/duck-type.ts";
import { columnType, integerLiteral, join, literal, numberLiteral, type Sql, sql } from "../../db/sql.ts";
import { buildColumns, dealerColumns, listingColumns } from "../../lake/tables.ts";
import { lineItemsType } from "../../listing/nested-types.ts";
import { newestYearOn, vinForm } from "../../listing/vins.ts";
import { type FeedField, isTextList, unknownMarkers } from "../feed/feed-schema.ts";
import { bound, type NumberForm, readNumber } from "./number-forms.ts";

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
  /** Returns the decimal sign that a text shows, of fields whose texts can leave it open. */
  readonly sign?: (converted: Sql) => Sql;
  /** Returns the value of a text that leaves its decimal sign open, with a decimal comma. */
  readonly valueWithComma?: (text: Sql) => Sql;
  /** Why a value is noted that was read from a text with a part missing, and the condition for it. */
  readonly completed?: { readonly reason: string; readonly isCompleted: (text: Sql, value: Sql) => Sql };
}

/** What texts are read by: the day of the delivery, and the lake's currency (ISO 4217). */
export interface ReadingContext {
  readonly day: string;
  readonly currency: string;
}

/** Returns the reader of a field. */
export function fieldReader(field: string, schema: FeedField, { day, currency }: ReadingContext): FieldReader {
  if (field === "vin") return vinReader;
  if (field === "postal_code") return zipReader(schema);
  if (field === "year") return yearReader(schema, { day, currency });
  switch (schema.type) {
    case "integer":
      return wholeNumberReader(schema, { quantity: schema["x-quantity"] ?? "count", currency });
    case "number":
      return numberReader(schema, columnTypes[field] ?? "DOUBLE");
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
  value: (text) => sql`CASE WHEN regexp_full_match(upper(${text}), ${literal(vinForm)}) THEN upper(${text}) END`,
  reason: (
    text,
  ) => sql`CASE WHEN length(${text}) <> 17 THEN 'not 17 characters' WHEN regexp_matches(${text}, '[IOQ]', 'i')
    THEN 'contains I, O or Q' ELSE 'contains an invalid character' END`,
};

/** Reads a ZIP code. A spreadsheet drops its leading zeros, and can add a fraction. */
function zipReader(schema: FeedField): FieldReader {
  const { value, reason } = textReader(schema, "");
  return {
    type: "VARCHAR",
    converted: (text) =>
      sql`CASE WHEN regexp_full_match(${text}, '[0-9]{3,5}(\\.0)?') THEN lpad(split_part(${text}, '.', 1), 5, '0') ELSE ${text} END`,
    value,
    reason,
    completed: { reason: "read with its leading zeros", isCompleted: (text, zip) => sql`${text} <> ${zip}` },
  };
}

/** Returns a condition: a number is within the bounds of its field. */
function isWithin(
  amount: Sql,
  { minimum = Number.MIN_SAFE_INTEGER, maximum = Number.MAX_SAFE_INTEGER }: FeedField,
): Sql {
  return sql`${amount} BETWEEN ${numberLiteral(minimum)} AND ${numberLiteral(maximum)}`;
}

/** Returns why a number is invalid that is not within the bounds of its field; `other` if it is no number. */
function numberReason(amount: Sql, { minimum, maximum }: FeedField, other: Sql): Sql {
  const cases = [
    ...(minimum === undefined ? [] : [sql`WHEN ${amount} < ${numberLiteral(minimum)} THEN ${`below ${minimum}`}`]),
    ...(maximum === undefined ? [] : [sql`WHEN ${amount} > ${numberLiteral(maximum)} THEN ${`above ${maximum}`}`]),
  ];
  return cases.length === 0 ? other : sql`CASE ${join(cases, sql` `)} ELSE ${other} END`;
}

/** Reads a whole number as others write it; amounts of money and distances are rounded. */
function wholeNumberReader(schema: FeedField, form: NumberForm): FieldReader {
  const valueIn = (converted: Sql): Sql => {
    const isWhole = form.quantity === "count" ? sql`${converted}.amount = trunc(${converted}.amount)` : sql`true`;
    const isValid = sql`${converted}.problem IS NULL AND ${isWhole} AND ${isWithin(sql`round(${converted}.amount)`, schema)}`;
    return sql`CASE WHEN ${isValid} THEN round(${converted}.amount)::INTEGER END`;
  };
  const invalid = literal("not a whole number");
  return {
    type: "INTEGER",
    converted: (text) => readNumber(text, form),
    value: valueIn,
    reason: (converted) =>
      sql`coalesce(${converted}.problem, ${numberReason(sql`round(${converted}.amount)`, schema, invalid)})`,
    ...(form.quantity === "count"
      ? {}
      : {
          sign: (converted: Sql) => sql`${converted}.sign`,
          valueWithComma: (text: Sql) => bound(readNumber(text, form, true), sql`converted`, valueIn(sql`converted`)),
        }),
  };
}

/** The note about a model year of two digits. */
export const withCentury = "read with its century";

/** Reads a model year. Two digits are of the last 100 years that can be on sale on the day. */
function yearReader(schema: FeedField, { day, currency }: ReadingContext): FieldReader {
  const form: NumberForm = { quantity: "count", currency };
  const newest = integerLiteral(newestYearOn(day));
  const short = literal("'?[0-9]{2}");
  return {
    ...wholeNumberReader(schema, form),
    converted: (text) => {
      const year = sql`(${newest} - (${newest} - right(${text}, 2)::INTEGER) % 100)::VARCHAR`;
      const whole = sql`CASE WHEN regexp_full_match(${text}, ${short}) THEN ${year} ELSE ${text} END`;
      return bound(whole, sql`whole_year`, readNumber(sql`whole_year`, form));
    },
    completed: { reason: withCentury, isCompleted: (text) => sql`regexp_full_match(${text}, ${short})` },
  };
}

function numberReader(schema: FeedField, type: DuckType): FieldReader {
  return {
    type,
    converted: (text) => sql`TRY_CAST(${text} AS ${columnType(type)})`,
    value: (converted) => sql`CASE WHEN ${isWithin(converted, schema)} THEN ${converted} END`,
    reason: (converted) => numberReason(converted, schema, literal("not a number")),
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
    ...convertedText(schema, (convert) => convert),
    value: (converted) => sql`CASE WHEN ${reason(converted)} IS NULL THEN ${converted} END`,
    reason,
  };
}

/** Returns the conversion of texts, or of lists of them: URLs have their blanks encoded, words of a vocabulary their usual form. */
function convertedText(
  schema: Omit<FeedField, "items">,
  ofReader: (convert: (text: Sql) => Sql) => (converted: Sql) => Sql,
): Pick<FieldReader, "converted"> {
  if (schema.enum !== undefined) return { converted: ofReader((text) => enumValue(schema, text)) };
  if (schema.format === "uri")
    return {
      converted: ofReader(
        (text) => sql`CASE WHEN contains(${text}, ' ') THEN replace(${text}, ' ', '%20') ELSE ${text} END`,
      ),
    };
  return {};
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
      (text) =>
        sql`NOT regexp_full_match(${text}, 'https?://[^\\s/]+\\S*', 'i') OR regexp_matches(${text}, '(?:[,;|]|%20)https?://', 'i')`,
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
    ...convertedText(items, (convert) => (list) => sql`list_transform(${list}, lambda item: ${convert(sql`item`)})`),
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

/**
 * Returns a text in one form: composed (NFC), without invisible characters, each run of white space as one space, trimmed; null if it is blank or a
 * marker. Nearly all texts are in that form, which is cheaper to test than to reach.
 */
export function knownText(text: Sql, markers: readonly string[]): Sql {
  const known = (folded: Sql): Sql =>
    markers.length === 0 ? folded : sql`CASE WHEN ${isMarker(folded, markers)} THEN NULL ELSE ${folded} END`;
  return sql`CASE WHEN ${text} IS NULL THEN NULL
    WHEN ${text} BETWEEN '!' AND '~' AND NOT suffix(${text}, ' ') AND NOT regexp_matches(${text}, '[^ -~]|  ') THEN ${known(text)}
    ELSE ${known(foldedText(text))} END`;
}

/** Returns a text in the form of all texts, as `normalizeText` does; null if nothing remains. */
const foldedText = (text: Sql): Sql => {
  const visible = sql`regexp_replace(${text}, ${literal(invisibleCharacters)}, '', 'g')`;
  return sql`nullif(nfc_normalize(trim(regexp_replace(${visible}, ${literal(`${whiteSpace}+`)}, ' ', 'g'))), '')`;
};
