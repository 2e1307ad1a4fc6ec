/**
 * Encodes tables as Parquet files, with DuckDB's writer. It has its own in-memory database, because that of the lake may access no other
 * files. It opens with the first table.
 */
import { randomUUID } from "node:crypto";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join as joinPath } from "node:path";
import type { Column, Table } from "../contract/tables.ts";
import { DuckDatabase } from "../db/duckdb.ts";
import { fileLiteral, ident, join, literal, pathLiteral, type Sql, sql } from "../db/sql.ts";
import { duckdbType, parquetOptions } from "./engine-formats.ts";

/** The memory of the database that writes responses, which have at most a page of rows. */
const encoderMemory = "256MiB";

interface OpenWriter {
  readonly database: DuckDatabase;
  /** The only folder that the database may access. */
  readonly folder: string;
}

export class ParquetWriter {
  private opening: Promise<OpenWriter> | undefined;

  /** Returns the bytes of a file, whose key-value metadata is that of the table. */
  async encode({ columns, rows, metadata }: Table): Promise<Buffer> {
    const { database, folder } = await this.open();
    const path = joinPath(folder, randomUUID());
    const [rowsPath, filePath] = [`${path}.ndjson`, `${path}.parquet`];
    try {
      await writeFile(rowsPath, rows.map((row) => `${JSON.stringify(row)}\n`).join(""), { mode: 0o600 });
      await database.using((session) =>
        session.run(sql`
          COPY (FROM read_json(${pathLiteral(rowsPath)}, format = 'newline_delimited', columns = {${columnTypes(columns)}}))
          TO ${fileLiteral(filePath)} (${parquetOptions(metadata)})`),
      );
      return await readFile(filePath);
    } finally {
      await Promise.all([rowsPath, filePath].map((file) => rm(file, { force: true })));
    }
  }

  /** Opens the database once. After an error, the next table tries again. */
  private open(): Promise<OpenWriter> {
    this.opening ??= openWriter().catch((thrown: unknown) => {
      this.opening = undefined;
      throw thrown;
    });
    return this.opening;
  }

  /** Closes the database and removes its folder. */
  async close(): Promise<void> {
    const opened = await this.opening?.catch(() => undefined);
    if (opened === undefined) return;
    opened.database.close();
    await rm(opened.folder, { recursive: true, force: true });
  }
}

async function openWriter(): Promise<OpenWriter> {
  const folder = await mkdtemp(joinPath(tmpdir(), "carquet-parquet-"));
  const database = await DuckDatabase.open({ threads: 1, memoryLimit: encoderMemory, temporaryFolder: folder });
  // Every file is read once.
  await database.using((session) => session.run(sql`SET GLOBAL enable_external_file_cache = false`));
  await database.lockDown([folder]);
  return { database, folder };
}

/** Returns the `columns` argument of `read_json`: each name with its type as text. */
const columnTypes = (columns: readonly Column[]): Sql =>
  join(columns.map(({ name, type }) => sql`${ident(name)}: ${literal(duckdbType(type).text)}`));
