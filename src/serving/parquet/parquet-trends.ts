/**
 * Trend source over Parquet files: one statement reads every listing that can have an event in the requested windows. Levels are measured day by day.
 *
 * Requires the in-memory tables of an open `LakeVersion`.
 */
import { integerIn, type Row, textIn } from "../../base/json.ts";
import { integerLiteral, join, literal, type Sql, sql } from "../../db/sql.ts";
import type { LakeFile, Manifest } from "../../lake/manifest.ts";
import { activeOn, goneIn, type Inventory, unorderedListings } from "../../lake/market.ts";
import type { CountedName } from "../../listing/schema.ts";
import type { ListingSource } from "../../listing/source.ts";
import type {
  EventCount,
  EventRequest,
  EventWindow,
  Level,
  LevelRequest,
  ListingEvent,
  TrendSource,
} from "../../listing/trend-source.ts";
import type { Dimensions } from "../dimensions.ts";
import { soldFilesSince } from "../listing-files.ts";
import { valueRows } from "./counting.ts";
import { measureLevelsByDay } from "./daily-levels.ts";
import { ParquetSource } from "./parquet-source.ts";
import { filesMatching } from "./pruning.ts";
import { fromMatches } from "./where.ts";

/** The day or days of an event, over a row of listings. */
const eventDays: Readonly<Record<ListingEvent, Sql>> = {
  new_listings: sql`listed_at::DATE`,
  sold: sql`sold_on_record`,
  price_drops: sql`unnest(list_transform(list_filter(price_history, lambda change: change.price < change.price_before),
    lambda change: change.changed_at::DATE))`,
};

export class ParquetTrends implements TrendSource {
  /** `rowsFrom` runs a query on files and the tables of the version. */
  constructor(
    private readonly manifest: Manifest,
    private readonly folder: string,
    private readonly dimensions: Dimensions,
    private readonly rowsFrom: (files: readonly LakeFile[], query: Sql) => Promise<readonly Row[]>,
  ) {}

  measureLevels(request: LevelRequest): Promise<readonly Level[]> {
    const sourceOn = (day: string): ListingSource => {
      const active = activeOn(this.manifest, day);
      const inventory = { ...active, files: filesMatching(active.files, request.filters, this.dimensions) };
      return new ParquetSource(inventory, this.folder, this.dimensions, (query) =>
        this.rowsFrom(inventory.files, query),
      );
    };
    return measureLevelsByDay(sourceOn, request);
  }

  async countEvents({ windows, filters, attribute, keys }: EventRequest): Promise<readonly EventCount[]> {
    if (windows.length === 0) return [];
    const events = [...new Set(windows.map(({ event }) => event))];
    const reads = events.map((event) => {
      const span = spanOf(windows.filter((window) => window.event === event));
      const inventories = this.candidatesOf(event, span.start).map((inventory) => ({
        ...inventory,
        files: filesMatching(inventory.files, filters, this.dimensions),
      }));
      const options = { folder: this.folder, hasDeliveries: false };
      const listings = join(
        inventories.map((inventory) => unorderedListings(inventory, options)),
        sql` UNION ALL `,
      );
      const matches = fromMatches(listings, filters, this.dimensions);
      const files = inventories.flatMap((inventory) => inventory.files);
      return { files, query: dailyCounts(matches, { event, ...span }, attribute, keys) };
    });
    const files = [...new Set(reads.flatMap((read) => read.files))];
    const queries = reads.map(({ query }) => query);
    const rows = await this.rowsFrom(files, windowStatement(queries, windows));
    return rows.map((row) => ({
      window: integerIn(row, "ordinal"),
      key: textIn(row, "key"),
      count: integerIn(row, "count"),
    }));
  }

  /** Returns the listings that can have an event on a day or later: all in their newest state but those that left before the day's month. */
  private candidatesOf(event: ListingEvent, day: string): readonly Inventory[] {
    const { manifest } = this;
    if (event === "sold") return [goneIn(soldFilesSince(manifest, day))];
    const month = day.slice(0, "YYYY-MM".length);
    const { missing, sold } = manifest.tables;
    const left = [...missing, ...sold].filter(({ partition }) => (partition ?? "") >= month);
    return [activeOn(manifest, manifest.as_of), goneIn(left)];
  }
}

/** Returns the smallest range of days that contains all windows. */
const spanOf = (windows: readonly EventWindow[]): { readonly start: string; readonly end: string } => ({
  start: windows.map(({ start }) => start).sort()[0] ?? "",
  end:
    windows
      .map(({ end }) => end)
      .sort()
      .at(-1) ?? "",
});

/** The identity of a value: spellings that differ in case are one value. */
const valueKey = sql`lower(value::VARCHAR)`;

/** Returns a query for the events of one kind by `event_day` and `key`. `matches` is a FROM clause. */
function dailyCounts(
  matches: Sql,
  { event, start, end }: EventWindow,
  attribute: CountedName | undefined,
  keys: readonly string[],
): Sql {
  const isCounted = attribute === undefined ? sql`` : sql`AND ${valueKey} IN (SELECT unnest(${keys}))`;
  return sql`(
    WITH matches AS (SELECT *, ${eventDays[event]} AS event_day ${matches})
    SELECT ${literal(event)} AS event, event_day, ${valueKey} AS "key", count(*) AS events
    FROM   (${valueRows(attribute, [sql`event_day`])})
    WHERE  event_day BETWEEN ${start}::DATE AND ${end}::DATE ${isCounted} GROUP BY ALL)`;
}

/** Returns a query for the number of events in each window: `ordinal`, `key` and `count`. */
function windowStatement(queries: readonly Sql[], windows: readonly EventWindow[]): Sql {
  const rows = windows.map(
    ({ event, start, end }, index) =>
      sql`(${integerLiteral(index)}, ${literal(event)}, DATE ${literal(start)}, DATE ${literal(end)})`,
  );
  return sql`
    WITH daily AS (${join(queries, sql` UNION ALL `)}),
    windows(ordinal, event, first_day, last_day) AS (VALUES ${join(rows)})
    SELECT ordinal, "key", sum(events)::INTEGER AS "count"
    FROM   windows JOIN daily ON daily.event = windows.event AND event_day BETWEEN first_day AND last_day
    GROUP BY ordinal, "key"`;
}
