/**
 * Measures how listings are found and counted in typed arrays, beside statements of the engine with the same filters, on the search indexes of a lake:
 * `node --import tsx/esm bench/search-index/run.ts [--lake DIR] [--threads N] [--json FILE]`.
 *
 * Prints the median, the minimum and the processor time of each strategy in ms.
 */
import { parseArgs } from "node:util";
import { decoderOf } from "../../src/contract/decode.ts";
import { sql } from "../../src/db/sql.ts";
import { requireManifest } from "../../src/lake/published-lake.ts";
import { countFacets, planFacets } from "../../src/query/facets/facets.ts";
import { planSearch } from "../../src/query/search.ts";
import { LakeVersion } from "../../src/serving/lake-version.ts";
import { reportMeasurements } from "../report/report.ts";
import { type Measurement, measured, timed } from "../report/results.ts";

const { values } = parseArgs({
  options: {
    lake: { type: "string", default: "data/lake" },
    threads: { type: "string", default: "2" },
    json: { type: "string" },
  },
});
const warmUpRounds = 20;
const measuredRounds = 60;
const measurements: Measurement[] = [];

const pages = [
  "",
  "make=toyota&model=camry&max_price=30000&sort=price",
  "state=CA",
  "state=CA&max_price=30000&sort=price",
  "postal_code=90001&radius=50&sort=distance",
  "features=apple_carplay,bluetooth&sort=-discount",
  "min_price=20000&max_price=30000",
  "vin_pattern=1??G*",
];
const facets = "make,model,trim,body_type,state,exterior_color,features,price,miles";

const { version: name } = await requireManifest(values.lake);
const version = await LakeVersion.open(values.lake, name, { threads: Number(values.threads) });
for (const query of pages) {
  const plan = planSearch(decoderOf("searchListings")(query, {}).query, version);
  const { listings } = plan.mode;
  await measureTimes(`page: ${query || "everything"}`, "typed arrays", () => plan.mode.listings.findPage(plan));
  await measureTimes(`page: ${query || "everything"}`, "engine", () =>
    listings.runOverMatches(
      plan,
      (matches) =>
        sql`SELECT (count(*) OVER ())::INTEGER AS total, row_number FROM (${matches}) ORDER BY sort_key LIMIT 50`,
    ),
  );
}
for (const query of ["", "state=CA", "make=toyota"]) {
  const plan = planFacets(decoderOf("getFacets")(`${query}&facets=${facets}`.replace(/^&/, ""), {}).query, version);
  await measureTimes(`facets: ${query || "everything"}`, "typed arrays", () => countFacets(plan));
}
version.close();
await reportMeasurements({ title: "Finding and counting listings" }, measurements, values.json);

async function measureTimes(label: string, server: string, run: () => Promise<unknown>): Promise<void> {
  for (let round = 0; round < warmUpRounds; round += 1) await run();
  const times: number[] = [];
  const usageBefore = process.cpuUsage();
  for (let round = 0; round < measuredRounds; round += 1) {
    const startedAtMs = performance.now();
    await run();
    times.push(performance.now() - startedAtMs);
  }
  const { user, system } = process.cpuUsage(usageBefore);
  measurements.push(timed(label, server, times));
  const least = { "minimum ms": Math.min(...times), "processor ms": (user + system) / 1000 / measuredRounds };
  measurements.push(...measured(label, server, least));
}
