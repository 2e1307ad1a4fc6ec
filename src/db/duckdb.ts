/**
 * DuckDB driver: an in-memory database in this process, and sessions that run `Sql` on it. The only importer of DuckDB.
 *
 * Results are always materialized: the driver's streaming calls return only a part of the rows, without an error, when a query fails
 * midway. A session runs one query at a time.
 */
import { randomUUID } from "node:crypto";
import { createRequire } from "node:module";
import { availableParallelism, tmpdir } from "node:os";
import { join as joinPath, resolve } from "node:path";
import type * as Engine from "@duckdb/node-api";
import { type Json, type Row, textIn } from "../base/json.ts";
import { forEachInTurns } from "../base/turns.ts";
import type { DuckType } from "./duck-type.ts";
import { ident, join, literal, pathLiteral, type Sql, sql, type Value } from "./sql.ts";

// `require` takes a third of the time of `import`, which analyzes the exports of 180 CommonJS files.
const engine: typeof Engine = createRequire(import.meta.url)("@duckdb/node-api");
const { DuckDBInstance, DuckDBIntegerVector, DuckDBUUIDVector, JsonDuckDBValueConverter, StatementType, version } =
  engine;
const { DuckDBArrayType, DuckDBListType, DuckDBStructType } = engine;

export interface DatabaseOptions {
  /** Worker threads. Default: all processors. */
  readonly threads?: number;
  /** For example `4GiB`. Default: 80 % of the memory. */
  readonly memoryLimit?: string;
  /** The folder to which large intermediate results spill. Default: a new folder in the system's temporary folder. */
  readonly temporaryFolder?: string;
  /** Further settings of DuckDB by name, which replace those of all databases. */
  readonly engineSettings?: Readonly<Record<string, string>>;
}

/** Settings of all databases. */
const commonSettings: Readonly<Record<string, string>> = {
  autoinstall_known_extensions: "false",
  autoload_known_extensions: "false",
  // To test a column that is stored as runs takes a quarter of the time of a small statement.
  disabled_compression_methods: "rle",
  late_materialization_max_rows: "1000",
  // Aggregates up to a million integer keys in arrays: four times as fast as in a hash table.
  perfect_ht_threshold: "20",
  // Reading the rows of a page skips row groups that hold none of them. The default covers pages of up to 50 rows.
  dynamic_or_filter_threshold: "100",
  validate_external_file_cache: "NO_VALIDATION",
};

/** What `DuckDatabase.endThreads` sets. */
export const endingSettings = ["threads", "memory_limit"] as const;

/** The version of DuckDB. The bytes of a written file depend on it. */
export const engineVersion = version();

interface Unlocked {
  readonly files?: readonly string[];
  readonly unlocked?: readonly string[];
}

export class DuckDatabase {
  private constructor(private readonly instance: Engine.DuckDBInstance) {}

  /** Opens an empty in-memory database with time zone UTC. */
  static async open(options: DatabaseOptions = {}): Promise<DuckDatabase> {
    const instance = await DuckDBInstance.create(":memory:", {
      threads: String(options.threads ?? availableParallelism()),
      ...(options.memoryLimit === undefined ? {} : { memory_limit: options.memoryLimit }),
      temp_directory: resolve(
        options.temporaryFolder ?? joinPath(tmpdir(), `carquet-spill-${process.pid}-${randomUUID()}`),
      ),
      ...commonSettings,
      ...options.engineSettings,
    });
    const database = new DuckDatabase(instance);
    // Settings of extensions, which are not known before they are loaded.
    await database.using(async (session) => {
      await session.run(sql`SET GLOBAL TimeZone = 'UTC'`);
      await session.run(sql`SET GLOBAL parquet_metadata_cache = true`);
    });
    return database;
  }

  /** Calls `work` with a session of a new database, which is then closed. */
  static async use<T>(options: DatabaseOptions, work: (session: Session) => Promise<T>): Promise<T> {
    const database = await DuckDatabase.open(options);
    try {
      return await database.using(work);
    } finally {
      database.close();
    }
  }

  /** Opens a session. The caller closes it. */
  async connect(): Promise<Session> {
    return new Session(await this.instance.connect());
  }

  async using<T>(work: (session: Session) => Promise<T>): Promise<T> {
    const session = await this.connect();
    try {
      return await work(session);
    } finally {
      session.close();
    }
  }

  /** Restricts file access to these folders and files, and changes of settings to some, irrevocably. The engine allows reading and writing alike. */
  async lockDown(folders: readonly string[], { files = [], unlocked = [] }: Unlocked = {}): Promise<void> {
    const list = (items: readonly string[]): Sql =>
      sql`[${join(items.flatMap((item) => [...new Set([literal(item), pathLiteral(item)])]))}]`;
    await this.using(async (session) => {
      await session.run(sql`SET GLOBAL allowed_directories = ${list(folders)}`);
      if (files.length > 0) await session.run(sql`SET GLOBAL allowed_paths = ${list(files)}`);
      await session.run(sql`SET GLOBAL enable_external_access = false`);
      await session.run(sql`SET GLOBAL allowed_configs = ${list(unlocked)}`);
      await session.run(sql`SET GLOBAL lock_configuration = true`);
    });
  }

