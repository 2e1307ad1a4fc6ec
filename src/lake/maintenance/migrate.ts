/**
 * Lake migration: turns the daily copies of formats 1 and 2 into intervals, rewrites files of an older schema in the current one, so that other
 * engines can read them, and publishes the result as a new version of the same day.
 *
 * Carquet itself reads older lakes without migration, but does not ingest into them. The old files remain until `vacuum` removes the versions that list them, so an
 * interrupted migration leaves the published version intact.
 */
import { join as joinPath } from "node:path";
import { calendarMonth } from "../../base/day.ts";
import { textIn } from "../../base/json.ts";
import { UserError } from "../../base/user-error.ts";
import type { Session } from "../../db/duckdb.ts";
import { pathLiteral, sql } from "../../db/sql.ts";
import { fingerprintOf, isCurrentSchema, rowsOfFiles } from "../file-rows.ts";
import { type LakeFile, lakeFormat, type TableFiles } from "../manifest.ts";
import { requireManifest } from "../published-lake.ts";
import { type TableName, tableNames, tableOf } from "../tables.ts";
import { nextManifest, publish, type Writer, writeFile } from "../writer/writer.ts";
import { migrateFormerTables, removeStaged } from "./migrate-former.ts";

export interface LakeMigrationResult {
  /** The published version, new if anything changed. */
  readonly version: string;
  readonly fromFormat: number;
  readonly toFormat: number;
  readonly rewritten: number;
  /** Number of files that already had the current columns and types; only their fingerprint was added to the manifest. */
  readonly recorded: number;
}

/**
 * Migrates the published version. Does nothing if every file has the current schema. Calls `onFile` before each file that does not. Throws
 * a UserError if nothing has been published.
 */
export async function migrateLake(
  writer: Writer,
  onFile: (path: string, index: number, count: number) => void = () => {},
): Promise<LakeMigrationResult> {
  const published = await requireManifest(writer.lake);
  const next = nextManifest(writer, published, published.as_of);
  const result = { fromFormat: published.format, toFormat: lakeFormat, rewritten: 0, recorded: 0 };
  const { former } = published;
  if (former !== undefined) {
    const tables = await migrateFormerTables(writer, { ...published, former }, next, onFile);
    await publish(writer.lake, { ...next, tables, serving: [] });
    await removeStaged(writer.lake);
    return { ...result, rewritten: Object.values(tables).flat().length, version: next.version };
  }
  const count = tableNames.flatMap((table) =>
    published.tables[table].filter((file) => !isCurrentSchema(table, file)),
  ).length;
  if (count === 0 && published.format === lakeFormat) return { ...result, version: published.version };
  const tables: Record<TableName, readonly LakeFile[]> = { ...published.tables };
  for (const table of tableNames) {
    const files: LakeFile[] = [];
    for (const file of published.tables[table]) {
      if (isCurrentSchema(table, file)) {
        files.push(file);
        continue;
      }
      onFile(file.path, 1 + result.rewritten + result.recorded, count);
      const isRecorded = await hasCurrentColumns(writer.session, table, joinPath(writer.lake, file.path));
      result[isRecorded ? "recorded" : "rewritten"] += 1;
      files.push(
        isRecorded
          ? { ...file, schema: fingerprintOf(tableOf(table).columns) }
          : await rewriteFile(writer, `${next.version}-${files.length}`, table, file),
      );
    }
    tables[table] = files;
  }
  await publish(writer.lake, { ...next, tables: tables satisfies TableFiles });
  return { ...result, version: next.version };
}

/** Returns whether a file has exactly the columns and types of a table's current schema. */
async function hasCurrentColumns(session: Session, table: TableName, path: string): Promise<boolean> {
  const described = await session.rows(
    sql`DESCRIBE SELECT * FROM read_parquet(${pathLiteral(path)}, hive_partitioning = false)`,
  );
  const columns = described.map((row) => [textIn(row, "column_name"), textIn(row, "column_type")] as const);
  return fingerprintOf(Object.fromEntries(columns)) === fingerprintOf(tableOf(table).columns);
}

/** Rewrites a file in the current schema under a new name, in the same row order. Throws a UserError if the row count differs. */
async function rewriteFile(writer: Writer, name: string, table: TableName, file: LakeFile): Promise<LakeFile> {
  const rows = rowsOfFiles(table, [file], writer.lake, "file_row_number");
  const written = await writeFile(writer, name, {
    table,
    partition: file.partition === null ? null : calendarMonth(file.partition),
    rows,
    order: sql`file_row_number`,
  });
  if (written?.rows === file.rows) return written;
  throw new UserError(`${file.path}: ${written?.rows ?? 0} rows: expected ${file.rows}, as in the manifest.`);
}
