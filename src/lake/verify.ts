/** Checks a published version: each file against its manifest, and each listing's keys against the dimensions. */
import { stat } from "node:fs/promises";
import { join as joinPath, resolve } from "node:path";
import { messageOf } from "../base/failure.ts";
import { sha256Of } from "../base/files.ts";
import { integerIn } from "../base/json.ts";
import { literal, name, sql } from "../base/sql.ts";
import { Database, type DatabaseOptions } from "./duckdb.ts";
import type { TableName } from "./layout.ts";
import type { LakeFile, Manifest } from "./manifest.ts";
import { filesIn, rowsOfFiles } from "./views.ts";

/** What is wrong with a version, in words; empty when nothing is. `onFile` is called as each file's turn comes. */
export async function verify(
  lake: string,
  manifest: Manifest,
  options: DatabaseOptions,
  onFile: (path: string, index: number, count: number) => void,
): Promise<readonly string[]> {
  const database = await Database.open(options);
  const files = Object.values(manifest.tables).flat();
  const faults: string[] = [];
  try {
    for (const [index, file] of files.entries()) {
      onFile(file.path, index + 1, files.length);
      faults.push(...(await faultsOfFile(database, lake, file)));
    }
    return faults.length > 0 ? faults : await faultsOfKeys(database, lake, manifest);
  } finally {
    database.close();
  }
}

async function faultsOfFile(database: Database, lake: string, file: LakeFile): Promise<readonly string[]> {
  const path = joinPath(lake, file.path);
  try {
    const { size } = await stat(path);
    if (size !== file.bytes) return [`${file.path}: ${size} bytes, ${file.bytes} in the manifest`];
    if ((await sha256Of(path)) !== file.sha256)
      return [`${file.path}: its content is not that of the manifest (SHA-256)`];
    const counted = await database.using((session) =>
      session.row(sql`SELECT count(*)::INTEGER AS n FROM read_parquet(${literal(path)})`),
    );
    const rows = integerIn(counted, "n");
    return rows === file.rows ? [] : [`${file.path}: ${rows} rows, ${file.rows} in the manifest`];
  } catch (thrown) {
    return [`${file.path}: ${messageOf(thrown).split("\n")[0]}`];
  }
}

/** Listings whose keys lead nowhere, VINs that are active twice or both active and missing, keys beyond the manifest's maximum. */
async function faultsOfKeys(
  database: Database,
  lake: string,
  { tables, keys, as_of }: Manifest,
): Promise<readonly string[]> {
  const folder = resolve(lake);
  const today = (table: TableName) => rowsOfFiles(table, filesIn(tables, table, as_of), folder);
  const whole = (table: TableName) => rowsOfFiles(table, tables[table], folder);
  const listings = sql`SELECT id, vin, build_key, dealer_key, features, options_packages FROM (${whole("snapshots")})`;
  const unknownKey = (column: string, table: "builds" | "dealers") =>
    sql`SELECT count(*)::INTEGER AS n FROM (${listings}) WHERE ${name(column)} NOT IN (SELECT ${name(column)} FROM (${whole(table)}))`;
  const checks = {
    "listings without their build": unknownKey("build_key", "builds"),
    "listings without their dealer": unknownKey("dealer_key", "dealers"),
    "listings with a token beyond the greatest": sql`SELECT count(*)::INTEGER AS n FROM (${listings})
      WHERE greatest(list_max(features), list_max(options_packages)) > ${keys.tokens}`,
    "VINs that are active twice": sql`SELECT count(*)::INTEGER AS n FROM
      (SELECT vin FROM (${today("snapshots")}) GROUP BY vin HAVING count(*) > 1)`,
    "VINs both active and missing": sql`SELECT count(*)::INTEGER AS n FROM (${today("missing")})
      WHERE vin IN (SELECT vin FROM (${today("snapshots")}))`,
    "tokens out of order": sql`SELECT count(*)::INTEGER AS n FROM
      (SELECT token_key, row_number() OVER (ORDER BY token_key) AS place FROM (${whole("tokens")})) WHERE token_key <> place`,
  };
  const faults: string[] = [];
  for (const [what, query] of Object.entries(checks)) {
    const n = integerIn(await database.using((session) => session.row(query)), "n");
    if (n > 0) faults.push(`${n} ${what}`);
  }
  return faults;
}
