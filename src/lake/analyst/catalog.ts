/**
 * `catalog.duckdb`: a database file with the views and macros of a version, which any DuckDB opens without Carquet. It has no rows: the views
 * read the version's Parquet files by absolute paths, because DuckDB resolves relative ones from the folder that it is started in.
 */
import { realpath, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { textIn } from "../../base/json.ts";
import { messageOf } from "../../base/user-error.ts";
import { DuckDatabase, type Session } from "../../db/duckdb.ts";
import { classifyFault } from "../../db/engine-faults.ts";
import { fileLiteral, join as joinSql, literal, Sql, sql } from "../../db/sql.ts";
import { type Manifest, versionKey } from "../manifest.ts";
import { viewsOf } from "./analyst-views.ts";

export const catalogName = "catalog.duckdb";

/** Writes the catalog of a version into its folder. Views of files that cannot be read fail by name when they are queried; `verify` reports the files. */
export async function writeCatalog(lake: string, manifest: Manifest): Promise<void> {
  const path = join(lake, versionKey(manifest.version), catalogName);
  const temporary = `${path}.new`;
  for (const left of [temporary, `${temporary}.wal`]) await rm(left, { force: true });
  const folder = await realpath(lake);
  const database = await DuckDatabase.open({ threads: 1 });
  try {
    await database.using(async (session) => {
      await session.run(sql`ATTACH ${fileLiteral(temporary)} AS catalog`);
      await session.run(sql`USE catalog`);
      await createViews(session, viewsOf(manifest, folder));
      await session.run(sql`USE memory`);
      await session.run(sql`DETACH catalog`);
    });
  } finally {
    database.close();
  }
  await rename(temporary, path);
}

/**
 * Creates views with their comments in one transaction, which takes a third of the time. If a file cannot be read, creates each view alone: one that needs the file is
 * replaced by one that fails with its name and the reason.
 */
async function createViews(session: Session, views: readonly Sql[]): Promise<void> {
  try {
    await session.run(sql`BEGIN`);
    for (const view of views) await session.run(view);
    await commentViews(session);
    await session.run(sql`COMMIT`);
  } catch (thrown) {
    if (!isFileFault(thrown)) throw thrown;
    await session.run(sql`ROLLBACK`);
    let hasFailed = false;
    for (const view of views)
      await session.run(view).catch(async (fault: unknown) => {
        // A view over a replaced one fails for other reasons.
        const [head, name] = creation.exec(view.text) ?? [];
        if (head === undefined || !(hasFailed || isFileFault(fault))) throw fault;
        hasFailed = true;
        const reason = `${name} cannot be read: ${messageOf(fault).split("\n")[0]}`;
        await session.run(sql`${new Sql([head], [])} SELECT error(${literal(reason)})::VARCHAR AS fault`);
      });
    await commentViews(session);
  }
}

async function commentViews(session: Session): Promise<void> {
  const { commentsOn } = await import("./view-comments.ts");
  const rows = await session.rows(
    sql`SELECT table_name, column_name FROM duckdb_columns() WHERE database_name = 'catalog'`,
  );
  const columns = rows.map((row) => [textIn(row, "table_name"), textIn(row, "column_name")] as const);
  await session.run(joinSql(commentsOn(columns), sql`; `));
}

/** The beginning of a statement that creates a view or a table macro. */
const creation = /^CREATE OR REPLACE (VIEW "\w+"|MACRO \w+\([^)]*\)) AS( TABLE)?/;

const isFileFault = (thrown: unknown): boolean => ["damaged", "missing", "io error"].includes(classifyFault(thrown));
