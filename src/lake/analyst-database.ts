/**
 * The lake as analysts see it: a database with the views of the published version, in which they may run what they like.
 *
 * This is the one place where SQL comes in as text, from the person at the terminal; it is never reached from the API.
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

/** Runs some work with a way to ask the published version. Fails when nothing is published, or a query is wrong. */
export async function openAnalystDatabase<T>(
  lake: string,
  options: DatabaseOptions,
  work: (ask: (query: string) => Promise<QueryResult>) => Promise<T>,
): Promise<T> {
  const manifest = await currentManifest(lake);
  if (manifest === undefined)
    throw new UserError(`${lake}: nothing has been published yet; see carquet ingest --help.`);
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
