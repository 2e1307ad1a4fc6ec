/**
 * Checks a published version: each file against its manifest, serving files included, keys against the dimensions, and states against the
 * claims that prove them.
 */
import { stat } from "node:fs/promises";
import { join as joinPath, resolve } from "node:path";
import { sha256Of } from "../../base/files.ts";
import { integerIn } from "../../base/json.ts";
import { messageOf } from "../../base/user-error.ts";
import { type DatabaseOptions, DuckDatabase } from "../../db/duckdb.ts";
import { ident, literal, type Sql, sql } from "../../db/sql.ts";
import { life } from "../../listing/life.ts";
import { rowsOfFiles } from "../file-rows.ts";
import type { LakeFile, Manifest, ServingFile } from "../manifest.ts";
import type { TableName } from "../tables.ts";
import { filesIn } from "../views.ts";

/** What is wrong with a version, in words; empty when nothing is. `onFile` is called as each file's turn comes. */
export async function verify(
  lake: string,
  manifest: Manifest,
  options: DatabaseOptions,
  onFile: (path: string, index: number, count: number) => void,
): Promise<readonly string[]> {
  const database = await DuckDatabase.open(options);
  const files = [...Object.values(manifest.tables).flat(), ...manifest.serving];
  const faults: string[] = [];
  try {
    for (const [index, file] of files.entries()) {
      onFile(file.path, index + 1, files.length);
      faults.push(...(await faultsOfFile(database, lake, file)));
    }
    return faults.length > 0 ? faults : await faultsOfRows(database, lake, manifest);
  } finally {
    database.close();
  }
}

async function faultsOfFile(
  database: DuckDatabase,
  lake: string,
  file: LakeFile | ServingFile,
): Promise<readonly string[]> {
  const path = joinPath(lake, file.path);
  try {
    const { size } = await stat(path);
    if (size !== file.bytes) return [`${file.path}: ${size} bytes, ${file.bytes} in the manifest`];
    if ((await sha256Of(path)) !== file.sha256)
      return [`${file.path}: its content is not that of the manifest (SHA-256)`];
    if (!("rows" in file)) return [];
    const counted = await database.using((session) =>
      session.row(sql`SELECT count(*)::INTEGER AS n FROM read_parquet(${literal(path)})`),
    );
    const rows = integerIn(counted, "n");
    return rows === file.rows ? [] : [`${file.path}: ${rows} rows, ${file.rows} in the manifest`];
  } catch (thrown) {
    return [`${file.path}: ${messageOf(thrown).split("\n")[0]}`];
  }
}

/** What must not be found in the rows of a version, and the query that finds it. */
function contradictions({ tables, keys, as_of }: Manifest, folder: string): Readonly<Record<string, Sql>> {
  const today = (table: TableName) => sql`(${rowsOfFiles(table, filesIn(tables, table, as_of), folder)})`;
  const whole = (table: TableName) => sql`(${rowsOfFiles(table, tables[table], folder)})`;
  const withDealer = (table: TableName) =>
    sql`(SELECT vin, dealer_id FROM ${today(table)} JOIN ${whole("dealers")} USING (dealer_key))`;
  const claims = (isOwner: Sql) => sql`(SELECT vin, dealer_id FROM ${today("claims")} WHERE ${isOwner})`;
  const unknownKey = (column: string, table: "builds" | "dealers") =>
    sql`FROM ${whole("snapshots")} WHERE ${ident(column)} NOT IN (SELECT ${ident(column)} FROM ${whole(table)})`;
  const once = (table: TableName) => sql`FROM (SELECT vin FROM ${today(table)} GROUP BY vin HAVING count(*) > 1)`;
  return {
    "listings without their build": unknownKey("build_key", "builds"),
    "listings without their dealer": unknownKey("dealer_key", "dealers"),
    "listings with a token beyond the greatest": sql`FROM ${whole("snapshots")}
      WHERE greatest(list_max(features), list_max(options_packages)) > ${keys.tokens}`,
    "tokens out of order": sql`FROM (SELECT token_key, row_number() OVER (ORDER BY token_key) AS place FROM ${whole("tokens")})
      WHERE token_key <> place`,
    "listings whose id is not 32 hexadecimal digits": sql`FROM (SELECT id FROM ${whole("snapshots")}
      UNION ALL SELECT id FROM ${whole("missing")} UNION ALL SELECT id FROM ${whole("sold")} UNION ALL SELECT id FROM ${whole("ended")})
      WHERE NOT coalesce(regexp_full_match(id, '[0-9a-f]{32}'), false)`,
    "VINs that are active twice": once("snapshots"),
    "VINs that are missing twice": once("missing"),
    "VINs both active and missing": sql`FROM ${today("missing")} WHERE vin IN (SELECT vin FROM ${today("snapshots")})`,
    "active listings that their dealer does not claim": sql`FROM (${withDealer("snapshots")} EXCEPT ${claims(sql`is_owner`)})`,
    "owners' claims without an active listing": sql`FROM (${claims(sql`is_owner`)} EXCEPT ${withDealer("snapshots")})`,
    "missing listings that somebody claims": sql`FROM ${today("missing")} WHERE vin IN (SELECT vin FROM ${claims(sql`true`)})`,
    "contending claims without their row": sql`FROM (${claims(sql`NOT is_owner`)} EXCEPT ${withDealer("contenders")})`,
    "sold listings too soon": sql`FROM ${whole("sold")}
      WHERE sold_date <> last_seen + 1 OR feeds_without < ${life.soldAfterFeeds} OR days_seen < ${life.soldSeenDays}
        OR sold_date > missing_since`,
  };
}

async function faultsOfRows(database: DuckDatabase, lake: string, manifest: Manifest): Promise<readonly string[]> {
  const faults: string[] = [];
  for (const [what, found] of Object.entries(contradictions(manifest, resolve(lake)))) {
    const counted = await database.using((session) => session.row(sql`SELECT count(*)::INTEGER AS n ${found}`));
    const n = integerIn(counted, "n");
    if (n > 0) faults.push(`${n} ${what}`);
  }
  return faults;
}
