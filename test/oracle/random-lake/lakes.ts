/** Creates lakes from random feeds. */
import assert from "node:assert/strict";
import { stat } from "node:fs/promises";
import { join as folderJoin } from "node:path";
import { sha256Of } from "../../../src/base/files.ts";
import { ident, join, literal, sql } from "../../../src/db/sql.ts";
import { currentManifest, type LakeFile } from "../../../src/lake/manifest.ts";
import { nextManifest, publish, withWriter } from "../../../src/lake/writer/writer.ts";
import { withServingFiles } from "../../../src/serving/files/build-serving-files.ts";
import { writeFeeds } from "../../support/lakes/feeds.ts";
import { createLake, type IngestedLake, ingestPath, temporaryFolder } from "../../support/lakes/lakes.ts";
import type { Scope } from "../../support/scope.ts";
import { type RandomFeedsExtent, randomFeeds } from "./feeds.ts";

/** Creates a lake from random feeds of many days, ingested at once. */
export async function createRandomLake(scope: Scope, extent: RandomFeedsExtent): Promise<IngestedLake> {
  const folder = await temporaryFolder(scope);
  for (const { day, feeds } of randomFeeds(extent)) await writeFeeds(folder, day, feeds);
  return createLake(scope, folder);
}

/** Ingests random feeds day by day; yields after each published day. */
export async function* growLake(
  scope: Scope,
  extent: RandomFeedsExtent,
): AsyncGenerator<{ lake: string; day: string }> {
  const folder = await temporaryFolder(scope);
  const lake = folderJoin(folder, "lake");
  for (const { day, feeds } of randomFeeds(extent)) {
    await ingestPath(lake, await writeFeeds(folderJoin(folder, "feeds"), day, feeds));
    yield { lake, day };
  }
}

/** Build columns that no order uses. */
const respelledColumns = ["version", "engine", "transmission", "body_type", "fuel_type", "assembly_location"];

/**
 * Creates a lake in which every other build has its values in capitals, written directly, because ingest keeps one
 * spelling per value.
 */
export async function createRespelledLake(scope: Scope, extent: RandomFeedsExtent): Promise<string> {
  const { lake } = await createRandomLake(scope, extent);
  await withWriter(lake, {}, async (writer) => {
    const published = (await currentManifest(lake)) ?? assert.fail("nothing is published");
    const builds: LakeFile[] = [];
    for (const file of published.tables.builds) {
      const path = file.path.replace(".parquet", "-9.parquet");
      const capitals = respelledColumns.map(
        (column) =>
          sql`CASE WHEN build_key % 2 = 0 THEN upper(${ident(column)}) ELSE ${ident(column)} END AS ${ident(column)}`,
      );
      await writer.session.run(sql`
        COPY (SELECT * REPLACE (${join(capitals)}) FROM read_parquet(${literal(folderJoin(lake, file.path))}) ORDER BY build_key)
        TO ${literal(folderJoin(lake, path))} (FORMAT parquet)`);
      const filePath = folderJoin(lake, path);
      builds.push({ ...file, path, bytes: (await stat(filePath)).size, sha256: await sha256Of(filePath) });
    }
    const next = nextManifest(writer, { ...published, tables: { ...published.tables, builds } }, published.as_of);
    await publish(lake, await withServingFiles(writer, { ...next, serving: [] }, "content"));
  });
  return lake;
}
