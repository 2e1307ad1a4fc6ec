/** Splits a snapshot into two files by make, as ingest does with one of hundreds of thousands of listings. */
import { stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { sha256Of } from "../../../src/base/files.ts";
import { integerIn } from "../../../src/base/json.ts";
import { DuckDatabase } from "../../../src/db/duckdb.ts";
import { literal, sql } from "../../../src/db/sql.ts";
import { currentManifest, type LakeFile, manifestPath, manifestText } from "../../../src/lake/manifest.ts";

/** Replaces the file of ended intervals by one of the makes before `make` and one of all others. Returns the path of the second one. */
export async function splitSnapshot(lake: string, make: string): Promise<string> {
  const manifest = (await currentManifest(lake)) ?? assertPublished(lake);
  const [whole = assertPublished(lake)] = manifest.tables.snapshots;
  const parts = await splitFile(lake, whole, make);
  const tables = { ...manifest.tables, snapshots: parts };
  await writeFile(manifestPath(lake, manifest.version), manifestText({ ...manifest, tables }));
  return join(lake, parts[1]?.path ?? "");
}

async function splitFile(lake: string, whole: LakeFile, make: string): Promise<readonly LakeFile[]> {
  const database = await DuckDatabase.open({ threads: 1 });
  try {
    return await database.using(async (session) => {
      const parts: LakeFile[] = [];
      for (const condition of [sql`make < ${make}`, sql`make >= ${make}`]) {
        const path = whole.path.replace(/\.parquet$/, `-${parts.length}.parquet`);
        const target = join(lake, path);
        const rows = sql`FROM read_parquet(${literal(join(lake, whole.path))}, hive_partitioning = false) WHERE ${condition}`;
        await session.run(sql`COPY (${rows}) TO ${literal(target)} (FORMAT parquet)`);
        const [range = {}] = await session.rows(
          sql`SELECT count(*)::INTEGER AS rows, min(make) AS first, max(make) AS last FROM (${rows})`,
        );
        const [{ size }, sha256] = [await stat(target), await sha256Of(target)];
        const makes = { min: String(range.first), max: String(range.last) };
        parts.push({ ...whole, ...makes, path, rows: integerIn(range, "rows"), bytes: size, sha256 });
      }
      return parts;
    });
  } finally {
    database.close();
  }
}

function assertPublished(lake: string): never {
  throw new Error(`Lake ${lake} has no listings: expected a published version.`);
}
