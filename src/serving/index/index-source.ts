/**
 * Listings in one or several search indexes: those of a past day, or sold ones. A page takes one statement, which counts the matches too: counting them
 * in a second statement takes longer.
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
import { countMatches, countValues, type IndexedListings, matchesIn, measureValues } from "./count-matches.ts";
import { type IndexContext, numberOn, overMatches } from "./where.ts";

export class IndexSource implements ListingSource {
  constructor(protected readonly indexed: IndexedListings) {}

  get count(): number {
    return this.indexed.count;
  }

  async findPage({ filters, order, limit, offset }: PageRequest): Promise<PageResult> {
    const { engine } = this.indexed;
    const parts = matchesIn(this.indexed, filters);
    if (parts.length === 0) return { total: 0, places: [] };
    const rows = join(
      parts.map(({ context, matches }) => {
        const listings = sql`SELECT *, ${sortValueIn(order, context)} AS sort_value ${overMatches(matches, context)}`;
        return parts.length === 1 ? listings : withPlaces(listings, context);
      }),
      sql` UNION ALL `,
    );
    // The outer statement converts the ids of the page alone.
    const page = await engine.rows(sql`
      SELECT replace(listing_id::VARCHAR, '-', '') AS id, total
      FROM   (SELECT listing_id, count(*) OVER ()::INTEGER AS total FROM (${rows})
              ORDER BY sort_value NULLS LAST, place, listing_id LIMIT ${integerLiteral(limit)} OFFSET ${integerLiteral(offset)})`);
    const [first] = page;
    return {
      total: first === undefined ? await countMatches(this.indexed, parts) : integerIn(first, "total"),
      places: page.map((row) => textIn(row, "id")),
    };
  }

  countValues(request: CountRequest): Promise<CountResult> {
    return countValues(this.indexed, request);
  }

  measureValues(request: MeasureRequest): Promise<MeasureResult> {
    return measureValues(this.indexed, request);
  }
}

/** Selects what a page needs of listings, with their places among all builds: those in an index compare within it alone. */
const withPlaces = (listings: Sql, { catalog }: IndexContext): Sql => sql`
  SELECT listing_id, sort_value, places.place
  FROM   (${listings}) AS listings
  JOIN   (SELECT build, build_places.place FROM ${ident(catalog, "builds")} JOIN build_places USING (build_key)) AS places USING (build)`;

/** Returns what a page is ordered by, as an integer in ascending order. */
function sortValueIn(order: PageOrder, context: IndexContext): Sql {
  if (order.by === "sort") {
    const { attribute, isDescending } = sortKeys[order.sort];
    const value = attribute === "listed_at" ? ident(attribute) : numberOn(attribute, context);
    return isDescending ? sql`-${value}` : value;
  }
  // Composite ids of dealers are consecutive.
  const { dealers } = context;
  const distanceOf = dealers.distancesFrom(order.origin);
  const distances = dealers.ids.map((dealer) => integerLiteral(distanceOf(dealer)));
  return sql`list_extract([${join(distances)}], dealer - ${integerLiteral((dealers.ids[0] ?? 0) - 1)})`;
}
