/**
 * Verifies the serving files of a version against its Parquet files: the rows of every row file, and the tables of each search index. Reads
 * only; sizes and SHA-256 are checked by `lake/maintenance/verify.ts`.
 */
import { join, resolve } from "node:path";
import { textIn } from "../../base/json.ts";
import { messageOf } from "../../base/user-error.ts";
import { type DatabaseOptions, DuckDatabase, type Session } from "../../db/duckdb.ts";
import { fileLiteral, ident, sql } from "../../db/sql.ts";
import { lacksServingFiles } from "../../lake/maintenance/verify.ts";
import type { Manifest, ServingFile, TableFiles } from "../../lake/manifest.ts";
import { buildIndex, builtCatalog } from "../index/build.ts";
import { type IndexedRows, rowsToIndex } from "../index/indexed-rows.ts";
import { batchesOf, RowFile, type RowSource, type TextRow, type UnpackedRow } from "../rows/row-store.ts";
import { neededFiles, servingFormats } from "./serving-parts.ts";

/**
 * Returns the faults of a version's serving files as messages; empty if there are none, or if the lake lacks their folder. Expects intact
 * Parquet files. Calls `onFile` before each file.
 */
export async function verifyServingFiles(
  lake: string,
  manifest: Manifest,
  options: DatabaseOptions,
  onFile: (path: string, index: number, count: number) => void,
): Promise<readonly string[]> {
  const faults: string[] = [];
  if (lacksServingFiles(lake, manifest)) return faults;
  for (const [index, file] of manifest.serving.entries()) {
    onFile(file.path, index + 1, manifest.serving.length);
    const fault = await faultOf(lake, manifest, options, file).catch((thrown: unknown) => messageOf(thrown));
    if (fault !== undefined) faults.push(`${file.path}: ${fault.split("\n")[0]}`);
  }
  return faults;
}

async function faultOf(
  lake: string,
  manifest: Manifest,
  options: DatabaseOptions,
  { kind, format, source, path }: ServingFile,
): Promise<string | undefined> {
  const expected = servingFormats[kind];
  if (format !== expected) return `format ${format}: expected ${expected}; run carquet index`;
  const needed = neededFiles(manifest).find((one) => one.kind === kind && one.source === source);
  if (needed === undefined) return undefined;
  if (needed.kind === "index")
    return indexFault(join(lake, path), needed.of, manifest.tables, { ...options, folder: resolve(lake) });
  const { of } = needed;
  const rows = await differingRows({ ...of, folder: resolve(lake) }, join(lake, path), options);
  return rows === 0 ? undefined : `${rows} of ${of.file.rows} rows differ from ${of.file.path}`;
}

/** Compares every table of an index with that of a rebuilt index. */
async function indexFault(
  path: string,
  rows: IndexedRows,
  tables: TableFiles,
  { folder, ...options }: DatabaseOptions & { readonly folder: string },
): Promise<string | undefined> {
  return DuckDatabase.use(options, async (session) => {
    await session.run(sql`ATTACH ${fileLiteral(path)} AS stored (READ_ONLY)`);
    return buildIndex(session, rowsToIndex(rows, folder), { tables, folder }, () => differingTable(session));
  });
}

async function differingTable(session: Session): Promise<string | undefined> {
  const tables = await session.rows(
    sql`SELECT table_name FROM duckdb_tables() WHERE database_name = ${builtCatalog} ORDER BY table_name`,
  );
  for (const row of tables) {
    const table = textIn(row, "table_name");
    const stored = await contentOf(session, "stored", table);
    const built = await contentOf(session, builtCatalog, table);
    if (stored !== built) return `its table ${table} differs from the Parquet files`;
  }
  return undefined;
}

/** Returns the number of a table's rows and the sum of their hashes. */
async function contentOf(session: Session, catalog: string, table: string): Promise<string> {
  const row = await session.row(
    sql`SELECT concat_ws(' ', count(*), sum(hash(of)::HUGEINT)) AS content FROM ${ident(catalog, table)} AS of`,
  );
  return textIn(row, "content");
}

/** Every n-th row is also looked up by id and VIN, which takes as long as reading it. */
const lookUpEvery = 100;

/** Returns the number of rows that differ from the source. Throws if the row file does not open. */
async function differingRows(source: RowSource, path: string, options: DatabaseOptions): Promise<number> {
  const file = new RowFile(path, source.file.rows);
  try {
    return await DuckDatabase.use(options, async (session) => {
      let differing = 0;
      for await (const batch of batchesOf(session, source))
        differing += batch.filter((row) => !isIntact(file, row)).length;
      return differing;
    });
  } finally {
    file.close();
  }
}

/** Returns whether the file has a row at its position, and, of some rows, under its id and its VIN. */
function isIntact(file: RowFile, { position, id, vin, text }: TextRow): boolean {
  const isExpected = ({ row, validFrom, validTo }: UnpackedRow): boolean =>
    [...row, validFrom, validTo].join("\n") === text;
  try {
    if (!isExpected(file.rowAt(position))) return false;
    return (
      position % lookUpEvery !== 0 ||
      [file.find("id", [id]), file.find("vin", [vin])].every((found) => found.some(isExpected))
    );
  } catch {
    return false;
  }
}
