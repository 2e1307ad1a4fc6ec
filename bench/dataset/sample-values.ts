/** Sample values for queries: the makes, places, tokens and listings of a dataset, most common first. Cached in the dataset's folder. */
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { plusDays } from "../../src/base/day.ts";
import type { Row } from "../../src/base/json.ts";
import { DuckDatabase, type Session } from "../../src/db/duckdb.ts";
import { Sql } from "../../src/db/sql.ts";
import { viewsOf } from "../../src/lake/analyst/analyst-views.ts";
import type { Manifest } from "../../src/lake/manifest.ts";
import { requireManifest } from "../../src/lake/published-lake.ts";
import { pointOfZip } from "../../src/query/geography.ts";
import type { Origin } from "../peers/peer.ts";
import type { Dataset } from "./dataset.ts";
import { snapshotDay } from "./flat-rows.ts";

export interface SampleCar {
  readonly make: string;
  readonly model: string;
  /** The model's median price. */
  readonly price: number;
}

export interface Zip extends Origin {
  readonly code: string;
}

export interface SampleValues {
  /** The active listings of the dataset, about as many on each day. */
  readonly listings: number;
  /** The first day of the dataset. There is a snapshot for each day up to `asOf`. */
  readonly firstDay: string;
  readonly snapshotDay: string;
  readonly asOf: string;
  readonly makes: readonly string[];
  readonly cars: readonly SampleCar[];
  readonly states: readonly string[];
  readonly zips: readonly Zip[];
  readonly features: readonly string[];
  readonly dealers: readonly string[];
  readonly ids: readonly string[];
  readonly vins: readonly string[];
}

/** Limits: values of a column, pairs of make and model, and listings to look up. */
const valuesMax = 100;
const carsMax = 200;
const listingsMax = 500;

export async function loadSampleValues(dataset: Dataset): Promise<SampleValues> {
  const { listings, days, end } = dataset.shape;
  return { ...(await loadQueriedValues(dataset)), listings, firstDay: plusDays(end, 1 - days) };
}

type QueriedValues = Omit<SampleValues, "listings" | "firstDay">;

async function loadQueriedValues({ folder, lake }: Dataset): Promise<QueriedValues> {
  const path = join(folder, "sample-values.json");
  const cached = await readFile(path, "utf8").catch(() => undefined);
  if (cached !== undefined) return JSON.parse(cached);
  const manifest = await requireManifest(lake);
  const database = await DuckDatabase.open();
  try {
    const values = await database.using((session) => querySampleValues(session, lake, manifest));
    await writeFile(path, JSON.stringify(values, null, 2));
    return values;
  } finally {
    database.close();
  }
}

async function querySampleValues(session: Session, lake: string, manifest: Manifest): Promise<QueriedValues> {
  for (const view of viewsOf(manifest, lake)) await session.run(view);
  const query = (statement: string): Promise<readonly Row[]> => session.rows(new Sql([statement], []));
  const mostCommon = async (column: string, from = "active"): Promise<readonly string[]> => {
    const rows = await query(`
      SELECT ${column} AS sample_value FROM ${from} WHERE sample_value IS NOT NULL
      GROUP BY sample_value ORDER BY count(*) DESC, sample_value LIMIT ${valuesMax}`);
    return rows.map((row) => String(row.sample_value));
  };
  const cars = await query(`
    SELECT make, model, quantile_disc(price, 0.5) AS price FROM active
    WHERE make IS NOT NULL AND model IS NOT NULL AND price IS NOT NULL
    GROUP BY make, model ORDER BY count(*) DESC, make, model LIMIT ${carsMax}`);
  const listings = await query(
    `SELECT replace(id::VARCHAR, '-', '') AS id, vin FROM active ORDER BY hash(id) LIMIT ${listingsMax}`,
  );
  return {
    snapshotDay: snapshotDay(manifest),
    asOf: manifest.as_of,
    makes: await mostCommon("make"),
    cars: cars.map(({ make, model, price }) => ({ make: String(make), model: String(model), price: Number(price) })),
    states: await mostCommon("state"),
    zips: (await mostCommon("postal_code")).flatMap((code) => {
      const point = pointOfZip(code);
      return point === undefined ? [] : [{ code, ...point }];
    }),
    features: await mostCommon("feature", `(SELECT unnest(features) AS feature FROM active)`),
    dealers: await mostCommon("dealer_id"),
    ids: listings.map(({ id }) => String(id)),
    vins: listings.map(({ vin }) => String(vin)),
  };
}
