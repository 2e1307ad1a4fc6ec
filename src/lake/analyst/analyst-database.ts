/**
 * A DuckDB database with views of the published version, for `carquet sql`.
 *
 * This is the only module that accepts SQL as text. The text comes from the user's terminal; the API never reaches this module. Statements
 * read the version's Parquet files, attached files and nothing else (see `allowed-statements.ts`); results go to the session's private folder.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import type { Row } from "../../base/json.ts";
import { messageOf, UserError } from "../../base/user-error.ts";
import type { DuckType } from "../../db/duck-type.ts";
import {
  type DatabaseOptions,
  DuckDatabase,
  type PreparedStatement,
  type QueryResult,
  type ResultColumn,
  type Session,
} from "../../db/duckdb.ts";
import { Sql } from "../../db/sql.ts";
import type { Manifest } from "../manifest.ts";
import { requireManifest } from "../published-lake.ts";
import { checkExplained, checkStatement, checkText, explainedText, hasResult } from "./allowed-statements.ts";
import { viewsOf } from "./analyst-views.ts";
import { attachFiles } from "./attached-files.ts";
import { type Parameters, setParameters, withVariables } from "./parameters.ts";
import {
  canSpool,
  copyStatement,
  type EngineFormat,
  readSpool,
  type SpooledQuery,
  spoolStatement,
  uniqueNames,
} from "./spool.ts";
import { isBlankStatement, splitStatements, withoutLeadingComments } from "./statements.ts";

/** The result of a statement; valid until the next statement. */
export interface StatementResult {
  readonly columns: readonly string[];
  readonly types: readonly DuckType[];
  readonly rowCount: number;
  /** Reads the rows in batches; can be repeated. */
  readonly batches: () => AsyncIterable<readonly Row[]>;
}

/** The file of a result. */
export interface CopiedResult {
  readonly path: string;
  readonly rowCount: number;
}

/** A session of the published version. Runs one statement at a time. */
export class AnalystDatabase {
  constructor(
    private readonly session: Session,
    private readonly folder: string,
    private readonly parameters: Parameters,
    private readonly rowsMax?: number,
  ) {}

  /** Runs a statement; returns its result, or undefined if it has none. Throws a UserError if it is invalid or refused. */
  async execute(statement: string): Promise<StatementResult | undefined> {
    const text = withVariables(statement, this.parameters);
    let result: StatementResult | undefined;
    await this.prepare(text, async (prepared) => {
      const { kind, columns, count } = prepared;
      if (kind === "SELECT" && count === 1 && canSpool(withoutLeadingComments(text), columns)) {
        result = await this.spool(text, columns);
        return;
      }
      if (kind === "SELECT" && this.rowsMax !== undefined) throw unlimitable(columns);
      const inMemory = await prepared.run();
      if (hasResult(kind)) result = resultOf(inMemory, columns);
    });
    return result;
  }

  /**
   * Runs a statement and writes its result to a file in a format of the engine; returns the file, or undefined if there is no result. Throws a
   * UserError for a result that is not that of a single query.
   */
  async copy(statement: string, format: EngineFormat): Promise<CopiedResult | undefined> {
    const text = withVariables(statement, this.parameters);
    let copied: CopiedResult | undefined;
    await this.prepare(text, async (prepared) => {
      const { kind, columns, count } = prepared;
      if (!hasResult(kind)) {
        await prepared.run();
        return;
      }
      if (kind !== "SELECT" || count > 1)
        throw new UserError(`Invalid statement for the format ${format}: expected a query, and a PIVOT with IN.`);
      const path = join(this.folder, `result.${format}`);
      const rowCount = await this.countWritten(copyStatement(this.spooled(text, columns, path), format));
      copied = { path, rowCount };
    });
    return copied;
  }

  /** Runs a query of any number of statements; returns the result of the last one. */
  async query(text: string): Promise<QueryResult> {
    const { statements, rest } = splitStatements(text);
    let result: StatementResult | undefined;
    for (const statement of [...statements, ...(isBlankStatement(rest) ? [] : [rest])])
      result = await this.execute(statement);
    const rows: Row[] = [];
    for await (const batch of result?.batches() ?? []) rows.push(...batch);
    return { columns: result?.columns ?? [], rows };
  }

