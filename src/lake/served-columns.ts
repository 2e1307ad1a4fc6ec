/**
 * What is read of listings when they are served, on pages and in details alike: the values of the fact by name, in the form in which
 * they are served. Keys lead into `Dimensions`.
 */
import { ident, join, type Sql, sql } from "../db/sql.ts";
import { type Attribute, attributeOf, type NameOf, namesIn, type ServeKind } from "../listing/schema.ts";
import { JsonRowFormat } from "./json-row.ts";

/** Attributes of listings that are in no answer. */
type Unread = NameOf<{ readonly serve: "analysts" | "none" }>;

export type ServedColumn = Exclude<NameOf<{ readonly home: "listings" }>, Unread>;

/** A column of listings in the type in which it is shown: JSON has no decimals. */
export function jsonValue(column: string, { type }: Pick<Attribute, "type">): Sql {
  const fact = ident("facts", column);
  return type.startsWith("DECIMAL") ? sql`${fact}::DOUBLE` : fact;
}

/** The form in which a column is served, where that is not the shown value. */
const forms: Readonly<Partial<Record<ServeKind, (fact: Sql) => Sql>>> = {
  second: (fact) => sql`strftime(${fact}, '%Y-%m-%dT%H:%M:%SZ')`,
  microsecond: (fact) => sql`strftime(${fact}, '%Y-%m-%d %H:%M:%S.%f')`,
  day: (fact) => sql`${fact}::VARCHAR`,
  price_history: (fact) => sql`list_transform(coalesce(${fact}, []), lambda change: {
    date: strftime(change.changed_at, '%Y-%m-%d'), price: change.price,
    changed_at: strftime(change.changed_at, '%Y-%m-%dT%H:%M:%SZ'),
    price_before: change.price_before, miles: change.miles})`,
};

const isRead = (reading: NameOf<{ readonly home: "listings" }>): reading is ServedColumn =>
  !["analysts", "none"].includes(attributeOf(reading).serve ?? "");

/** Each value, as SQL over `facts`. */
export const servedColumns = Object.fromEntries(
  namesIn("listings")
    .filter(isRead)
    .map((reading) => {
      const attribute = attributeOf(reading);
      const shown = jsonValue(attribute.column, attribute);
      return [reading, attribute.serve === undefined ? shown : (forms[attribute.serve]?.(shown) ?? shown)] as const;
    }),
) as Readonly<Record<ServedColumn, Sql>>;

/** Whole listings. */
export const listingRow = new JsonRowFormat(servedColumns);

/** Some of them, to select from `facts`. */
export const selectServed = (names: readonly ServedColumn[]): Sql =>
  join(names.map((reading) => sql`${servedColumns[reading]} AS ${ident(reading)}`));
