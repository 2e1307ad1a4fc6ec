/**
 * Verifies a published version: files against the manifest (size, SHA-256, row count), keys against the dimensions, and listing states
 * against claims. Reads only; repairs nothing.
 */
import { existsSync } from "node:fs";
import { stat } from "node:fs/promises";
import { join as joinPath, resolve } from "node:path";
import { sha256Of } from "../../base/files.ts";
import { integerIn } from "../../base/json.ts";
import { messageOf } from "../../base/user-error.ts";
import { type DatabaseOptions, DuckDatabase } from "../../db/duckdb.ts";
import { ident, integerLiteral, pathLiteral, type Sql, sql } from "../../db/sql.ts";
import { life } from "../../listing/life.ts";
import { rowsOfFiles } from "../file-rows.ts";
import { filesOf, type LakeFile, type Manifest, type ServingFile } from "../manifest.ts";
import type { TableName } from "../tables.ts";
import { filesIn } from "../views.ts";

/** Returns whether a version lists serving files and the lake has no folder of them, as a backup that leaves them out. */
export const lacksServingFiles = (lake: string, { serving }: Manifest): boolean =>
  serving.length > 0 && !existsSync(joinPath(lake, "serving"));

/**
 * Returns the faults of a version as messages; empty if there are none. Checks rows only if all files are intact, and no serving files if
 * the lake lacks their folder. Calls `onFile` before each file.
 */
export async function verify(
  lake: string,
  manifest: Manifest,
  options: DatabaseOptions,
  onFile: (path: string, index: number, count: number) => void,
): Promise<readonly string[]> {
  const database = await DuckDatabase.open(options);
  const files = filesOf(lacksServingFiles(lake, manifest) ? { ...manifest, serving: [] } : manifest);
  const faults: string[] = [];
  try {
    for (const [index, file] of files.entries()) {
      onFile(file.path, index + 1, files.length);
      faults.push(...(await checkFile(database, lake, file)));
    }
    return faults.length > 0 ? faults : await checkRows(database, lake, manifest);
  } finally {
    database.close();
  }
}

async function checkFile(
  database: DuckDatabase,
  lake: string,
  file: LakeFile | ServingFile,
): Promise<readonly string[]> {
  const path = joinPath(lake, file.path);
  try {
    const { size } = await stat(path);
    if (size !== file.bytes) return [`${file.path}: ${size} bytes: expected ${file.bytes}`];
    if ((await sha256Of(path)) !== file.sha256) return [`${file.path}: wrong SHA-256: expected ${file.sha256}`];
    if (!("rows" in file)) return [];
    const counted = await database.using((session) =>
      session.row(
        sql`SELECT count(*)::INTEGER AS n FROM read_parquet(${pathLiteral(path)}, hive_partitioning = false)`,
      ),
    );
    const rows = integerIn(counted, "n");
    return rows === file.rows ? [] : [`${file.path}: ${rows} rows: expected ${file.rows}`];
  } catch (thrown) {
    return [`${file.path}: ${existsSync(path) ? messageOf(thrown).split("\n")[0] : "missing: expected the file"}`];
  }
}

/** Returns, for each violated invariant, its name and a FROM clause that selects the violating rows. */
function invariantViolations({ tables, keys, as_of }: Manifest, folder: string): Readonly<Record<string, Sql>> {
  const current = (table: TableName) => sql`(${rowsOfFiles(table, filesIn(tables, table, as_of), folder)})`;
  const all = (table: TableName) => sql`(${rowsOfFiles(table, tables[table], folder)})`;
  const withDealer = (table: TableName) =>
    sql`(SELECT vin, dealer_id FROM ${current(table)} JOIN ${all("dealers")} USING (dealer_key))`;
  const claims = (isOwner: Sql) => sql`(SELECT vin, dealer_id FROM ${current("claims")} WHERE ${isOwner})`;
  const unknownKey = (column: string, table: "builds" | "dealers") =>
    sql`FROM ${all("snapshots")} WHERE ${ident(column)} NOT IN (SELECT ${ident(column)} FROM ${all(table)})`;
  const duplicateVins = (table: TableName) =>
    sql`FROM (SELECT vin FROM ${current(table)} GROUP BY vin HAVING count(*) > 1)`;
  return {
    "listings whose build does not exist": unknownKey("build_key", "builds"),
    "listings whose dealer does not exist": unknownKey("dealer_key", "dealers"),
    "listings with a token key above the greatest": sql`FROM ${all("snapshots")}
      WHERE greatest(list_max(features), list_max(options_packages)) > ${keys.tokens}`,
    "token keys that are not contiguous from 1": sql`FROM (SELECT token_key, row_number() OVER (ORDER BY token_key) AS expected_key FROM ${all("tokens")})
      WHERE token_key <> expected_key`,
    "listings whose id is not 32 hexadecimal digits": sql`FROM (SELECT id FROM ${all("snapshots")}
      UNION ALL SELECT id FROM ${all("missing")} UNION ALL SELECT id FROM ${all("sold")} UNION ALL SELECT id FROM ${all("ended")})
      WHERE NOT coalesce(regexp_full_match(id, '[0-9a-f]{32}'), false)`,
    "VINs with two active listings": duplicateVins("snapshots"),
    "VINs with two missing listings": duplicateVins("missing"),
    "VINs that are both active and missing": sql`FROM ${current("missing")} WHERE vin IN (SELECT vin FROM ${current("snapshots")})`,
    "active listings without a claim of their owner": sql`FROM (${withDealer("snapshots")} EXCEPT ${claims(sql`is_owner`)})`,
    "owners' claims without an active listing": sql`FROM (${claims(sql`is_owner`)} EXCEPT ${withDealer("snapshots")})`,
    "missing listings whose VIN is claimed": sql`FROM ${current("missing")} WHERE vin IN (SELECT vin FROM ${claims(sql`true`)})`,
    "contenders without a row": sql`FROM (${claims(sql`NOT is_owner`)} EXCEPT ${withDealer("contenders")})`,
    "listings sold too early": sql`FROM ${all("sold")}
      WHERE sold_date <> last_seen + 1 OR feeds_without < ${life.soldAfterFeeds} OR days_seen < ${life.soldSeenDays}
        OR sold_date > missing_since OR sold_on_record < last_seen + ${integerLiteral(life.soldAfterDays)}`,
  };
}

async function checkRows(database: DuckDatabase, lake: string, manifest: Manifest): Promise<readonly string[]> {
  const faults: string[] = [];
  for (const [violation, rows] of Object.entries(invariantViolations(manifest, resolve(lake)))) {
    const counted = await database.using((session) => session.row(sql`SELECT count(*)::INTEGER AS n ${rows}`));
    const n = integerIn(counted, "n");
    if (n > 0) faults.push(`${n} ${violation}`);
  }
  return faults;
}
