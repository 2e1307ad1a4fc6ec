/** What questions are about: the makes, places, tokens and listings of a dataset, the commonest first, found once and kept. */
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Row } from "../../src/base/json.ts";
import { DuckDatabase } from "../../src/db/duckdb.ts";
import { Sql } from "../../src/db/sql.ts";
import { pointOfZip } from "../../src/query/zip-codes.ts";
import type { Origin } from "../peers/peer.ts";
import type { Dataset } from "./dataset.ts";
import { manifestOf, snapshotDay } from "./flat-rows.ts";

export interface SampledListing {
  readonly make: string;
  readonly model: string;
  /** Half of the cars of this model cost less. */
  readonly price: number;
}

export interface Zip extends Origin {
  readonly code: string;
}

export interface Words {
  readonly snapshotDay: string;
  readonly asOf: string;
  readonly makes: readonly string[];
  readonly cars: readonly SampledListing[];
  readonly states: readonly string[];
  readonly zips: readonly Zip[];
  readonly features: readonly string[];
  readonly dealers: readonly string[];
  readonly ids: readonly string[];
  readonly vins: readonly string[];
}

/** Some listings to look up; each is asked for once in a while. */
const sampled = 500;

/** The words of a dataset. */
export async function questionWords({ folder, flat, lake }: Dataset): Promise<Words> {
  const path = join(folder, "words.json");
  const known = await readFile(path, "utf8").catch(() => undefined);
  if (known !== undefined) return JSON.parse(known);
  const manifest = await manifestOf(lake);
  const database = await DuckDatabase.open();
  try {
    const words = await database.using(async (session): Promise<Words> => {
      const ask = (query: string): Promise<readonly Row[]> =>
        session.rows(new Sql([query.replaceAll("ACTIVE", `read_parquet('${join(flat, "active.parquet")}')`)], []));
      const commonest = async (column: string, from = "ACTIVE"): Promise<readonly string[]> =>
        (
          await ask(
            `SELECT ${column} AS word FROM ${from} WHERE word IS NOT NULL GROUP BY word ORDER BY count(*) DESC, word LIMIT 100`,
          )
        ).map(({ word }) => String(word));
      const cars = await ask(`
        SELECT make, model, quantile_disc(price, 0.5) AS price FROM ACTIVE WHERE make IS NOT NULL AND model IS NOT NULL AND price IS NOT NULL
        GROUP BY make, model ORDER BY count(*) DESC, make, model LIMIT 200`);
      const sample = await ask(`SELECT id, vin FROM ACTIVE ORDER BY hash(id) LIMIT ${sampled}`);
      return {
        snapshotDay: snapshotDay(manifest),
        asOf: manifest.as_of,
        makes: await commonest("make"),
        cars: cars.map(({ make, model, price }) => ({
          make: String(make),
          model: String(model),
          price: Number(price),
        })),
        states: await commonest("state"),
        zips: (await commonest("postal_code")).flatMap((code) => {
          const point = pointOfZip(code);
          return point === undefined ? [] : [{ code, ...point }];
        }),
        features: await commonest("feature", "(SELECT unnest(features) AS feature FROM ACTIVE)"),
        dealers: await commonest("dealer_id"),
        ids: sample.map(({ id }) => String(id)),
        vins: sample.map((row) => String(row.vin)),
      };
    });
    await writeFile(path, JSON.stringify(words, null, 2));
    return words;
  } finally {
    database.close();
  }
}
