/**
 * `catalog.duckdb`: a database file with the views and macros of a version, which any DuckDB opens without Carquet. It has no rows: the views
 * read the version's Parquet files by absolute paths, because DuckDB resolves relative ones from the folder that it is started in.
 *
 * What depends on the version are macros, one for the rows of each view. The views over them are created once in a process, because their
 * hundreds of comments take longer than all else.
 */
import { readFile, realpath, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { textIn } from "../../base/json.ts";
import { messageOf } from "../../base/user-error.ts";
import { DuckDatabase, type Session } from "../../db/duckdb.ts";
import { classifyFault } from "../../db/engine-faults.ts";
import { fileLiteral, ident, join as joinSql, literal, plainIdent, Sql, sql } from "../../db/sql.ts";
import { type Manifest, noFiles } from "../manifest.ts";
import { type Market, snapshotMacrosOf, viewQueriesOf } from "./analyst-views.ts";
import { commentsOnMacros, commentsOnViews } from "./view-comments.ts";

export const catalogName = "catalog.duckdb";

/** The catalog of a lake without rows: every other one has the same views, columns and comments. */
let emptyCatalog: Buffer | undefined;

const emptyMarket: Market = { tables: noFiles, as_of: "1970-01-01", days: {} };

/** Writes the catalog of a version into a folder. Views of files that cannot be read fail by name when they are queried; `verify` reports the files. */
export async function writeCatalog(lake: string, manifest: Manifest, into: string): Promise<void> {
  const path = join(into, catalogName);
  const temporary = `${path}.new`;
  const folder = await realpath(lake);
  emptyCatalog ??= await createEmptyCatalog(temporary);
  const macros = macrosOf(manifest, folder);
  try {
    await changeCopy(temporary, emptyCatalog, async (session) => {
      await session.run(sql`BEGIN`);
      await runAll(session, [...macros, ...commentsOnMacros]);
      await session.run(sql`COMMIT`);
    });
  } catch (thrown) {
    if (!isFileFault(thrown)) throw thrown;
    await changeCopy(temporary, emptyCatalog, (session) => replaceReadable(session, macros));
  }
  await rename(temporary, path);
}

/** Replaces each macro alone. One that needs a file that cannot be read is replaced by one that fails with its name and the reason. */
async function replaceReadable(session: Session, macros: readonly Sql[]): Promise<void> {
  let hasFailed = false;
  for (const macro of macros)
    await session.run(macro).catch(async (fault: unknown) => {
      // A view over a replaced one fails for other reasons.
      const [head, name = "", view] = creation.exec(macro.text) ?? [];
      if (head === undefined || !(hasFailed || isFileFault(fault))) throw fault;
      hasFailed = true;
      const failing = view === undefined ? `MACRO ${name}` : `VIEW "${view}"`;
      const reason = `${failing} cannot be read: ${messageOf(fault).split("\n")[0]}`;
      await session.run(sql`${new Sql([head], [])} SELECT error(${literal(reason)})::VARCHAR AS fault`);
      if (view !== undefined) await session.run(viewOver(view));
    });
  await runAll(session, commentsOnMacros);
}

/** The beginning of a statement that creates a macro. */
const creation = /^CREATE OR REPLACE MACRO ((?:rows_of_(\w+)|\w+)\([^)]*\)) AS TABLE/;

async function createEmptyCatalog(path: string): Promise<Buffer> {
  await changeCopy(path, undefined, async (session) => {
    await session.run(sql`BEGIN`);
    for (const [name, query] of Object.entries(viewQueriesOf(emptyMarket, "")))
      await runAll(session, [rowsMacro(name, query), viewOver(name)]);
    const rows = await session.rows(
      sql`SELECT table_name, column_name FROM duckdb_columns() WHERE database_name = 'catalog'`,
    );
    const columns = rows.map((row) => [textIn(row, "table_name"), textIn(row, "column_name")] as const);
    await runAll(session, commentsOnViews(columns));
    await session.run(sql`COMMIT`);
  });
  return readFile(path);
}

/** The name of the macro with the rows of a view. */
const rowsOf = (view: string): Sql => plainIdent(`rows_of_${view}`);

const rowsMacro = (view: string, query: Sql): Sql => sql`CREATE OR REPLACE MACRO ${rowsOf(view)}() AS TABLE ${query}`;

const viewOver = (name: string): Sql => sql`CREATE OR REPLACE VIEW ${ident(name)} AS FROM ${rowsOf(name)}()`;

const macrosOf = (market: Market, folder: string): readonly Sql[] => [
  ...Object.entries(viewQueriesOf(market, folder)).map(([name, query]) => rowsMacro(name, query)),
  ...snapshotMacrosOf(market, folder),
];

const runAll = (session: Session, statements: readonly Sql[]): Promise<void> =>
  session.run(joinSql(statements, sql`; `));

/** Writes a copy of a database file, or an empty one, and changes it. */
async function changeCopy(
  path: string,
  original: Buffer | undefined,
  work: (session: Session) => Promise<void>,
): Promise<void> {
  for (const left of [path, `${path}.wal`]) await rm(left, { force: true });
  if (original !== undefined) await writeFile(path, original);
  await DuckDatabase.use({ threads: 1 }, async (session) => {
    await session.run(sql`ATTACH ${fileLiteral(path)} AS catalog`);
    await session.run(sql`USE catalog`);
    await work(session);
    await session.run(sql`USE memory`);
    await session.run(sql`DETACH catalog`);
  });
}

const isFileFault = (thrown: unknown): boolean => ["damaged", "missing", "io error"].includes(classifyFault(thrown));