  /**
   * Ends the threads of a database that is about to be closed, and lets the allocator return memory, which `close` does not repeat within a tenth of
   * a second. Needs `endingSettings` unlocked.
   */
  async endThreads(): Promise<void> {
    await this.using(async (session) => {
      await session.run(sql`SET GLOBAL threads = 1`);
      await session.run(sql`SET GLOBAL memory_limit = '1TB'`);
    });
  }

  /** Closes the database. Beside other work, this takes up to a tenth of a second, or a few milliseconds after `endThreads`, which waits in another thread. */
  close(): void {
    this.instance.closeSync();
  }
}

export interface QueryResult {
  readonly columns: readonly string[];
  readonly rows: readonly Row[];
}

type ColumnValues = readonly (readonly Json[])[];

export interface ResultColumn {
  readonly name: string;
  readonly type: DuckType;
}

export class PreparedStatement {
  constructor(
    private readonly statement: Engine.DuckDBPreparedStatement,
    /** Its position among the statements of its text. */
    readonly index: number,
    readonly count: number,
  ) {}

  /** The statement's kind: `SELECT`, `EXPLAIN`, `COPY`, `ATTACH`, ... */
  get kind(): string {
    return StatementType[this.statement.statementType] ?? "INVALID";
  }

  get columns(): readonly ResultColumn[] {
    return Array.from({ length: this.statement.columnCount }, (_, index) => ({
      name: this.statement.columnName(index),
      type: typeTree(this.statement.columnType(index)),
    }));
  }

  async run(): Promise<QueryResult> {
    return tableFrom(await this.statement.run());
  }
}

export class Session {
  constructor(private readonly connection: Engine.DuckDBConnection) {}

  async run(statement: Sql): Promise<void> {
    await this.connection.run(render(statement));
  }

  /** Returns the rows of a query as JSON values. BIGINT, HUGEINT and DECIMAL become strings, so queries cast them. */
  async rows(query: Sql): Promise<readonly Row[]> {
    return (await this.table(query)).rows;
  }

  /** Returns the rows of a query with the names of its columns, which are known even without rows. */
  async table(query: Sql): Promise<QueryResult> {
    return tableFrom(await this.connection.run(render(query)));
  }

  /**
   * Returns the columns of a query, chunk by chunk, as the driver's vectors without a copy. All must be INTEGER or UUID without nulls; a UUID is four
   * integers, from its last digits to its first ones, whose first bit is inverted. Many times faster than `rows`.
   */
  async vectors(query: Sql): Promise<readonly (readonly Int32Array[])[]> {
    return integersOf(await this.connection.run(render(query)));
  }

  async row(query: Sql): Promise<Row | undefined> {
    return (await this.rows(query))[0];
  }

  /** Returns whether `SELECT ... ${from}` has rows. Where rows are rare, looking for them is faster than planning what handles them. */
  async hasRows(from: Sql): Promise<boolean> {
    return (await this.row(sql`SELECT 1 AS found ${from} LIMIT 1`)) !== undefined;
  }

  /**
   * Prepares the statements of a text one after the other and passes each to `visit`, which may run it: a later statement may refer to
   * what an earlier one created. Throws if a statement is invalid.
   */
  async prepareEach(text: Sql, visit: (statement: PreparedStatement) => Promise<void>): Promise<void> {
    const extracted = await this.connection.extractStatements(render(text));
    for (let index = 0; index < extracted.count; index += 1) {
      const statement = await extracted.prepare(index);
      try {
        await visit(new PreparedStatement(statement, index, extracted.count));
      } finally {
        statement.destroySync();
      }
    }
  }

  async createTempTable(table: string, query: Sql): Promise<void> {
    await this.run(sql`CREATE OR REPLACE TEMPORARY TABLE ${ident(table)} AS ${query}`);
  }

  async createTempView(view: string, query: Sql): Promise<void> {
    await this.run(sql`CREATE OR REPLACE TEMPORARY VIEW ${ident(view)} AS ${query}`);
  }

  async tempTables(): Promise<readonly string[]> {
    const rows = await this.rows(sql`SELECT table_name FROM duckdb_tables() WHERE temporary`);
    return rows.map((row) => textIn(row, "table_name"));
  }

  async drop(...tables: readonly string[]): Promise<void> {
    for (const table of tables) await this.run(sql`DROP TABLE IF EXISTS ${ident(table)}`);
  }

  /** Interrupts the running query, which throws. The session stays usable. */
  interrupt(): void {
    this.connection.interrupt();
  }

  close(): void {
    this.connection.closeSync();
  }
}

function typeTree(type: Engine.DuckDBType): DuckType {
  if (type instanceof DuckDBListType) return { items: typeTree(type.valueType) };
  if (type instanceof DuckDBArrayType) return { items: typeTree(type.valueType), length: type.length };
  if (type instanceof DuckDBStructType)
    return { fields: type.entryTypes.map((entry, index) => [type.entryNames[index] ?? "", typeTree(entry)]) };
  return type.alias === "JSON" ? type.alias : String(type);
}

