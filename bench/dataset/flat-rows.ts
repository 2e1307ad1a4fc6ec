/**
 * Exports a lake's listings as flat rows, one Parquet file for each relation. A row has every column of a page, expansions included, so
 * that no peer needs a join, and `position`, its position in the lake's own order, which breaks ties.
 */
import { join as joinPath } from "node:path";
import { plusDays } from "../../src/base/day.ts";
import { DuckDatabase } from "../../src/db/duckdb.ts";
import { ident, join, literal, type Sql, sql } from "../../src/db/sql.ts";
import { viewsOf } from "../../src/lake/analyst/analyst-views.ts";
import { flatListings } from "../../src/lake/analyst/flat-listings.ts";
import type { Manifest } from "../../src/lake/manifest.ts";
import { activeOn, goneIn, positionedListings, unorderedListings } from "../../src/lake/market.ts";
import { requireManifest } from "../../src/lake/published-lake.ts";
import { servedColumns } from "../../src/lake/served-columns.ts";
import { optionsByMake } from "../../src/serving/dimensions.ts";
import { peerColumns } from "./columns.ts";

/** Active listings, the active listings of a past day, and sold listings. */
export const relations = ["active", "snapshot", "sold"] as const;
export type Relation = (typeof relations)[number];

/** Returns the day of the relation `snapshot`: the last one at least three days before the as-of date, else the oldest one. */
export function snapshotDay({ as_of, days: published }: Manifest): string {
  const days = Object.keys(published);
  return days.findLast((day) => day <= plusDays(as_of, -3)) ?? days[0] ?? as_of;
}

/** Columns whose flat value is not simply the column of the same name. */
const columnExpressions: Readonly<Record<string, Sql>> = {
  position: sql`row_number`,
  price_history: sql`to_json(${servedColumns.price_history})::VARCHAR`,
  options: sql`to_json(coalesce(list_filter(
    (SELECT known.options FROM options_by_make AS known WHERE known.make = facts.make),
    lambda option: list_contains(facts.options_packages, option.code)), []))::VARCHAR`,
};

/** The columns of the flat rows, over `facts`: flat listings with `row_number`. Requires the table `options_by_make`. */
export const flatColumnList: Sql = join(
  Object.keys(peerColumns).map((column) => sql`${columnExpressions[column] ?? ident(column)} AS ${ident(column)}`),
);

/** Writes `<relation>.parquet` into a folder for each relation. */
export async function writeFlatRows(lake: string, folder: string): Promise<void> {
  const manifest = await requireManifest(lake);
  const options = { folder: lake, hasFeeds: false };
  const listings: Readonly<Record<Relation, Sql>> = {
    active: positionedListings(activeOn(manifest, manifest.as_of), options),
    snapshot: inPastOrder(unorderedListings(activeOn(manifest, snapshotDay(manifest)), options)),
    sold: inPastOrder(unorderedListings(goneIn(manifest.tables.sold), options)),
  };
  const database = await DuckDatabase.open({ temporaryFolder: joinPath(folder, "spilled") });
  await database.using(async (session) => {
    for (const view of viewsOf(manifest, lake)) await session.run(view);
    await session.run(sql`CREATE TABLE options_by_make AS ${optionsByMake}`);
    for (const relation of relations) {
      const path = joinPath(folder, `${relation}.parquet`);
      await session.run(sql`
        COPY (SELECT ${flatColumnList} FROM (${flatListings(listings[relation], false)}) AS facts ORDER BY "position")
        TO ${literal(path)} (FORMAT parquet, COMPRESSION zstd)`);
    }
  });
  database.close();
}

/** Adds `row_number` to rows of past days or of sold listings, in the order in which Carquet breaks their ties. Requires the view `builds`. */
export const inPastOrder = (rows: Sql): Sql => sql`
  SELECT rows_of_past.*, row_number() OVER (ORDER BY make, model, year, build_trim, id) - 1 AS row_number
  FROM   (${rows}) AS rows_of_past JOIN (SELECT build_key, trim AS build_trim FROM builds) USING (build_key)`;
