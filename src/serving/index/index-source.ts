/**
 * Listings in one or several search indexes: those of a past day, or sold ones. Beside the statement of a page, another one counts the matches, unless
 * their number is known.
 */
import { textIn } from "../../base/json.ts";
import { ident, integerLiteral, join, literal, type Sql, sql } from "../../db/sql.ts";
import type { Filter } from "../../listing/filter.ts";
import { sortValueOf, unknownSortValue } from "../../listing/sorts.ts";
import type { PageOrder, PageRequest, PageResult } from "../../listing/source.ts";
import { type IndexContext, numberOn } from "./conditions.ts";
import { countMatches, type IndexedListings, type IndexMatches, matchesIn } from "./count-matches.ts";
import { overMatches } from "./where.ts";

export class IndexSource {
  constructor(readonly indexed: IndexedListings) {}

  async findPage({ filters, order, limit, offset }: PageRequest): Promise<PageResult> {
    const parts = matchesIn(this.indexed.contexts, filters);
    if (parts.length === 0) return { total: 0, keys: [] };
    const [total, page] = await Promise.all([
      countMatches(this.indexed, parts),
      // The outer statement converts the ids of the page alone.
      this.indexed.engine.rows(sql`
        SELECT replace(listing_id::VARCHAR, '-', '') AS listing_id
        FROM   (SELECT listing_id FROM (${sortable(parts, order)})
                ORDER BY sort_value NULLS LAST, build_rank, listing_id LIMIT ${integerLiteral(limit)} OFFSET ${integerLiteral(offset)})`),
    ]);
    return { total, keys: page.map((row) => textIn(row, "listing_id")) };
  }

  /**
   * Selects all matches: `sort_key`, an integer by which they are in order, and what identifies each among the listings of its inventory: `id`, and
   * of an interval `valid_from` too; or `row_number`, its position.
   */
  orderedMatches({ filters, order }: Pick<PageRequest, "filters" | "order">): Sql {
    const parts = matchesIn(this.indexed.contexts, filters);
    if (parts.length === 0)
      return sql`SELECT ''::VARCHAR AS id, NULL::DATE AS valid_from, 0::HUGEINT AS sort_key WHERE false`;
    // An interval that crosses a month's end lies in two indexes. The first 40 bits of the id break ties. The key has 127 bits: 43 of the sort value, 28
    // of the build's rank, 40 of the id, 16 of the day.
    return sql`
      SELECT DISTINCT id, DATE '1970-01-01' + valid_from AS valid_from,
             ((coalesce(sort_value, ${integerLiteral(unknownSortValue)})::HUGEINT + ${integerLiteral(unknownSortValue + 1)}) << 84) + (build_rank::HUGEINT << 56)
             + (('0x' || left(id, 10))::UBIGINT::HUGEINT << 16) + greatest(0, valid_from) AS sort_key
      FROM   (SELECT *, replace(listing_id::VARCHAR, '-', '') AS id FROM (${sortable(parts, order)}))`;
  }
}

/** Selects the ids of all matches, as `listing_id`. */
export function idsIn(contexts: readonly IndexContext[], filters: readonly Filter[]): Sql {
  const selects = matchesIn(contexts, filters).map(
    ({ context, matches }) => sql`SELECT listing_id ${overMatches(matches, context)}`,
  );
  return selects.length === 0 ? sql`SELECT NULL::UUID AS listing_id WHERE false` : join(selects, sql` UNION ALL `);
}

/** Selects the columns of matches that a page needs: `listing_id`, `valid_from`, `sort_value`, and `build_rank`. */
function sortable(parts: readonly IndexMatches[], order: PageOrder): Sql {
  const selects = parts.map((part) => {
    const listings = withSortValue(sql`listing_id, valid_from, build, build_rank`, part, order);
    return parts.length === 1 ? listings : withRanks(listings, part.context);
  });
  return join(selects, sql` UNION ALL `);
}

/** Selects the columns of listings that a page needs, with the ranks of their builds among all builds: ranks in an index compare within it only. */
const withRanks = (listings: Sql, { catalog }: IndexContext): Sql => sql`
  SELECT listing_id, valid_from, sort_value, ranks.build_rank
  FROM   (${listings}) AS listings JOIN ${ranksOf(catalog)} AS ranks USING (build)`;

/** The table of the rank of each build of an index among all builds of the version. */
const ranksOf = (catalog: string): Sql => ident(`ranks of ${catalog}`);

/** Returns the statement that creates the ranks of an index's builds. Needs the table `build_ranks` of the version. */
export const ranksStatement = (catalog: string): Sql => sql`
  CREATE OR REPLACE TABLE ${ranksOf(catalog)} AS
  SELECT build, build_ranks.build_rank FROM ${ident(catalog, "builds")} JOIN build_ranks USING (build_key) ORDER BY build`;

/** Selects columns of the matches in an index, and `sort_value`, the sort key of a page as an integer in ascending order. */
export function withSortValue(
  columns: Sql,
  { context, matches }: Pick<IndexMatches, "context" | "matches">,
  order: PageOrder,
): Sql {
  if (order.by === "sort") {
    const sortValue = sortValueOf(order.sort, (attribute) =>
      attribute === "listed_at" ? ident(attribute) : numberOn(attribute, context),
    );
    return sql`SELECT ${columns}, ${sortValue} AS sort_value ${overMatches(matches, context)}`;
  }
  const { dealers } = context;
  const { all } = dealers;
  const [first = 0] = all;
  const distances = literal(JSON.stringify(all.map(dealers.distancesFrom(order.origin))));
  // Composite ids of dealers are consecutive. Joining with one literal takes a fifth of the time of looking up a list of literals.
  const ids = sql`unnest(range(${integerLiteral(first)}, ${integerLiteral(first + all.length)}))::INTEGER`;
  return sql`
    SELECT * EXCLUDE (dealer) FROM (SELECT ${columns}, dealer ${overMatches(matches, context)})
    JOIN   (SELECT ${ids} AS dealer, unnest(${distances}::INTEGER[]) AS sort_value) USING (dealer)`;
}
