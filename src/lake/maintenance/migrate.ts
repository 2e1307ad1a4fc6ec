/**
 * Migrates a lake: rewrites the published version's older files in today's schema, so that other engines read them too, and publishes
 * the result as a new version of the same day.
 *
 * Carquet itself reads older files as they are. They stay until `vacuum` removes the versions that name them, so a kill at any moment
 * leaves the old version or the new one.
 */
import { join as joinPath } from "node:path";
import { textIn } from "../../base/json.ts";
import { UserError } from "../../base/user-error.ts";
import type { Session } from "../../db/duckdb.ts";
import { literal, sql } from "../../db/sql.ts";
import { fingerprintOf, isCurrentSchema, rowsOfFiles } from "../file-rows.ts";
import { currentManifest, type LakeFile, lakeFormat, type TableFiles } from "../manifest.ts";
import { type TableName, tableNames, tableOf } from "../tables.ts";
import { nextManifest, publish, type Writer, writeFile } from "../writer/writer.ts";

/** What a migration did. */
export interface LakeMigrationResult {
  /** The published version, new if anything changed. */
  readonly version: string;
  readonly fromFormat: number;
  readonly toFormat: number;
  /** Files rewritten in today's schema. */
  readonly rewritten: number;
  /** Files that had today's columns and types already: the manifest records that. */
  readonly recorded: number;
}

/** Migrates the published version as the lake's only writer. Does nothing when it is of today. Calls `onFile` before each older file. */
export async function migrateLake(
  writer: Writer,
  onFile: (path: string, index: number, count: number) => void = () => {},
): Promise<LakeMigrationResult> {
  const published = await currentManifest(writer.lake);
  if (published === undefined) throw new UserError(`${writer.lake}: nothing has been published yet.`);
  const next = nextManifest(writer, published, published.as_of);
  const done = { fromFormat: published.format, toFormat: lakeFormat, rewritten: 0, recorded: 0 };
  const count = tableNames.flatMap((table) =>
    published.tables[table].filter((file) => !isCurrentSchema(table, file)),
  ).length;
  if (count === 0 && published.format === lakeFormat) return { ...done, version: published.version };
  const tables: Record<TableName, readonly LakeFile[]> = { ...published.tables };
  for (const table of tableNames) {
    const files: LakeFile[] = [];
    for (const file of published.tables[table]) {
      if (isCurrentSchema(table, file)) files.push(file);
      else {
        onFile(file.path, 1 + done.rewritten + done.recorded, count);
        const hasTodaysColumns = await isDescribedBy(writer.session, table, joinPath(writer.lake, file.path));
        done[hasTodaysColumns ? "recorded" : "rewritten"] += 1;
        const part = `${next.version}-${files.length}`;
        files.push(
          hasTodaysColumns
            ? { ...file, schema: fingerprintOf(tableOf(table).columns) }
            : await rewritten(writer, part, table, file),
        );
      }
    }
    tables[table] = files;
  }
  await publish(writer.lake, { ...next, tables: tables satisfies TableFiles });
  return { ...done, version: next.version };
}

/** Returns whether a file has exactly the columns and types of a table's layout. */
async function isDescribedBy(session: Session, table: TableName, path: string): Promise<boolean> {
  const described = await session.rows(
    sql`DESCRIBE SELECT * FROM read_parquet(${literal(path)}, hive_partitioning = false)`,
  );
  const columns = described.map((row) => [textIn(row, "column_name"), textIn(row, "column_type")] as const);
  return fingerprintOf(Object.fromEntries(columns)) === fingerprintOf(tableOf(table).columns);
}

/** Writes a file's rows again, in their order, beside it. */
async function rewritten(writer: Writer, name: string, table: TableName, file: LakeFile): Promise<LakeFile> {
  const rows = rowsOfFiles(table, [file], writer.lake, "file_row_number");
  const written = await writeFile(writer, name, table, file.partition, rows, sql`file_row_number`);
  if (written?.rows === file.rows) return written;
  throw new UserError(`${file.path}: ${written?.rows ?? 0} rows, ${file.rows} in the manifest.`);
}
