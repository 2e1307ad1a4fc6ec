/** Arrow: converts Parquet files with served values to an Arrow IPC stream, a range of rows at a time. */
import { type FileHandle, open } from "node:fs/promises";
import { type Json, textIn } from "../base/json.ts";
import type { Column, TableMetadata } from "../contract/tables.ts";
import { DuckDatabase, type Session } from "../db/duckdb.ts";
import { ident, join, pathLiteral, type Sql, sql } from "../db/sql.ts";
import { ArrowStream } from "../formats/arrow.ts";
import { exportEngineSettings } from "./limits.ts";

const batchRows = 8_192;

export interface ArrowFile {
  readonly path: string;
  readonly columns: readonly Column[];
  readonly metadata: TableMetadata;
}

export async function convertToArrow(pieces: readonly string[], file: ArrowFile): Promise<void> {
  const database = await DuckDatabase.open({ threads: 1, memoryLimit: "256MiB", engineSettings: exportEngineSettings });
  const handle = await open(file.path, "wx");
  try {
    await database.using((session) => writeBatches(session, pieces, file, handle));
  } finally {
    await handle.close();
    database.close();
  }
}

async function writeBatches(
  session: Session,
  pieces: readonly string[],
  { columns, metadata }: ArrowFile,
  handle: FileHandle,
): Promise<void> {
  const words = await readWords(session, sql`read_parquet([${join(pieces.map(pathLiteral))}])`, columns);
  const stream = new ArrowStream(columns, metadata, ({ name }) => words.get(name) ?? []);
  for (const piece of pieces)
    for await (const { length, valuesOf } of batchesOf(session, piece))
      await handle.writeFile(stream.add(length, (_, index) => valuesOf(index)));
  await handle.writeFile(stream.end());
}

interface Batch {
  readonly length: number;
  readonly valuesOf: (column: number) => readonly Json[];
}

async function* batchesOf(session: Session, path: string): AsyncGenerator<Batch, void, undefined> {
  for (let first = 0; ; first += batchRows) {
    const chunks = await session.chunks(sql`
      SELECT * EXCLUDE (file_row_number) FROM read_parquet(${pathLiteral(path)}, file_row_number = true)
      WHERE file_row_number >= ${first} AND file_row_number < ${first + batchRows} ORDER BY file_row_number`);
    const length = chunks.reduce((sum, [column = []]) => sum + column.length, 0);
    if (length > 0) yield { length, valuesOf: (column) => chunks.flatMap((chunk) => chunk[column] ?? []) };
    if (length < batchRows) return;
  }
}

async function readWords(
  session: Session,
  relation: Sql,
  columns: readonly Column[],
): Promise<ReadonlyMap<string, readonly string[]>> {
  const words = new Map<string, readonly string[]>();
  for (const { name, type } of columns) {
    if (type.kind !== "category") continue;
    const rows = await session.rows(
      sql`SELECT DISTINCT ${ident(name)} AS word FROM ${relation} WHERE word IS NOT NULL ORDER BY word`,
    );
    words.set(
      name,
      rows.map((row) => textIn(row, "word")),
    );
  }
  return words;
}
