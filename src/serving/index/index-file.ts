/** Builds a search index: the publisher in a file, the service in memory where the file is missing. */
import { createHash } from "node:crypto";
import { engineVersion, type Session } from "../../db/duckdb.ts";
import { fileLiteral, ident, sql } from "../../db/sql.ts";
import { rowsOfFiles } from "../../lake/derived-relations.ts";
import type { TableFiles } from "../../lake/manifest.ts";
import { buildStatements, type IndexInput, storageOptions } from "./build.ts";

const indexedDimensions = ["builds", "dealers", "tokens"] as const;

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
export async function buildIndexFile(session: Session, rows: IndexInput, path: string): Promise<void> {
  await attachNewIndex(session, rows, { catalog: "new_index", path }, () => session.run(sql`DETACH new_index`));
}

/**
 * Attaches a new index of rows as a catalog, in memory or at a path that does not exist yet, and returns what `use` makes of it. Detaches the index if it
 * cannot be built or used. Needs the tables of dimensions.
 */
export async function attachNewIndex<T>(
  session: Session,
  rows: IndexInput,
  { catalog, path }: { readonly catalog: string; readonly path?: string },
  use: () => Promise<T>,
): Promise<T> {
  await session.run(
    path === undefined
      ? sql`ATTACH ':memory:' AS ${ident(catalog)} (${storageOptions}, COMPRESS)`
      : sql`ATTACH ${fileLiteral(path)} AS ${ident(catalog)} (${storageOptions})`,
  );
  try {
    for (const statement of buildStatements(catalog, rows)) await session.run(statement);
    return await use();
  } catch (thrown) {
    // A detach that failed, because the disk is full, has detached it. The first error says why.
    await session.run(sql`DETACH ${ident(catalog)}`).catch(() => undefined);
    throw thrown;
  }
}

/** Format of the index file: a hash of the engine's version, of the options and of all statements, so that any change invalidates existing files. */
export const searchIndexFormat: string = createHash("sha256")
  .update(
    [
      engineVersion,
      storageOptions.texts.join(),
      ...buildStatements("", { listings: sql``, market: { valuations: sql``, effects: sql`` } }).map(
        ({ texts, values }) => `${texts.join("?")} ${values.map(String).join()}`,
      ),
    ].join("\n"),
  )
  .digest("hex")
  .slice(0, 8);
