/**
 * Measures look-ups as history grows:
 * `node --import tsx/esm bench/lookups/run.ts [--active 4000000] [--past 16000000] [--asks 300] [--lake DIR] [--json FILE]`.
 *
 * Publishes a lake of synthetic listings (in DIR, where a later run reuses it). Then looks up random known VINs and ids one after another,
 * uncached: in process from the Parquet files, in process from the row store, and over HTTP, metered, from a service with a row store.
 */
import { existsSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { type Row, textIn } from "../../src/base/json.ts";
import { integerLiteral, sql } from "../../src/db/sql.ts";
import { rowsOfFiles } from "../../src/lake/derived-relations.ts";
import { requireManifest } from "../../src/lake/published-lake.ts";
import { findListing, findVin } from "../../src/query/look-ups.ts";
import { LakeVersion } from "../../src/serving/lake-version.ts";
import { at } from "../queries/query.ts";
import { reportMeasurements } from "../report/report.ts";
import { type Measurement, timed } from "../report/results.ts";
import { withResources } from "../resources.ts";
import { serveLake } from "../servers/carquet.ts";
import { publishSyntheticLake } from "./synthetic-lake.ts";

const { values } = parseArgs({
  options: {
    active: { type: "string", default: "4000000" },
    past: { type: "string", default: "16000000" },
    /** The number of look-ups of each kind. */
    asks: { type: "string", default: "300" },
    lake: { type: "string" },
    json: { type: "string" },
  },
});
const lookUps = Number(values.asks);
/** A look-up in Parquet scans all files, so that few are measured. */
const parquetLookUpsMax = 5;

const lake = values.lake ?? (await mkdtemp(join(tmpdir(), "carquet-lookups-")));
if (!existsSync(join(lake, "CURRENT")))
  await publishSyntheticLake(lake, { active: Number(values.active), sold: Number(values.past) });
const measurements: Measurement[] = [];
for (const hasServingFiles of [false, true]) {
  const version = await LakeVersion.open(lake, (await requireManifest(lake)).version, { hasServingFiles });
  for (const table of ["listings", "sold"] as const) {
    const sample = await sampleListings(version, table);
    const state = table === "sold" ? "sold" : "active";
    const source = hasServingFiles ? "row store" : "Parquet";
    await measureLookUps(state, source, hasServingFiles ? sample : sample.slice(0, parquetLookUpsMax), {
      VIN: async (row) => (await findVin(textIn(row, "vin"), undefined, version)).vin,
      id: async (row) => (await findListing(textIn(row, "id"), undefined, version)).vin,
    });
    if (hasServingFiles) await measureOverHttp(state, sample);
  }
  version.close();
}
await reportMeasurements({ title: "Look-ups by id and VIN" }, measurements, values.json);
if (values.lake === undefined) await rm(lake, { recursive: true, force: true });

function sampleListings(version: LakeVersion, table: "listings" | "sold"): Promise<readonly Row[]> {
  return version.rows(sql`SELECT id, vin FROM (${rowsOfFiles(table, version.manifest.tables[table], lake)})
    USING SAMPLE ${integerLiteral(lookUps)} ROWS (reservoir, 42)`);
}

async function measureOverHttp(state: string, sample: readonly Row[]): Promise<void> {
  await withResources(async (acquire) => {
    const service = await serveLake(acquire, lake);
    await measureLookUps(state, "over HTTP", sample, {
      VIN: async (row) => at(await service.fetchJson(`/v1/vins/${textIn(row, "vin")}`), "data", "vin"),
      id: async (row) => at(await service.fetchJson(`/v1/listings/${textIn(row, "id")}`), "data", "vin"),
    });
  });
}

/** Looks up each row of a sample and returns the VIN of the listing found. */
type LookUp = (row: Row) => Promise<unknown>;

/** Measures the look-ups by VIN and by id. The first tenth is a warm-up. Throws if a look-up finds another VIN. */
async function measureLookUps(
  state: string,
  server: string,
  sample: readonly Row[],
  lookUpBy: Readonly<Record<"VIN" | "id", LookUp>>,
): Promise<void> {
  for (const [key, lookUp] of Object.entries(lookUpBy)) {
    const times: number[] = [];
    for (const row of sample) {
      const startedAtMs = performance.now();
      const vin = await lookUp(row);
      times.push(performance.now() - startedAtMs);
      if (vin !== row.vin) throw new Error(`Listing ${textIn(row, "id")} has VIN ${vin}: expected ${row.vin}.`);
    }
    measurements.push(timed(`${state}, by ${key}`, server, times.slice(times.length / 10)));
  }
}
