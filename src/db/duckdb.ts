/**
 * The only importer of DuckDB: a database in this process, and sessions that run `Sql` on it.
 *
 * Answers are always materialised: the engine's streaming calls return a part of the rows and no error when
 * a query fails half-way. One query runs on a session at a time.
 */
import { randomUUID } from "node:crypto";
import { createRequire } from "node:module";
import { availableParallelism, tmpdir } from "node:os";
import { join as joinPath } from "node:path";
import type * as Engine from "@duckdb/node-api";
import type { Json, Row } from "../base/json.ts";
import { ident, join, literal, type Sql, sql, type Value } from "./sql.ts";

// A require takes a third of an import's time: it does not look for the names that 180 CommonJS files export.
const engine: typeof Engine = createRequire(import.meta.url)("@duckdb/node-api");
const { DuckDBInstance, DuckDBIntegerVector, JsonDuckDBValueConverter, version } = engine;

export interface DatabaseOptions {
  /** Worker threads; all processors unless set. */
  readonly threads?: number;
  /** For example `4GiB`; DuckDB's own default (80 % of the machine) unless set. */
  readonly memoryLimit?: string;
  /** Where large intermediate results spill; a folder of its own among the system's temporary files unless set. */
  readonly temporaryFolder?: string;
}

/** The version of the engine, which decides the bytes of a file together with the rows. */
export const engineVersion = version();

export class DuckDatabase {
  private constructor(private readonly instance: Engine.DuckDBInstance) {}

  /** Opens an empty database in memory; times are UTC. */
  static async open(options: DatabaseOptions = {}): Promise<DuckDatabase> {
    const instance = await DuckDBInstance.create(":memory:", {
      threads: String(options.threads ?? availableParallelism()),
      ...(options.memoryLimit === undefined ? {} : { memory_limit: options.memoryLimit }),
      temp_directory: options.temporaryFolder ?? joinPath(tmpdir(), `carquet-spill-${process.pid}-${randomUUID()}`),
      autoinstall_known_extensions: "false",
      autoload_known_extensions: "false",
    });
    const database = new DuckDatabase(instance);
    await database.using(async (session) => {
      await session.run(sql`SET GLOBAL TimeZone = 'UTC'`);
      await session.run(sql`SET GLOBAL late_materialization_max_rows = 1000`);
      // Keys are counted in plain arrays up to a million of them: four times as fast as in a hash table (bench/search-index).
      await session.run(sql`SET GLOBAL perfect_ht_threshold = 20`);
      await session.run(sql`SET GLOBAL parquet_metadata_cache = true`);
      await session.run(sql`SET GLOBAL validate_external_file_cache = 'NO_VALIDATION'`);
    });
    return database;
  }

  /** Opens a session; whoever opens it closes it. */
  async connect(): Promise<Session> {
    return new Session(await this.instance.connect());
  }

  /** Runs some work on a session of its own. */
  async using<T>(work: (session: Session) => Promise<T>): Promise<T> {
    const session = await this.connect();
    try {
      return await work(session);
    } finally {
      session.close();
    }
  }

  /** Leaves only the files below these folders in reach, and lets no later statement change that. */
  async lockDown(folders: readonly string[]): Promise<void> {
    await this.using(async (session) => {
      await session.run(sql`SET GLOBAL allowed_directories = [${join(folders.map(literal))}]`);
      await session.run(sql`SET GLOBAL enable_external_access = false`);
      await session.run(sql`SET GLOBAL lock_configuration = true`);
    });
  }

  close(): void {
    this.instance.closeSync();
  }
}

export class Session {
  constructor(private readonly connection: Engine.DuckDBConnection) {}

  /** Runs a statement whose answer does not matter. */
  async run(statement: Sql): Promise<void> {
    await this.connection.run(written(statement));
  }

  /** The rows of an answer as JSON values; BIGINT, HUGEINT and DECIMAL come as text, so queries cast them. */
  async rows(query: Sql): Promise<readonly Row[]> {
    return (await this.table(query)).rows;
  }

