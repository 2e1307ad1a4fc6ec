/**
 * Exports a lake's past as flat rows for peers: `history.parquet` has a row for each listing and day of a snapshot, `events.parquet` one
 * for each first observation, sale and price drop. Both have only the columns that trends of the suite filter, group and measure by.
 */
import { join as joinPath } from "node:path";
import { DuckDatabase } from "../../src/db/duckdb.ts";
import { join, literal, type Sql, sql } from "../../src/db/sql.ts";
import { viewsOf } from "../../src/lake/analyst-views.ts";
import type { Manifest } from "../../src/lake/manifest.ts";
import { activeOn, goneIn, unorderedListings } from "../../src/lake/market.ts";
import type { ColumnKind } from "./columns.ts";
import { publishedManifest } from "./flat-rows.ts";

const [category, date] = ["category", "date"] as const satisfies readonly ColumnKind[];

/** The relations of a lake's past, with the columns of each. */
export const historyColumns = {
  history: { day: date, make: category, model: category, state: category, price: "integer" },
  events: { event: category, day: date, make: category, model: category, state: category },
} as const satisfies Readonly<Record<string, Readonly<Record<string, ColumnKind>>>>;

export type HistoryRelation = keyof typeof historyColumns;
export const historyRelations = ["history", "events"] as const satisfies readonly HistoryRelation[];

/** Writes `history.parquet` and `events.parquet` into a folder. Rows are sorted by day, make and model. */
export async function writeHistoryRows(lake: string, folder: string): Promise<void> {
  const manifest = await publishedManifest(lake);
  const queries: Readonly<Record<HistoryRelation, Sql>> = {
    history: historyQuery,
    events: eventsQuery(manifest, lake),
  };
  const database = await DuckDatabase.open({ temporaryFolder: joinPath(folder, "spilled") });
  try {
    await database.using(async (session) => {
      for (const view of viewsOf(manifest, lake)) await session.run(view);
      for (const relation of historyRelations) {
        const path = joinPath(folder, `${relation}.parquet`);
        await session.run(sql`
          COPY (${queries[relation]} ORDER BY "day", make, model) TO ${literal(path)} (FORMAT parquet, COMPRESSION zstd)`);
      }
    });
  } finally {
    database.close();
  }
}

const historyQuery = sql`SELECT snapshot_date AS "day", make, model, state, price FROM active_days`;

/** Selects the events of every listing, with its attributes as last observed. */
function eventsQuery(manifest: Manifest, lake: string): Sql {
  const { missing, sold } = manifest.tables;
  const options = { folder: lake, hasDeliveries: false };
  const inventories = [activeOn(manifest, manifest.as_of), goneIn([...missing, ...sold])];
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
