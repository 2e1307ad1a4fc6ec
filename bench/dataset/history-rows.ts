/**
 * Exports a lake's past as flat rows for peers, in two forms: `history.parquet` has a row for each listing and day of a snapshot; `intervals.parquet`
 * and `past.parquet` have a row for each listing and interval, as the lake has. `events.parquet` has one for each first observation, sale and
 * price drop. `past` has the columns of a page, the others only those that trends of the suite filter, group and measure by.
 */
import { join as joinPath } from "node:path";
import { DuckDatabase } from "../../src/db/duckdb.ts";
import { join, literal, type Sql, sql } from "../../src/db/sql.ts";
import { viewsOf } from "../../src/lake/analyst/analyst-views.ts";
import { flatListings } from "../../src/lake/analyst/flat-listings.ts";
import type { Manifest } from "../../src/lake/manifest.ts";
import { activeOn, goneIn, intervalFiles, intervalRows, unorderedListings } from "../../src/lake/market.ts";
import { requireManifest } from "../../src/lake/published-lake.ts";
import { optionsByMake } from "../../src/serving/dimensions.ts";
import { type ColumnKind, peerColumns } from "./columns.ts";
import { flatColumnList, inPastOrder } from "./flat-rows.ts";

const category = "category";
const date = "date";
const integer = "integer";

const trended = { make: category, model: category, state: category, price: integer } as const;
const interval = { valid_from: date, valid_to: date } as const;

/** The relations of a lake's past, with the columns of each. An interval that still holds ends on `endless`. */
export const historyColumns = {
  history: { day: date, ...trended },
  intervals: { ...interval, ...trended },
  events: { event: category, day: date, make: category, model: category, state: category },
  past: {
    ...interval,
    ...peerColumns,
  },
} as const satisfies Readonly<Record<string, Readonly<Record<string, ColumnKind>>>>;

export type HistoryRelation = keyof typeof historyColumns;
export const historyRelations = [
  "history",
  "intervals",
  "events",
  "past",
] as const satisfies readonly HistoryRelation[];

/** The last day that all engines have. */
const endless = sql`DATE '2149-06-06'`;

/** Rows of `history` and `events` are sorted by day, those of intervals as the lake's are. */
const orders: Readonly<Record<HistoryRelation, Sql>> = {
  history: sql`"day", make, model`,
  intervals: sql`make, model, valid_from`,
  events: sql`"day", make, model`,
  past: sql`"position"`,
};

/** Writes `<relation>.parquet` into a folder for each relation of the past. */
export async function writeHistoryRows(lake: string, folder: string): Promise<void> {
  const manifest = await requireManifest(lake);
  const queries: Readonly<Record<HistoryRelation, Sql>> = {
    history: sql`SELECT snapshot_date AS "day", make, model, state, price FROM active_days`,
    intervals: sql`
      SELECT valid_from, coalesce(valid_to, ${endless}) AS valid_to, make, model, state, price
      FROM   (${everyInterval(manifest, lake)}) JOIN dealers USING (dealer_key)`,
    events: eventsQuery(manifest, lake),
    past: pastQuery(manifest, lake),
  };
  const database = await DuckDatabase.open({ temporaryFolder: joinPath(folder, "spilled") });
  try {
    await database.using(async (session) => {
      for (const view of viewsOf(manifest, lake)) await session.run(view);
      await session.run(sql`CREATE TABLE options_by_make AS ${optionsByMake}`);
      for (const relation of historyRelations) {
        const path = joinPath(folder, `${relation}.parquet`);
        await session.run(sql`
          COPY (${queries[relation]} ORDER BY ${orders[relation]}) TO ${literal(path)} (FORMAT parquet, COMPRESSION zstd)`);
      }
    });
  } finally {
    database.close();
  }
}

/** Selects the rows of all intervals of a lake, with `valid_from` and `valid_to`. */
function everyInterval(manifest: Manifest, lake: string): Sql {
  const [first = manifest.as_of] = Object.keys(manifest.days);
  return intervalRows(intervalFiles(manifest, first), lake, first, manifest.as_of);
}

/** Selects the intervals with all columns of a page. `position` is the order in which Carquet breaks ties on past days. */
function pastQuery(manifest: Manifest, lake: string): Sql {
  const extra = [sql`facts.valid_from`, sql`coalesce(facts.valid_to, ${endless}) AS valid_to`];
  return sql`
    SELECT valid_from, valid_to, ${flatColumnList}
    FROM   (${flatListings(inPastOrder(everyInterval(manifest, lake)), false, extra)}) AS facts`;
}

/** Selects the events of every listing, with its attributes as last observed. */
function eventsQuery(manifest: Manifest, lake: string): Sql {
  const { absent, sold } = manifest.tables;
  const options = { folder: lake, hasFeeds: false };
  const inventories = [activeOn(manifest, manifest.as_of), goneIn([...absent, ...sold])];
  const listings = join(
    inventories.map((inventory) => unorderedListings(inventory, options)),
    sql` UNION ALL `,
  );
  const attributes = sql`make, model, state`;
  const events = [
    sql`SELECT 'new_listings' AS event, listed_at::DATE AS "day", ${attributes} FROM facts`,
    sql`SELECT 'sold', sold_on_record, ${attributes} FROM facts WHERE sold_on_record IS NOT NULL`,
    sql`SELECT 'price_drops', change.changed_at::DATE, ${attributes} FROM (SELECT unnest(price_history) AS change, ${attributes} FROM facts)
        WHERE change.price < change.price_before`,
  ];
  return sql`
    WITH facts AS (FROM (${listings}) JOIN dealers USING (dealer_key))
    FROM (${join(events, sql` UNION ALL `)})`;
}
