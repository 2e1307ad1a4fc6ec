/** Reads the folder of the published version as an engine that does not know manifests does, and compares it with the manifest. */
import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { DuckDatabase, type Session } from "../../../src/db/duckdb.ts";
import { literal, type Sql, sql } from "../../../src/db/sql.ts";
import { rowsOfFiles } from "../../../src/lake/derived-relations.ts";
import { currentManifest, type Manifest } from "../../../src/lake/manifest.ts";
import { type TableName, tableNames } from "../../../src/lake/tables.ts";

/** Returns the tables whose folder in `current`, read whole, has other rows than a version; the published one if none is given. */
export async function differingFolders(lake: string, version?: Manifest): Promise<readonly string[]> {
  const manifest = version ?? (await currentManifest(lake));
  if (manifest === undefined) throw new Error(`Lake ${lake} has no published version.`);
  const database = await DuckDatabase.open({ threads: 1 });
  try {
    return await database.using(async (session) => {
      const differing: string[] = [];
      for (const table of tableNames) if (!(await isWhole(session, lake, table, manifest))) differing.push(table);
      return differing;
    });
  } finally {
    database.close();
  }
}

async function isWhole(session: Session, lake: string, table: TableName, { tables }: Manifest): Promise<boolean> {
  const folder = join(resolve(lake), "current", table);
  if (tables[table].length === 0 || !existsSync(folder)) return tables[table].length === 0 && !existsSync(folder);
  const whole = sql`FROM read_parquet(${literal(join(folder, "**/*.parquet"))}, hive_partitioning = false)`;
  const found = await summary(session, whole);
  const expected = await summary(session, sql`FROM (${rowsOfFiles(table, tables[table], lake)})`);
  return found === expected;
}

/** Returns the number of rows and a sum of their hashes, which does not depend on their order. */
async function summary(session: Session, from: Sql): Promise<string> {
  return JSON.stringify(
    await session.row(sql`SELECT count(*)::INTEGER AS n, sum(hash(rows))::VARCHAR AS content ${from} AS rows`),
  );
}
