/**
 * The listings of a past day, from the search index of its month. A page takes one statement, which counts the matches too: a statement of its own
 * for their number takes longer.
 */
import { integerIn, textIn } from "../../base/json.ts";
import { ident, integerLiteral, join, type Sql, sql } from "../../db/sql.ts";
import { sortKeys } from "../../listing/sorts.ts";
import type {
  CountRequest,
  CountResult,
  ListingSource,
  MeasureRequest,
  MeasureResult,
  PageOrder,
  PageRequest,
  PageResult,
} from "../../listing/source.ts";
import { countMatches, countValues, type IndexedDay, measureValues } from "./count-matches.ts";
import { type IndexContext, matchesOf, numberOn, overMatches, resolveFilters } from "./where.ts";

const dayMs = 86_400_000;

export class PastListings implements ListingSource {
  private constructor(private readonly indexed: IndexedDay) {}

  /** Returns the listings of a day, given the index of its month and their number. */
  static on(day: string, indexed: IndexedDay): PastListings {
    return new PastListings({ ...indexed, context: { ...indexed.context, day: Date.parse(day) / dayMs } });
  }

  get count(): number {
    return this.indexed.count;
  }

  async findPage({ filters, order, limit, offset }: PageRequest): Promise<PageResult> {
    const { context, engine } = this.indexed;
    const matches = matchesOf(resolveFilters(filters, context), context);
    if (matches === "never") return { total: 0, places: [] };
    const { key, from } = orderOf(order, overMatches(matches, context), context);
    const known = matches === "always" ? this.count : undefined;
    const total = known === undefined ? sql`count(*) OVER ()::INTEGER` : integerLiteral(known);
    // The outer statement converts the ids of the page alone.
    const rows = await engine.rows(sql`
      SELECT replace(listing_id::VARCHAR, '-', '') AS id, total
      FROM   (SELECT listing_id, ${total} AS total ${from} ORDER BY ${key} NULLS LAST, place, listing_id
              LIMIT ${integerLiteral(limit)} OFFSET ${integerLiteral(offset)})`);
    const [first] = rows;
    return {
      total: first === undefined ? (known ?? (await countMatches(this.indexed, matches))) : integerIn(first, "total"),
      places: rows.map((row) => textIn(row, "id")),
    };
  }

  countValues(request: CountRequest): Promise<CountResult> {
    return countValues(this.indexed, request);
  }

  measureValues(request: MeasureRequest): Promise<MeasureResult> {
    return measureValues(this.indexed, request);
  }
}

/** Returns what a page is ordered by, and the rest of its statement from FROM on. */
function orderOf(order: PageOrder, matches: Sql, context: IndexContext): { readonly key: Sql; readonly from: Sql } {
  if (order.by === "sort") {
    const { attribute, isDescending } = sortKeys[order.sort];
    const value = attribute === "listed_at" ? ident(attribute) : numberOn(attribute, context);
    return { key: isDescending ? sql`-${value}` : value, from: matches };
  }
  const { dealers } = context;
  const distanceOf = dealers.distancesFrom(order.origin);
  const distances = dealers.ids.map((dealer) => integerLiteral(distanceOf(dealer)));
  const ids = dealers.ids.map((dealer) => integerLiteral(dealer));
  return {
    key: sql`distance`,
    from: sql`FROM (SELECT listing_id, place, dealer ${matches})
      JOIN (SELECT unnest([${join(ids)}]) AS dealer, unnest([${join(distances)}]) AS distance) USING (dealer)`,
  };
}