  /** An answer with the names of its columns, which it has even without a row. */
  async table(query: Sql): Promise<{ readonly columns: readonly string[]; readonly rows: readonly Row[] }> {
    const result = await this.connection.run(written(query));
    const columns = result.deduplicatedColumnNames();
    // All of it is in memory. The driver's own readers hand each part over through another thread.
    const parts = Array.from({ length: result.chunkCount }, (_, part) => result.getChunk(part));
    return { columns, rows: parts.flatMap((part) => rowsFrom(columns, part.convertColumns(JsonDuckDBValueConverter))) };
  }

  /**
   * The columns of an answer, part by part, as the engine's own vectors; all must be INTEGER and without nulls. Many times faster than
   * rows.
   */
  async vectors(query: Sql): Promise<readonly (readonly Int32Array[])[]> {
    const result = await this.connection.run(written(query));
    return Array.from({ length: result.chunkCount }, (_, part) => {
      const chunk = result.getChunk(part);
      return Array.from({ length: chunk.columnCount }, (_none, column) => integersIn(chunk.getColumnVector(column)));
    });
  }

  /** The first row of an answer, where there is one. */
  async row(query: Sql): Promise<Row | undefined> {
    return (await this.rows(query))[0];
  }

  /** Makes a temporary table of a query's rows, in place of one of that name. */
  async createTempTable(table: string, query: Sql): Promise<void> {
    await this.run(sql`CREATE OR REPLACE TEMPORARY TABLE ${ident(table)} AS ${query}`);
  }

  /** Makes a temporary view of a query, in place of one of that name. */
  async createTempView(view: string, query: Sql): Promise<void> {
    await this.run(sql`CREATE OR REPLACE TEMPORARY VIEW ${ident(view)} AS ${query}`);
  }

  /** Drops temporary tables that are no longer needed, which gives their memory back. */
  async drop(...names: readonly string[]): Promise<void> {
    for (const table of names) await this.run(sql`DROP TABLE IF EXISTS ${ident(table)}`);
  }

  /** Ends the query that runs; it throws, and the session stays usable. */
  interrupt(): void {
    this.connection.interrupt();
  }

  close(): void {
    this.connection.closeSync();
  }
}

function integersIn(vector: Engine.DuckDBVector): Int32Array {
  // biome-ignore lint/complexity/useLiteralKeys: the driver declares it private, and its accessors take a call for each value
  if (vector instanceof DuckDBIntegerVector) return vector["items"];
  throw new TypeError(`A column is ${String(vector.type)}, expected INTEGER.`);
}

/** Rows from the values of their columns: many times faster than the driver makes them. */
function rowsFrom(names: readonly string[], columns: readonly (readonly Json[])[]): readonly Row[] {
  return Array.from(columns[0] ?? [], (_, place) => {
    const row: Record<string, Json> = {};
    names.forEach((column, index) => {
      row[column] = columns[index]?.[place] ?? null;
    });
    return row;
  });
}

/**
 * A statement as the engine gets it, each value a literal of its type in its place. Bound values would have the statement planned
 * twice, and the first time blindly: 4 to 10 ms more for a page.
 */
const written = ({ texts, values }: Sql): string =>
  texts.reduce((text, part, index) => `${text}(${literalOf(values[index - 1] ?? null)})${part}`);

function literalOf(value: Value): string {
  if (value === null) return "NULL::VARCHAR";
  if (typeof value === "string") return `${quotedText(value)}::VARCHAR`;
  if (typeof value === "boolean") return String(value);
  if (typeof value === "bigint" || Number.isSafeInteger(value)) return `'${value}'::BIGINT`;
  if (typeof value === "number") return `'${value}'::DOUBLE`;
  const texts = value.every((item) => typeof item === "string");
  return `[${value.map((item) => (typeof item === "string" ? quotedText(item) : item)).join()}]::${texts ? "VARCHAR" : "BIGINT"}[]`;
}

/** A text between quotes; the engine's statements end at a NUL, which therefore stands outside of them. */
function quotedText(text: string): string {
  const parts = text.split("\0").map((part) => literal(part).text);
  return parts.length === 1 ? (parts[0] ?? "") : `concat(${parts.join(", chr(0), ")})`;
}
