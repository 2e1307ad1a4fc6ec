/** Encodes the rows of answers in the formats of tables. They have at most a page of rows, or those of a small export, in memory. */
import { randomUUID } from "node:crypto";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join as joinPath } from "node:path";
import type { Row } from "../base/json.ts";
import { forEachInTurns } from "../base/turns.ts";
import type { Table } from "../contract/tables.ts";
import { DuckDatabase } from "../db/duckdb.ts";
import { slotPool } from "../db/fair-pool.ts";
import type { Job } from "../db/job.ts";
import { interruptible } from "../db/session-pool.ts";
import { fileLiteral, sql } from "../db/sql.ts";
import { duckdbType, parquetOptions, rowsOfNdjson } from "./file-writer.ts";
import { csvRows, encodeCsv, type TableFormat } from "./table-formats.ts";

/** Encodes tables. The module of Arrow loads with the first table that needs it. */
export class TableEncoder {
  private readonly parquet = new ParquetEncoder();

  private readonly encoders: Readonly<
    Record<TableFormat, (table: Table, job: Job, isRaw: boolean) => Promise<string | Uint8Array>>
  > = {
    arrow: async (table) => (await import("./arrow.ts")).encodeArrow(table),
    parquet: (table, job) => this.parquet.encode(table, job),
    csv: async ({ columns, rows }, _, isRaw) => {
      const header = encodeCsv({ columns, rows: [] });
      return header + (await textOf(rows, (some) => csvRows({ columns, rows: some }, isRaw)));
    },
    ndjson: ({ rows }) => textOf(rows, ndjsonOf),
  };

  /** Returns the bytes of a table in a format, for a job: rejects when that is aborted. `isRaw` leaves formulas in the texts of CSV. */
  async encode(format: TableFormat, table: Table, job: Job, isRaw = false): Promise<Buffer> {
    const encoded = await job.race(this.encoders[format](table, job, isRaw));
    return typeof encoded === "string"
      ? Buffer.from(encoded)
      : Buffer.from(encoded.buffer, encoded.byteOffset, encoded.length);
  }

  close(): Promise<void> {
    return this.parquet.close();
  }
}

const rowsPerText = 50;

/** Returns the texts of some rows at a time, joined. */
async function textOf(rows: readonly Row[], encode: (some: readonly Row[]) => string): Promise<string> {
  const texts: string[] = [];
  const starts = Array.from({ length: Math.ceil(rows.length / rowsPerText) }, (_, index) => index * rowsPerText);
  await forEachInTurns(starts, (start) => texts.push(encode(rows.slice(start, start + rowsPerText))));
  return texts.join("");
}

const ndjsonOf = (rows: readonly Row[]): string => rows.map((row) => `${JSON.stringify(row)}\n`).join("");

/** The memory of the database that writes responses, which have at most a page of rows. */
const encoderMemory = "256MiB";

/** Responses that are written at once, and those that may wait for it. */
const writersMax = 2;
const waitingMax = 512;

interface OpenWriter {
  readonly database: DuckDatabase;
  /** The only folder that the database may access. */
  readonly folder: string;
}

/**
 * Encodes tables as Parquet files, with DuckDB's writer. It has its own in-memory database, because that of the lake may access no other
 * files. It opens with the first table.
 */
class ParquetEncoder {
  private opening: Promise<OpenWriter> | undefined;
  private readonly writers = slotPool(writersMax, waitingMax);

  /** Returns the bytes of a file, whose key-value metadata is that of the table. */
  async encode({ columns, rows, metadata }: Table, job: Job): Promise<Buffer> {
    const { database, folder } = await this.open();
    const types = columns.map(({ name, type }) => ({ name, type: duckdbType(type) }));
    const path = joinPath(folder, randomUUID());
    const rowsPath = `${path}.ndjson`;
    const filePath = `${path}.parquet`;
    try {
      await writeFile(rowsPath, await textOf(rows, ndjsonOf), { mode: 0o600 });
      const statement = sql`COPY (${rowsOfNdjson(rowsPath, types)}) TO ${fileLiteral(filePath)} (${parquetOptions(metadata)})`;
      await this.writers.use(job, () =>
        database.using((session) => interruptible(session, job.signal, () => session.run(statement))),
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
