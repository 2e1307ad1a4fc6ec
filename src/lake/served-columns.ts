/**
 * The columns of listings that the API serves, each as the SQL expression that produces its served form (for example, timestamps as
 * ISO 8601 text). Build, dealer and token keys are resolved by `Dimensions`, not here.
 */
import { vocabulary } from "../contract/document.ts";
import { ident, integerLiteral, join, literal, type Sql, sql } from "../db/sql.ts";
import type { Attribute, ServeKind } from "../listing/attribute.ts";
import { attributeOf, type NameOf, namesIn, tokensNames, valuedNames } from "../listing/schema.ts";
import { type JsonRow, JsonRowFormat } from "./json-row.ts";
import { keywordBits } from "./tables.ts";

/** Attributes of listings that no response contains. */
type UnservedColumn = NameOf<{ readonly serve: "none" }>;

export type ServedColumn = Exclude<NameOf<{ readonly home: "listings" }>, UnservedColumn>;

/** Returns an attribute of a row of `facts`, `builds` or `dealers` with a JSON-compatible type: decimals become doubles. */
export function jsonValue({ home, column, type }: Attribute & { readonly column: string }): Sql {
  const value = ident(home === "listings" ? "facts" : home, column);
  return typeof type === "string" && type.startsWith("DECIMAL") ? sql`${value}::DOUBLE` : value;
}

/** Returns the words that the bits of a number stand for. */
export function keywordsOf(bits: Sql): Sql {
  const words = Object.entries(keywordBits).map(
    ([word, bit]) => sql`CASE WHEN ${bits} & ${integerLiteral(bit)} <> 0 THEN ${literal(word)} END`,
  );
  return sql`list_filter([${join(words)}], lambda word: word IS NOT NULL)`;
}

/** Conversions to the served form, for the kinds whose served form differs from the JSON value. */
const conversions: Readonly<Partial<Record<ServeKind, (fact: Sql) => Sql>>> = {
  second: (fact) => sql`strftime(${fact}, '%Y-%m-%dT%H:%M:%SZ')`,
  microsecond: (fact) => sql`strftime(${fact}, '%Y-%m-%d %H:%M:%S.%f')`,
  day: (fact) => sql`${fact}::VARCHAR`,
  keywords: keywordsOf,
  price_history: (fact) => sql`list_transform(coalesce(${fact}, []), lambda change: {
    date: strftime(change.changed_at, '%Y-%m-%d'), price: change.price,
    changed_at: strftime(change.changed_at, '%Y-%m-%dT%H:%M:%SZ'),
    price_before: change.price_before, miles: change.miles})`,
};

const isServed = (name: NameOf<{ readonly home: "listings" }>): name is ServedColumn =>
  attributeOf(name).serve !== "none";

/** The served form of each column, as SQL over `facts`. */
export const servedColumns = Object.fromEntries(
  namesIn("listings")
    .filter(isServed)
    .map((name) => {
      const attribute = attributeOf(name);
      const value = jsonValue(attribute);
      return [name, attribute.serve === undefined ? value : (conversions[attribute.serve]?.(value) ?? value)] as const;
    }),
) as Readonly<Record<ServedColumn, Sql>>;

/** Columns by which a row is joined with others, or that follow from the day on which it is read. */
const singleColumns: readonly ServedColumn[] = [
  ...(["build_key", "dealer_key", "listed_at", "days_on_market", "days_seen", "last_checked_at"] as const),
];

/** Returns those columns of a relation which follow one another among the fields of a page. `columnOf` returns the column that a field is a copy of. */
export function columnsInSequence<Column extends string>(
  columnOf: (field: string) => Column | undefined,
): readonly (readonly Column[])[] {
  const sequences: Column[][] = [[]];
  for (const field of vocabulary("searchListings", "fields")) {
    const column = columnOf(field);
    if (column === undefined) sequences.push([]);
    else sequences.at(-1)?.push(column);
  }
  return sequences;
}

const notCopied: readonly string[] = [...singleColumns, ...valuedNames, ...tokensNames];
const isCopied = (field: string): field is ServedColumn =>
  Object.hasOwn(servedColumns, field) && !notCopied.includes(field);

export const listingRow = new JsonRowFormat(servedColumns, {
  pieces: [
    ...columnsInSequence((field) => (isCopied(field) ? field : undefined)),
    ...singleColumns.map((column) => [column]),
    valuedNames,
  ],
});

/** Returns the select list of the named columns, over `facts`. */
export const selectServed = (names: readonly ServedColumn[]): Sql =>
  join(names.map((name) => sql`${servedColumns[name]} AS ${ident(name)}`));

const valuedPiece = listingRow.pieceOf(valuedNames[0] ?? "");
const noValues = valuedNames.map((name) => `"${name}":null`).join();

/** Returns a row of a past day: values are those of the published day. */
export const withoutValues = (row: JsonRow): JsonRow => row.with(valuedPiece, noValues);
