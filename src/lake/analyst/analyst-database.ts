/**
 * A DuckDB database with views of the published version, for `carquet sql`.
 *
 * This is the only module that accepts SQL as text. The text comes from the user's terminal; the API never reaches this module. Statements
 * read the version's Parquet files, attached files and nothing else (see `allowed-statements.ts`); results go to the session's private folder.
 */
import { existsSync, rmSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { withTemporaryFolder } from "../../base/files.ts";
import type { Row } from "../../base/json.ts";
import { DamagedFile, messageOf, UserError } from "../../base/user-error.ts";
import type { Column } from "../../contract/tables.ts";
import {
  type DatabaseOptions,
  DuckDatabase,
  type PreparedStatement,
  type QueryResult,
  type ResultColumn,
  type Session,
} from "../../db/duckdb.ts";
import { classifyFault } from "../../db/engine-faults.ts";
import { columnType, ident, integerLiteral, join as joinSql, Sql, sql } from "../../db/sql.ts";
import { FileWriter, rowsOfNdjson } from "../../formats/file-writer.ts";
import { escapeFormula } from "../../formats/table-formats.ts";
import type { Manifest } from "../manifest.ts";
import { requireManifest } from "../published-lake.ts";
import { viewsOf } from "./analyst-views.ts";
import { attachFiles } from "./attached-files.ts";
import { overflowing, type ResultForm, resultColumns, storedResult } from "./result-columns.ts";
import {
  checkExplained,
  checkStatement,
  checkText,
  explainedText,
  hasResult,
  isBlankStatement,
  type Parameters,
  setParameters,
  splitStatements,
  withoutLeadingComments,
  withVariables,
} from "./statements.ts";

/** The file of a result; valid until the next statement. */
export interface WrittenResult {
  readonly path: string;
  readonly columns: readonly string[];
  readonly rows: number;
}

/** A session of the published version. Runs one statement at a time. */
export class AnalystDatabase {
  private isBegun = false;

  constructor(
    private readonly session: Session,
    private readonly folder: string,
    private readonly parameters: Parameters,
    private readonly files: readonly string[],
    private readonly rowsMax?: number,
  ) {}

  /** Whether a statement has been planned and run. */
  get hasRun(): boolean {
    return this.isBegun;
  }

  /** Runs statements; returns the result of the last one, in memory. Throws a UserError if one is invalid or refused. */
  async query(text: string): Promise<QueryResult> {
    const { statements, rest } = splitStatements(text);
    let result: QueryResult = { columns: [], rows: [] };
    for (const statement of [...statements, ...(isBlankStatement(rest) ? [] : [rest])]) {
      result = { columns: [], rows: [] };
      await this.prepare(await this.textOf(statement), async (prepared) => {
        const ran = await this.start(prepared);
        if (hasResult(prepared.kind)) result = ran;
      });
    }
    return result;
  }

  /** Runs a statement that has no result. Throws a UserError if it has one, or is invalid or refused. */
  async run(statement: string): Promise<void> {
    await this.prepare(withVariables(statement, this.parameters), async (prepared) => {
      if (hasResult(prepared.kind)) throw new UserError("Invalid statements: expected a result of the last one only.");
      await this.start(prepared);
    });
  }

  /**
   * Runs a statement and writes its result to a file, all of it before this returns; returns undefined if it has none. Throws a UserError if the
   * statement is invalid or refused, or its rows are too many.
   */
  async write(statement: string, form: ResultForm): Promise<WrittenResult | undefined> {
    const text = await this.textOf(statement);
    let write: (() => Promise<WrittenResult>) | undefined;
    await this.prepare(text, async (prepared) => {
      if (!hasResult(prepared.kind)) {
        await this.start(prepared);
        return;
      }
      const isQuery = prepared.kind === "SELECT" && !/^pragma\b/i.test(withoutLeadingComments(text));
      const query = isQuery ? new Sql([text], []) : await this.heldRows(prepared);
      write = await this.copyResult(query, prepared.columns, form);
    });
    return write?.();
  }

  interrupt(): void {
    this.session.interrupt();
  }

  /** Writes the rows of a query; returns what completes their file. Runs the query again for integers beyond 64 bits, which become doubles. */
  private async copyResult(
    query: Sql,
    columns: readonly ResultColumn[],
    form: ResultForm,
    doubles: ReadonlySet<number> = new Set(),
  ): Promise<() => Promise<WrittenResult>> {
    const stored = resultColumns(columns, doubles);
    const path = join(this.folder, "result");
    rmSync(path, { force: true });
    const table = { path, format: form.format, columns: stored, metadata: {}, lineEnd: "\n" } as const;
    const writer = new FileWriter(table, (statement) => this.session.rows(statement));
    let rows: number;
    try {
      const select = selectResult(query, { columns, stored }, form, this.rowsMax);
      rows = await writer.add(true, (statementOf) => this.copy(statementOf(select)));
    } catch (thrown) {
      const wider = overflowing(messageOf(thrown), columns).filter((index) => !doubles.has(index));
      if (wider.length === 0) throw thrown;
      return this.copyResult(query, columns, form, new Set([...doubles, ...wider]));
    }
    if (this.rowsMax !== undefined && rows > this.rowsMax)
      throw new UserError(`Too many rows: expected at most ${this.rowsMax}. Add a LIMIT, or aggregate.`);
    return async () => {
      await writer.finish();
      return { path, columns: stored.map(({ name }) => name), rows };
    };
  }

  private async textOf(statement: string): Promise<string> {
    const text = withVariables(statement, this.parameters);
    return /\bdesc/i.test(text) ? (await import("./view-comments.ts")).withComments(text) : text;
  }

  private start(prepared: PreparedStatement): Promise<QueryResult> {
    this.isBegun = true;
    return prepared.run();
  }

  /** Runs a statement that writes a file: several statements if its query has a PIVOT without IN. */
  private async copy(statement: Sql): Promise<readonly Row[]> {
    let rows: readonly Row[] = [];
    await this.session.prepareEach(statement, async (prepared) => {
      const result = await this.start(prepared);
      if (prepared.kind === "COPY") rows = result.rows;
    });
    return rows;
  }

  /** Runs a statement that is no query, such as EXPLAIN; returns a query for its rows. */
  private async heldRows(prepared: PreparedStatement): Promise<Sql> {
    if (this.rowsMax !== undefined) throw new UserError("Invalid statement: expected a query.");
    const { rows } = await this.start(prepared);
    const path = join(this.folder, "rows");
    await writeFile(path, rows.map((row) => `${JSON.stringify(row)}\n`).join(""));
    return rowsOfNdjson(
      path,
      prepared.columns.map(({ name, type }) => ({ name, type: columnType(type) })),
    );
  }

  /** Prepares the statements of a text, checks that each may be run, and passes it to `run`. */
  private async prepare(text: string, run: (statement: PreparedStatement) => Promise<void>): Promise<void> {
    checkText(text, this.rowsMax === undefined);
    try {
      await this.session.prepareEach(new Sql([text], []), async (statement) => {
        checkStatement(statement.kind, text);
        if (statement.kind === "EXPLAIN") await this.checkExplain(text);
        await run(statement);
      });
    } catch (thrown) {
      if (thrown instanceof UserError) throw thrown;
      const message = messageOf(thrown).replace(/^Failed to extract statements: /, "");
      throw this.namesMissingFile(message) ? new DamagedFile(message) : new UserError(message);
    }
  }

  /** Returns whether a message names a file of the version that is gone: the engine takes it for a pattern or a folder, which it may not list. */
  private namesMissingFile(message: string): boolean {
    const [, path = ""] = /^Permission Error: Cannot access file "(.*?)(?:\/\*\*\/\*\.parquet)?"/.exec(message) ?? [];
    return this.files.includes(path) && !existsSync(path);
  }

  private async checkExplain(text: string): Promise<void> {
    await this.session.prepareEach(new Sql([explainedText(text)], []), async ({ kind }) => checkExplained(kind));
  }
}

/** Returns a query for the stored values of a result, of one row more than it may have. */
function selectResult(
  query: Sql,
  { columns, stored }: { readonly columns: readonly ResultColumn[]; readonly stored: readonly Column[] },
  form: ResultForm,
  rowsMax: number | undefined,
): Sql {
  const positions = columns.map((_, index) => ident(`c${index}`));
  const values = stored.map(({ name, type }, index) => {
    const value = storedResult(form, positions[index] ?? sql`NULL`, columns[index]?.type ?? "", type);
    return sql`${value} AS ${ident(form.format === "csv" && form.isRaw === false ? escapeFormula(name) : name)}`;
  });
  const limit = rowsMax === undefined ? sql`` : sql`LIMIT ${integerLiteral(rowsMax + 1)}`;
  return sql`SELECT ${joinSql(values)} FROM (${query}\n) AS result(${joinSql(positions)}) ${limit}`;
}

export interface AnalystOptions extends DatabaseOptions {
  /** The version to open. Default: the published one. */
  readonly dataVersion?: string;
  /** Files to attach, by the names of their views. */
  readonly attach?: ReadonlyMap<string, string>;
  readonly param?: Parameters;
  /** The most rows of a result. */
  readonly rowsMax?: number;
}

/**
 * Opens the database and passes it to `work`. Its private folder is removed afterwards, also when the process exits. Throws a UserError if
 * the version does not exist or a file cannot be attached.
 */
export async function openAnalystDatabase<T>(
  lake: string,
  { dataVersion, attach = new Map(), param = new Map(), rowsMax, ...options }: AnalystOptions,
  work: (database: AnalystDatabase) => Promise<T>,
): Promise<T> {
  const manifest = await requireManifest(lake, dataVersion);
  return withTemporaryFolder(`carquet-sql-${process.pid}-`, async (folder) => {
    const database = await DuckDatabase.open({ temporaryFolder: join(folder, "spill"), ...options });
    try {
      return await database.using(async (session) => {
        for (const view of viewsOf(manifest, resolve(lake))) await session.run(view).catch(asDamage);
        const attached = await attachFiles(session, attach);
        await setParameters(session, param);
        const files = parquetFiles(manifest, resolve(lake));
        await database.lockDown([folder], { files: [...files, ...attached] });
        return work(new AnalystDatabase(session, folder, param, files, rowsMax));
      });
    } finally {
      database.close();
    }
  });
}

/** Throws an error of a view of a version. Its statement is right: what is no fault of the machine is one of the files that it reads. */
function asDamage(thrown: unknown): never {
  const isDamaged = ["damaged", "other"].includes(classifyFault(thrown));
  throw isDamaged ? new DamagedFile(`Invalid file of the version: ${messageOf(thrown)}`, { cause: thrown }) : thrown;
}

const parquetFiles = ({ tables }: Manifest, lake: string): readonly string[] =>
  Object.values(tables).flatMap((files) => files.map(({ path }) => join(lake, path)));