  interrupt(): void {
    this.session.interrupt();
  }

  private async spool(text: string, columns: readonly ResultColumn[]): Promise<StatementResult> {
    const path = join(this.folder, "result.spool");
    const rowCount = await this.countWritten(spoolStatement(this.spooled(text, columns, path)));
    return {
      columns: uniqueNames(columns),
      types: columns.map(({ type }) => type),
      rowCount,
      batches: () => readSpool(path, columns),
    };
  }

  /** Returns a query that writes one row more than a result may have. */
  private spooled(text: string, columns: readonly ResultColumn[], path: string): SpooledQuery {
    return {
      query: new Sql([text], []),
      columns,
      path,
      rowsMax: this.rowsMax === undefined ? undefined : this.rowsMax + 1,
    };
  }

  /** Runs a statement that writes rows; returns their number. Throws a UserError if they are too many. */
  private async countWritten(statement: Sql): Promise<number> {
    const rows = Number((await this.session.row(statement))?.Count);
    if (this.rowsMax !== undefined && rows > this.rowsMax)
      throw new UserError(`Too many rows: expected at most ${this.rowsMax}. Add a LIMIT, or aggregate.`);
    return rows;
  }

  /** Prepares the statements of a text, checks that each may be run, and passes it to `run`. */
  private async prepare(text: string, run: (statement: PreparedStatement) => Promise<void>): Promise<void> {
    checkText(text);
    try {
      await this.session.prepareEach(new Sql([text], []), async (statement) => {
        checkStatement(statement.kind, text);
        if (statement.kind === "EXPLAIN") await this.checkExplain(text);
        await run(statement);
      });
    } catch (thrown) {
      if (thrown instanceof UserError) throw thrown;
      throw new UserError(messageOf(thrown).replace(/^Failed to extract statements: /, ""));
    }
  }

  private async checkExplain(text: string): Promise<void> {
    await this.session.prepareEach(new Sql([explainedText(text)], []), async ({ kind }) => checkExplained(kind));
  }
}

/** Returns the error of a query whose rows would be held in memory, of any number, where rows are limited. */
function unlimitable(columns: readonly ResultColumn[]): UserError {
  const held = columns.find((column) => !canSpool("", [column]));
  const what = held === undefined ? "statement" : `column ${held.name} of type ${String(held.type)}`;
  return new UserError(`Invalid ${what}: expected a query${held === undefined ? "" : " that casts it to VARCHAR"}.`);
}

function resultOf({ columns, rows }: QueryResult, described: readonly ResultColumn[]): StatementResult {
  return {
    columns,
    types: described.map(({ type }) => type),
    rowCount: rows.length,
    batches: async function* () {
      yield rows;
    },
  };
}

export interface AnalystOptions extends DatabaseOptions {
  /** The version to open. Default: the published one. */
  readonly lakeVersion?: string;
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
  { lakeVersion, attach = new Map(), param = new Map(), rowsMax, ...options }: AnalystOptions,
  work: (database: AnalystDatabase) => Promise<T>,
): Promise<T> {
  const manifest = await requireManifest(lake, lakeVersion);
  const folder = mkdtempSync(join(tmpdir(), `carquet-sql-${process.pid}-`));
  const remove = (): void => rmSync(folder, { recursive: true, force: true });
  process.once("exit", remove);
  const database = await DuckDatabase.open({ temporaryFolder: join(folder, "spill"), ...options });
  try {
    return await database.using(async (session) => {
      for (const view of viewsOf(manifest, resolve(lake))) await session.run(view);
      const attached = await attachFiles(session, attach);
      await setParameters(session, param);
      await database.lockDown([folder], [...parquetFiles(manifest, resolve(lake)), ...attached]);
      return work(new AnalystDatabase(session, folder, param, rowsMax));
    });
  } finally {
    database.close();
    process.off("exit", remove);
    remove();
  }
}

const parquetFiles = ({ tables }: Manifest, lake: string): readonly string[] =>
  Object.values(tables).flatMap((files) => files.map(({ path }) => join(lake, path)));
