/** Lakes of random markets. */
import assert from "node:assert/strict";
import { stat } from "node:fs/promises";
import { join as folderJoin } from "node:path";
import { sha256Of } from "../../../src/base/files.ts";
import { ident, join, literal, sql } from "../../../src/db/sql.ts";
import { currentManifest, type LakeFile } from "../../../src/lake/manifest.ts";
import { nextManifest, publish, withWriter } from "../../../src/lake/writer/writer.ts";
import { withServingFiles } from "../../../src/serving/build-serving-files.ts";
import { deliver } from "../../support/lakes/feeds.ts";
import { type Filled, ingestPath, lakeOf, temporaryFolder } from "../../support/lakes/lakes.ts";
import type { Scope } from "../../support/scope.ts";
import { type RandomMarketExtent, variedFeeds } from "./feeds.ts";

/** A lake that a random market of many days was ingested into at once. */
export async function variedLake(scope: Scope, extent: RandomMarketExtent): Promise<Filled> {
  const folder = await temporaryFolder(scope);
  for (const { day, feeds } of variedFeeds(extent)) await deliver(folder, day, feeds);
  return lakeOf(scope, folder);
}

/** A lake into which a random market is ingested day by day; yields after each day that was published. */
export async function* growingLake(
  scope: Scope,
  extent: RandomMarketExtent,
): AsyncGenerator<{ lake: string; day: string }> {
  const folder = await temporaryFolder(scope);
  const lake = folderJoin(folder, "lake");
  for (const { day, feeds } of variedFeeds(extent)) {
    await ingestPath(lake, await deliver(folderJoin(folder, "feeds"), day, feeds));
    yield { lake, day };
  }
}

/** Columns of builds whose spelling is no part of an order. */
const respelled = ["version", "engine", "transmission", "body_type", "fuel_type", "assembly_location"];

/** A varied lake in which every other build spells its values in capitals: this release ingests one spelling of a value alone. */
export async function respelledLake(scope: Scope, extent: RandomMarketExtent): Promise<string> {
  const { lake } = await variedLake(scope, extent);
  await withWriter(lake, {}, async (writer) => {
    const published = (await currentManifest(lake)) ?? assert.fail("nothing is published");
    const builds: LakeFile[] = [];
    for (const file of published.tables.builds) {
      const path = file.path.replace(".parquet", "-9.parquet");
      const capitals = respelled.map(
        (column) =>
          sql`CASE WHEN build_key % 2 = 0 THEN upper(${ident(column)}) ELSE ${ident(column)} END AS ${ident(column)}`,
      );
      await writer.session.run(sql`
        COPY (SELECT * REPLACE (${join(capitals)}) FROM read_parquet(${literal(folderJoin(lake, file.path))}) ORDER BY build_key)
        TO ${literal(folderJoin(lake, path))} (FORMAT parquet)`);
      const written = folderJoin(lake, path);
      builds.push({ ...file, path, bytes: (await stat(written)).size, sha256: await sha256Of(written) });
    }
    const next = nextManifest(writer, { ...published, tables: { ...published.tables, builds } }, published.as_of);
    await publish(lake, await withServingFiles(writer, { ...next, serving: [] }, "content"));
  });
  return lake;
}
