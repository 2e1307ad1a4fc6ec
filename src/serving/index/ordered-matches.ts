/** Statements over all matches of an inventory, in the order of a page: for exports, and for what is measured of a market. */
import { ident, integerLiteral, join, literal, type Sql, sql } from "../../db/sql.ts";
import type { Filter } from "../../listing/filter.ts";
import { sortValueOf, unknownSortValue } from "../../listing/sorts.ts";
import type { PageOrder, PageRequest } from "../../listing/source.ts";
import { fromMatches, numberOn } from "./conditions.ts";
import { ranksOf, type SegmentRows } from "./segment.ts";

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
  const [first = 0] = all;
  const distances = literal(JSON.stringify(all.map(dealers.distancesFrom(order.origin))));
  // Composite ids of dealers are consecutive. Joining with one literal takes a fifth of the time of looking up a list of literals.
  const ids = sql`unnest(range(${integerLiteral(first)}, ${integerLiteral(first + all.length)}))::INTEGER`;
  return sql`
    SELECT * EXCLUDE (dealer) FROM (SELECT ${columns}, dealer ${fromMatches(rows, filters)})
    JOIN   (SELECT ${ids} AS dealer, unnest(${distances}::INTEGER[]) AS sort_value) USING (dealer)`;
}
