/** Builds the file of a search index. */
import type { Session } from "../../db/duckdb.ts";
import { fileLiteral, ident, type Sql, sql } from "../../db/sql.ts";
import { rowsOfFiles } from "../../lake/file-rows.ts";
import type { TableFiles } from "../../lake/manifest.ts";
import { buildStatements, storage } from "./build.ts";

/** The dimensions that an index is built from. */
export const indexedDimensions = ["builds", "dealers", "tokens"] as const;

/** Calls `work` while the dimensions exist as temporary tables. File paths are relative to `folder`. */
export async function withDimensionTables<T>(
  session: Session,
  { tables, folder }: { readonly tables: TableFiles; readonly folder: string },
  work: () => Promise<T>,
): Promise<T> {
  try {
    for (const table of indexedDimensions)
      await session.createTempTable(table, rowsOfFiles(table, tables[table], folder));
    return await work();
  } finally {
    await session.drop(...indexedDimensions);
  }
}

/** Builds an index of rows (see `buildStatements`) at a path that does not exist yet. Needs the tables of dimensions. */
export async function buildIndexFile(session: Session, listings: Sql, path: string): Promise<void> {
  await session.run(sql`ATTACH ${fileLiteral(path)} AS ${ident(catalog)} (${storage})`);
  try {
    for (const statement of buildStatements(catalog, listings)) await session.run(statement);
  } finally {
    await session.run(sql`DETACH ${ident(catalog)}`);
  }
}

const catalog = "new_index";
