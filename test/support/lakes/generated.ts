/** Small generated markets. */
import { join } from "node:path";
import type { Row } from "../../../src/base/json.ts";
import { type DatabaseOptions, DuckDatabase } from "../../../src/db/duckdb.ts";
import { literal, sql } from "../../../src/db/sql.ts";
import { generate } from "../../../src/demo/generate.ts";
import { defaultShares, type MarketShape } from "../../../src/demo/market-shape.ts";
import type { Scope } from "../scope.ts";
import { temporaryFolder } from "./lakes.ts";

export const smallMarket: MarketShape = {
  listings: 2500,
  days: 2,
  end: "2026-11-19",
  seed: 7,
  format: "csv",
  options: "typical",
  shares: defaultShares,
};

/** Generates a market into a temporary folder; returns the folder. */
export async function generateFeeds(
  scope: Scope,
  shape: Partial<MarketShape> = {},
  options: DatabaseOptions = {},
): Promise<string> {
  const folder = join(await temporaryFolder(scope), "feeds");
  await generate(folder, { ...smallMarket, ...shape }, options);
  return folder;
}

/** Returns the rows of a CSV file, all values as text. */
export async function readCsv(path: string): Promise<readonly Row[]> {
  const database = await DuckDatabase.open();
  try {
    return await database.using((session) =>
      session.rows(sql`FROM read_csv(${literal(path)}, header = true, all_varchar = true)`),
    );
  } finally {
    database.close();
  }
}
