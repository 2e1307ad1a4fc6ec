/**
 * The lake's listings as flat rows in Parquet, one file for each kind of listing that is asked about: what peers hold. A row has all
 * that a page shows, expansions included, so that no peer has to join for it, and `position`, its place in the lake's own order, which
 * settles ties.
 */
import { join as joinPath } from "node:path";
import { plusDays } from "../../src/base/day.ts";
import { UserError } from "../../src/base/user-error.ts";
import { DuckDatabase } from "../../src/db/duckdb.ts";
import { ident, join, literal, type Sql, sql } from "../../src/db/sql.ts";
import { flatListings } from "../../src/lake/flat-listings.ts";
import { currentManifest, type LakeFile, type Manifest } from "../../src/lake/manifest.ts";
import { servedColumns } from "../../src/lake/served-columns.ts";
import { filesIn, viewsOf, withRowNumbers } from "../../src/lake/views.ts";
import { optionsByMake } from "../../src/serving/dimensions.ts";
import { columns } from "./columns.ts";

/** What can be asked about: today's listings, those of a past day, and those that were sold. */
export const relations = ["active", "snapshot", "sold"] as const;
export type Relation = (typeof relations)[number];

/** The day of the snapshot that is asked about: three days back, or the oldest there is. */
export function snapshotDay({ as_of, tables }: Manifest): string {
  const days = [...new Set(tables.snapshots.map((file) => file.partition ?? as_of))].sort();
  return days.findLast((day) => day <= plusDays(as_of, -3)) ?? days[0] ?? as_of;
}

/** The manifest of what is published in a lake. */
export async function manifestOf(lake: string): Promise<Manifest> {
  const manifest = await currentManifest(lake);
  if (manifest === undefined) throw new UserError(`${lake}: nothing is published.`);
  return manifest;
}

const served: Readonly<Record<string, Sql>> = {
  position: sql`row_number`,
  price_history: sql`to_json(${servedColumns.price_history})::VARCHAR`,
  options: sql`to_json(coalesce(list_filter(
    (SELECT known.options FROM options_by_make AS known WHERE known.make = facts.make),
    lambda option: list_contains(facts.options_packages, option.code)), []))::VARCHAR`,
};

/** Writes the flat rows of each relation. */
export async function writeFlat(lake: string, folder: string): Promise<void> {
  const manifest = await manifestOf(lake);
  const files: Readonly<Record<Relation, readonly LakeFile[]>> = {
    active: filesIn(manifest.tables, "snapshots", manifest.as_of),
    snapshot: filesIn(manifest.tables, "snapshots", snapshotDay(manifest)),
    sold: manifest.tables.sold,
  };
  const database = await DuckDatabase.open({ temporaryFolder: joinPath(folder, "spilled") });
  await database.using(async (session) => {
    for (const view of viewsOf(manifest, lake)) await session.run(view);
    await session.run(sql`CREATE TABLE options_by_make AS ${optionsByMake}`);
    const columnList = join(
      Object.keys(columns).map((column) => sql`${served[column] ?? ident(column)} AS ${ident(column)}`),
    );
    for (const relation of relations) {
      const path = joinPath(folder, `${relation}.parquet`);
      await session.run(sql`
        COPY (SELECT ${columnList} FROM (${flatListings(withRowNumbers(files[relation], lake))}) AS facts ORDER BY "position")
        TO ${literal(path)} (FORMAT parquet, COMPRESSION zstd)`);
    }
  });
  database.close();
}