/* biome-ignore-start lint/complexity/useLiteralKeys: the driver declares them private, and its accessors need one call per value */
function integersIn(vector: Engine.DuckDBVector): Int32Array {
  if (vector instanceof DuckDBIntegerVector) return vector["items"];
  if (vector instanceof DuckDBUUIDVector) {
    const { buffer, byteOffset, byteLength } = vector["dataView"];
    return new Int32Array(buffer, byteOffset, byteLength / Int32Array.BYTES_PER_ELEMENT);
  }
  throw new TypeError(`Invalid column type ${String(vector.type)}: expected INTEGER or UUID.`);
}
/* biome-ignore-end lint/complexity/useLiteralKeys: as above */

async function tableFrom(result: Engine.DuckDBMaterializedResult): Promise<QueryResult> {
  const columns = result.deduplicatedColumnNames();
  const rows: (readonly Row[])[] = [];
  await forEachInTurns(await columnsOf(result), (chunk) => rows.push(rowsFrom(columns, chunk)));
  return { columns, rows: rows.flat() };
}

/** Yields the columns of each chunk of a result. It is in memory already; the driver's own readers would fetch each chunk through another thread. */
function* vectorsOf(
  result: Engine.DuckDBMaterializedResult,
): Generator<{ vector: Engine.DuckDBVector; column: number }> {
  for (let index = 0; index < result.chunkCount; index += 1) {
    const chunk = result.getChunk(index);
    for (let column = 0; column < chunk.columnCount; column += 1)
      yield { vector: chunk.getColumnVector(column), column };
  }
}

/** Returns the integers of the columns of each chunk: see `Session.vectors`. */
async function integersOf(result: Engine.DuckDBMaterializedResult): Promise<readonly (readonly Int32Array[])[]> {
  const chunks: Int32Array[][] = [];
  await forEachInTurns(vectorsOf(result), ({ vector, column }) => {
    if (column === 0) chunks.push([]);
    chunks.at(-1)?.push(integersIn(vector));
  });
  return chunks;
}

/** How many values are converted before another turn may begin: long texts take up to a twentieth of a millisecond each. */
const blockRows = 64;

function* blocksOf(
  result: Engine.DuckDBMaterializedResult,
): Generator<{ vector: Engine.DuckDBVector; column: number; from: number }> {
  for (const { vector, column } of vectorsOf(result))
    for (let from = 0; from < vector.itemCount; from += blockRows) yield { vector, column, from };
}

/** Returns the values of the columns of each chunk. */
async function columnsOf(result: Engine.DuckDBMaterializedResult): Promise<readonly ColumnValues[]> {
  const chunks: Json[][][] = [];
  await forEachInTurns(blocksOf(result), ({ vector, column, from }) => {
    if (column === 0 && from === 0) chunks.push([]);
    const columns = chunks.at(-1) ?? [];
    const values = columns[column] ?? [];
    columns[column] = values;
    const { type } = vector;
    const until = Math.min(vector.itemCount, from + blockRows);
    for (let row = from; row < until; row += 1)
      values.push(JsonDuckDBValueConverter(vector.getItem(row), type, JsonDuckDBValueConverter));
  });
  return chunks;
}

/** Converts columns to rows, many times faster than the driver. */
function rowsFrom(names: readonly string[], columns: ColumnValues): readonly Row[] {
  return Array.from(columns[0] ?? [], (_, rowIndex) => {
    const row: Record<string, Json> = {};
    names.forEach((name, column) => {
      row[name] = columns[column]?.[rowIndex] ?? null;
    });
    return row;
  });
}

/**
 * Renders a statement with each value as a typed literal. With bound parameters DuckDB plans a statement twice, first without their
 * values: 4 to 10 ms more per page.
 */
const render = ({ texts, values }: Sql): string =>
  texts.reduce((text, part, index) => `${text}(${renderValue(values[index - 1] ?? null)})${part}`);

function renderValue(value: Value): string {
  if (value === null) return "NULL::VARCHAR";
  if (typeof value === "string") return `${renderText(value)}::VARCHAR`;
  if (typeof value === "boolean") return String(value);
  if (typeof value === "bigint" || Number.isSafeInteger(value)) return `'${value}'::BIGINT`;
  if (typeof value === "number") return `'${value}'::DOUBLE`;
  const isText = value.every((item) => typeof item === "string");
  return `[${value.map((item) => (typeof item === "string" ? renderText(item) : item)).join()}]::${isText ? "VARCHAR" : "BIGINT"}[]`;
}

/** Renders a string literal. DuckDB ends a statement at a NUL character, so that becomes `chr(0)`. */
function renderText(text: string): string {
  const parts = text.split("\0").map((part) => literal(part).text);
  return parts.length === 1 ? (parts[0] ?? "") : `concat(${parts.join(", chr(0), ")})`;
}
