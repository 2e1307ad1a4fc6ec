/** Matches in SQL, for what the engine measures, values and exports: the rows of segments that pass filters, and their order. */
import { all as allOf, any as anyOf, ident, integerLiteral, join, literal, type Sql, sql } from "../../db/sql.ts";
import type { Filter } from "../../listing/filter.ts";
import type { CountedName, ListName } from "../../listing/schema.ts";
import { sortValueOf, unknownSortValue } from "../../listing/sorts.ts";
import type { PageOrder, PageRequest } from "../../listing/source.ts";
import { setsOf } from "./build.ts";
import { ranksOf, type SegmentRows } from "./segment.ts";
import { listIn, type Test, testOf } from "./tests.ts";

/** Selects from the rows of a segment that pass filters: a statement from FROM on. */
export function fromMatches(rows: SegmentRows, filters: readonly Filter[]): Sql {
  const { segment, tests } = rows;
  const all = [...tests, ...filters.map((filter) => testOf(filter, segment))];
  const conditions = all.map((test) => conditionOf(test, rows));
  const where = conditions.length === 0 ? sql`` : sql`WHERE ${join(conditions, sql` AND `)}`;
  return sql`FROM ${ident(segment.catalog, "listings")} ${where}`;
}

/** Returns a column, a number in units. Days on market follow from the day. */
export const numberOn = (column: string, { day }: Pick<SegmentRows, "day">): Sql =>
  column === "days_on_market" && day !== undefined ? sql`greatest(0, ${day} - listed_on)` : ident(column);

/** Renders a test as a condition on each row. */
export function conditionOf(test: Test, rows: Pick<SegmentRows, "segment" | "day">): Sql {
  switch (test.kind) {
    case "in":
      return inCondition(test.column, test.ids);
    case "hasTokens":
      return (test.how === "all" ? allOf : anyOf)(
        test.tokens.map((ids) => inSets(rows.segment.catalog, test.column, ids)),
      );
    case "between": {
      const column = numberOn(test.column, rows);
      return test.min === test.max
        ? sql`${column} = ${integerLiteral(test.min)}`
        : sql`${column} BETWEEN ${integerLiteral(test.min)} AND ${integerLiteral(test.max)}`;
    }
    case "hasBits":
      return sql`(${ident(test.column)} & ${integerLiteral(test.bits)}) = ${integerLiteral(test.value)}`;
    case "all":
    case "any":
      return (test.kind === "all" ? allOf : anyOf)(test.tests.map((one) => conditionOf(one, rows)));
    case "not":
      return sql`(${conditionOf(test.test, rows)}) IS NOT TRUE`;
  }
}

const bitSet = "1".charCodeAt(0);

/**
 * Tests a column for one of some ids: several have a bit for each id from the first to the last. Row groups without any of these are skipped; the
 * others take half the time of `IN`.
 */
function inCondition(column: string, ids: ArrayLike<number>): Sql {
  const sorted = Int32Array.from(ids).sort();
  const first = sorted[0];
  const last = sorted.at(-1);
  if (first === undefined || last === undefined) return sql`false`;
  if (first === last) return sql`${ident(column)} = ${integerLiteral(first)}`;
  const bits = Buffer.alloc(last - first + 1, "0");
  for (const id of sorted) bits[id - first] = bitSet;
  // The engine may look up the bit of an id before it compares the id, so that others need a bit too.
  const offset = sql`greatest(0, least(${integerLiteral(last - first)}, ${ident(column)} - ${integerLiteral(first)}))`;
  return sql`(${ident(column)} BETWEEN ${integerLiteral(first)} AND ${integerLiteral(last)} AND get_bit(${literal(bits.toString("latin1"))}::BIT, ${offset}) = 1)`;
}

/** Tests a list for a token, given its ids. */
const inSets = (catalog: string, list: ListName, ids: readonly number[]): Sql =>
  ids.length === 0
    ? sql`false`
    : sql`${ident(list)} IN (SELECT "set" FROM ${setsOf(catalog, list)} WHERE token IN (${join(ids.map(integerLiteral))}))`;

/** Selects the id of the value of an attribute, of a list that of its set; 0 without an attribute. */
export const idOf = (attribute: CountedName | undefined): Sql => (attribute === undefined ? sql`0` : ident(attribute));

/** Returns rows with a column of ids (see `idOf`), with the ids of the tokens instead of a set's: a row for each. */
export function withTokens(
  rows: Sql,
  attribute: CountedName | undefined,
  { segment: { catalog } }: Pick<SegmentRows, "segment">,
  column: Sql = sql`id`,
): Sql {
  const list = listIn(attribute);
  if (list === undefined) return rows;
  return sql`SELECT token AS ${column}, found.* EXCLUDE (${column})
    FROM (${rows}) AS found JOIN ${setsOf(catalog, list)} AS sets ON sets."set" = found.${column}`;
}

