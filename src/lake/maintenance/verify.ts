/**
 * Verifies a published version: files against the manifest (size, SHA-256, row count), keys against the dimensions, listing states against each
 * other, and the version's folder with its Iceberg metadata against the manifest. Reads only; repairs nothing.
 */
import { existsSync } from "node:fs";
import { join as joinPath, resolve } from "node:path";
import { integerIn } from "../../base/json.ts";
import { messageOf } from "../../base/user-error.ts";
import { type DatabaseOptions, DuckDatabase } from "../../db/duckdb.ts";
import { ident, integerLiteral, join, literal, pathLiteral, type Sql, sql } from "../../db/sql.ts";
import { life } from "../../listing/lifecycle-rules.ts";
import { tokensNames } from "../../listing/schema.ts";
import { publishedDays } from "../analyst/analyst-views.ts";
import { rowsOfFiles } from "../derived-relations.ts";
import { fileFault } from "../listed-file.ts";
import { filesOf, type LakeFile, type Manifest, type ServingFile } from "../manifest.ts";
import { filesIn } from "../market.ts";
import { openPartition, type TableName } from "../tables.ts";
import { versionFolderFaults } from "../writer/version-folder.ts";

/** Returns whether a version lists serving files and the lake has no folder of them, as a backup that leaves them out. */
export const lacksServingFiles = (lake: string, { serving }: Manifest): boolean =>
  serving.length > 0 && !existsSync(joinPath(lake, "serving"));

/**
 * Returns the faults of a version as messages; empty if there are none. Checks rows and the version's folder only if all files are
 * intact. Skips serving files if the lake has no folder of them. Calls `onFile` before each file.
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
    if (faults.length === 0) faults.push(...(await checkRows(database, lake, manifest)));
    if (faults.length > 0) return faults;
    return await versionFolderFaults(lake, manifest);
  } finally {
    database.close();
  }
}

async function checkFile(
  database: DuckDatabase,
  lake: string,
  file: LakeFile | ServingFile,
): Promise<readonly string[]> {
  const fault = await fileFault(lake, file, "content").catch((thrown: unknown) => messageOf(thrown));
  if (fault !== undefined) return [fault];
  if (!("rows" in file)) return [];
  const path = joinPath(lake, file.path);
  try {
    const counted = await database.using((session) =>
      session.row(
        sql`SELECT count(*)::INTEGER AS n FROM read_parquet(${pathLiteral(path)}, hive_partitioning = false)`,
      ),
    );
    const rows = integerIn(counted, "n");
    return rows === file.rows ? [] : [`${file.path}: ${rows} rows: expected ${file.rows}`];
  } catch (thrown) {
    return [`${file.path}: ${messageOf(thrown).split("\n")[0]}`];
  }
}

/** Relations of a version that its invariants refer to. */
function relationsOf({ tables }: Manifest, folder: string) {
  const all = (table: TableName) => sql`(${rowsOfFiles(table, tables[table], folder)})`;
  return {
    all,
    intervals: sql`(${rowsOfFiles("listings", [...tables.listings, ...tables.past_listings], folder)})`,
    open: (table: TableName) => sql`(${rowsOfFiles(table, filesIn(tables[table], openPartition), folder)})`,
    withDealer: (rows: Sql) =>
      sql`(SELECT vin, dealer_id FROM ${rows} AS listings JOIN ${all("dealers")} AS dealers USING (dealer_key))`,
  };
}

/** The greatest token key of each list of a listing. */
const greatestTokens = join(tokensNames.map((list) => sql`list_max(${ident(list)})`));

/** Returns, for each violated invariant, its name and a FROM clause that selects the violating rows. */
function invariantViolations(manifest: Manifest, folder: string): Readonly<Record<string, Sql>> {
  const { all, intervals, open, withDealer } = relationsOf(manifest, folder);
  const unknownKey = (column: string, table: "builds" | "dealers") =>
    sql`FROM ${intervals} WHERE ${ident(column)} NOT IN (SELECT ${ident(column)} FROM ${all(table)})`;
  const duplicateVins = (rows: Sql) => sql`FROM (SELECT vin FROM ${rows} GROUP BY vin HAVING count(*) > 1)`;
  return {
    "listings whose build does not exist": unknownKey("build_key", "builds"),
    "listings whose dealer does not exist": unknownKey("dealer_key", "dealers"),
    "listings with a token key above the greatest": sql`FROM ${intervals}
      WHERE greatest(${greatestTokens}) > ${manifest.keys.tokens}`,
    "token keys that are not contiguous from 1": sql`FROM (SELECT token_key, row_number() OVER (ORDER BY token_key) AS expected_key FROM ${all("tokens")})
      WHERE token_key <> expected_key`,
    "listings whose id is not 32 hexadecimal digits": sql`FROM (SELECT id FROM ${intervals}
      UNION ALL SELECT id FROM ${all("absent")} UNION ALL SELECT id FROM ${all("sold")})
      WHERE NOT coalesce(regexp_full_match(id, '[0-9a-f]{32}'), false)`,
    "VINs with two active listings": duplicateVins(all("listings")),
    "VINs with two missing listings": duplicateVins(open("absent")),
    "VINs that are both active and missing": sql`FROM ${open("absent")} WHERE vin IN (SELECT vin FROM ${all("listings")})`,
    "missing listings whose VIN is claimed": sql`FROM ${open("absent")} WHERE vin IN (SELECT vin FROM ${open("contenders")})`,
    "contenders that also have the listing": sql`FROM ${withDealer(open("contenders"))} AS claims
      JOIN ${withDealer(all("listings"))} AS listed USING (vin, dealer_id)`,
    "listings sold too early": sql`FROM ${all("sold")}
      WHERE sold_date <> last_seen + 1 OR feeds_without < ${life.soldAfterFeeds} OR days_seen < ${life.soldSeenDays}
        OR sold_date > missing_since OR sold_on_record < last_seen + ${integerLiteral(life.soldAfterDays)}`,
    ...historyViolations(manifest, intervals, all("listings")),
  };
}

/** Returns the violated invariants of intervals. */
function historyViolations(manifest: Manifest, intervals: Sql, listings: Sql): Readonly<Record<string, Sql>> {
  const published = sql`([${join(Object.keys(manifest.days).map((day) => literal(day)))}]::DATE[])`;
  return {
    "active listings that do not hold": sql`FROM ${listings} WHERE valid_to IS NOT NULL OR valid_from > DATE ${literal(manifest.as_of)}`,
    "intervals that do not begin and end on published days": sql`FROM ${intervals}
      WHERE (valid_from >= ${published}[1] AND NOT list_contains(${published}, valid_from))
        OR NOT coalesce(list_contains(${published}, valid_to), true) OR valid_to <= valid_from`,
    "VINs with two active listings on a day": sql`FROM (SELECT valid_from < lag(coalesce(valid_to, DATE '9999-12-31'))
      OVER (PARTITION BY vin ORDER BY valid_from) AS is_overlapping FROM ${intervals}) WHERE is_overlapping`,
    "days with another number of listings": sql`FROM (
      SELECT snapshot_date, listings, count(valid_from) AS found FROM (${publishedDays(manifest)}) LEFT JOIN ${intervals} AS intervals
        ON snapshot_date >= valid_from AND snapshot_date < coalesce(valid_to, DATE '9999-12-31') GROUP BY ALL) WHERE found <> listings`,
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
