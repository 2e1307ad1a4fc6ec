/**
 * A DuckDB database with views of the published version, for `carquet sql`.
 *
 * This is the only module that accepts SQL as text. The text comes from the user's terminal; the API never reaches this module.
 */
import { resolve } from "node:path";
import type { Row } from "../base/json.ts";
import { messageOf, UserError } from "../base/user-error.ts";
import { type DatabaseOptions, DuckDatabase } from "../db/duckdb.ts";
import { Sql } from "../db/sql.ts";
import { currentManifest } from "./manifest.ts";
import { viewsOf } from "./views.ts";

export interface QueryResult {
  readonly columns: readonly string[];
  readonly rows: readonly Row[];
}

/**
 * Opens the database and passes a query function to `work`. The query function throws a UserError if the SQL is invalid. Throws a
 * UserError if nothing has been published.
 */
export async function openAnalystDatabase<T>(
  lake: string,
  options: DatabaseOptions,
  work: (runQuery: (query: string) => Promise<QueryResult>) => Promise<T>,
): Promise<T> {
  const manifest = await currentManifest(lake);
  if (manifest === undefined)
    throw new UserError(`${lake}: nothing has been published yet. See carquet ingest --help.`);
  const database = await DuckDatabase.open(options);
  try {
    return await database.using(async (session) => {
      for (const view of viewsOf(manifest, resolve(lake))) await session.run(view);
      return work(async (query) => {
        try {
          return await session.table(new Sql([query], []));
        } catch (thrown) {
          throw new UserError(messageOf(thrown));
        }
      });
    });
  } finally {
    database.close();
  }
}