/**
 * Selects all matches: `sort_key`, an integer by which they are in order, and what identifies each among the listings of its inventory: `id`, and
 * of an interval `valid_from` too; or `row_number`, its position in the files.
 */
export function orderedMatches(
  parts: readonly SegmentRows[],
  { filters, order }: Pick<PageRequest, "filters" | "order">,
): Sql {
  const [only] = parts;
  if (only === undefined)
    return sql`SELECT 0::BIGINT AS row_number, ''::VARCHAR AS id, NULL::DATE AS valid_from, 0::HUGEINT AS sort_key WHERE false`;
  const known = sql`coalesce(sort_value, ${integerLiteral(unknownSortValue)})::HUGEINT + ${integerLiteral(unknownSortValue + 1)}`;
  if (only.isPositioned === true)
    return sql`SELECT "row"::BIGINT AS row_number, ((${known}) << 27) + position AS sort_key
      FROM (${withSortValue(sql`"row", position`, only, filters, order)})`;
  const sortable = parts.map((rows) => {
    const listings = withSortValue(sql`listing_id, valid_from, build, build_rank`, rows, filters, order);
    return parts.length === 1 ? listings : withRanks(listings, rows);
  });
  // An interval that crosses a month's end lies in two segments. The first 40 bits of the id break ties. The key has 127 bits: 43 of the sort value, 28
  // of the build's rank, 40 of the id, 16 of the day.
  return sql`
    SELECT DISTINCT id, DATE '1970-01-01' + valid_from AS valid_from,
           ((${known}) << 84) + (build_rank::HUGEINT << 56)
           + (('0x' || left(id, 10))::UBIGINT::HUGEINT << 16) + greatest(0, valid_from) AS sort_key
    FROM   (SELECT *, replace(listing_id::VARCHAR, '-', '') AS id FROM (${join(sortable, sql` UNION ALL `)}))`;
}

/** Selects the ids of all matches, as `listing_id`. */
export function idsIn(parts: readonly SegmentRows[], filters: readonly Filter[]): Sql {
  const selects = parts.map((rows) => sql`SELECT listing_id ${fromMatches(rows, filters)}`);
  return selects.length === 0 ? sql`SELECT NULL::UUID AS listing_id WHERE false` : join(selects, sql` UNION ALL `);
}

/** Selects the columns of listings that an order needs, with the ranks of their builds among all builds: ranks in an index compare within it only. */
const withRanks = (listings: Sql, { segment }: SegmentRows): Sql => sql`
  SELECT listing_id, valid_from, sort_value, ranks.build_rank
  FROM   (${listings}) AS listings JOIN ${ranksOf(segment.catalog)} AS ranks USING (build)`;

/** Selects columns of the matches in a segment, and `sort_value`, the sort key of a page as an integer in ascending order. */
function withSortValue(columns: Sql, rows: SegmentRows, filters: readonly Filter[], order: PageOrder): Sql {
  const { dealers, dictionary } = rows.segment;
  if (order.by === "sort") {
    const sortValue = sortValueOf(
      order.sort,
      (attribute) => (attribute === "listed_at" ? ident(attribute) : numberOn(attribute, rows)),
      ({ column, values }) => {
        const ids = values.flatMap((value, index) =>
          dictionary.idsOf(column, value).map((id) => sql`WHEN ${integerLiteral(id)} THEN ${integerLiteral(index)}`),
        );
        return ids.length === 0 ? sql`0` : sql`CASE ${ident(column)} ${join(ids, sql` `)} ELSE 0 END`;
      },
    );
    return sql`SELECT ${columns}, ${sortValue} AS sort_value ${fromMatches(rows, filters)}`;
  }
  const { all } = dealers;
  const distances = literal(JSON.stringify(all.map(dealers.distancesFrom(order.origin))));
  // Ids of dealers are consecutive. Joining with one literal takes a fifth of the time of looking up a list of literals.
  const ids = sql`unnest(range(1, ${integerLiteral(1 + all.length)}))::INTEGER`;
  return sql`
    SELECT * EXCLUDE (dealer) FROM (SELECT ${columns}, dealer ${fromMatches(rows, filters)})
    JOIN   (SELECT ${ids} AS dealer, unnest(${distances}::INTEGER[]) AS sort_value) USING (dealer)`;
}
