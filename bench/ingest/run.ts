/**
 * Measures ingestion: `node --import tsx/esm bench/ingest/run.ts [--listings 1000000] [--format parquet|csv] [--days 2] [--memory 4GiB]
 * [--json FILE]`.
 *
 * Ingests synthetic deliveries into a temporary lake, each day in its own process. Prints seconds, rows per second and peak memory of each
 * day, then bytes per listing on disk. From the second day on, 95 % of the listings are known from the day before.
 */
import { execFile } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs, promisify } from "node:util";
import { plusDays } from "../../src/base/day.ts";
import { currentManifest } from "../../src/lake/manifest.ts";
import { reportMeasurements } from "../report/report.ts";
import { type Measurement, measured } from "../report/results.ts";
import { typescriptOptions } from "../servers/carquet.ts";
import { writeDelivery } from "./feed.ts";

interface DayMeasurement {
  readonly rows: number;
  readonly seconds: number;
  readonly peakGib: number;
  readonly steps: readonly { readonly name: string; readonly seconds: number }[];
}

const { values } = parseArgs({
  options: {
    listings: { type: "string", default: "1000000" },
    format: { type: "string", default: "parquet" },
    days: { type: "string", default: "2" },
    memory: { type: "string" },
    json: { type: "string" },
  },
});
const firstDay = "2026-11-01";
const format = values.format === "csv" ? "csv" : "parquet";
const shape = { listings: Number(values.listings), turnover: 0.05, format } as const;
const folder = await mkdtemp(join(tmpdir(), "carquet-bench-"));
const feeds = join(folder, "feeds");
const lake = join(folder, "lake");
const measurements: Measurement[] = [];
try {
  for (let index = 0; index < Number(values.days); index += 1) {
    const day = plusDays(firstDay, index);
    await writeDelivery(feeds, firstDay, index, shape);
    const { rows, seconds, peakGib, steps } = await measureDay(day);
    measurements.push(...measured(day, format, { rows, s: seconds, "rows/s": rows / seconds, "peak GiB": peakGib }));
    for (const step of steps) measurements.push(...measured(`${day}, ${step.name}`, format, { s: step.seconds }));
  }
  const manifest = await currentManifest(lake);
  for (const [table, files] of Object.entries(manifest?.tables ?? {})) {
    const newest = files.at(-1);
    if (newest === undefined) continue;
    const { rows, bytes } = newest;
    measurements.push(...measured(table, "newest file", { bytes, rows, "bytes per listing": bytes / shape.listings }));
  }
  await reportMeasurements({ title: `Ingest of ${values.listings} listings` }, measurements, values.json);
} finally {
  await rm(folder, { recursive: true, force: true });
}

async function measureDay(day: string): Promise<DayMeasurement> {
  const script = fileURLToPath(new URL("day.ts", import.meta.url));
  const args = [
    ...typescriptOptions,
    script,
    feeds,
    day,
    lake,
    ...(values.memory === undefined ? [] : [values.memory]),
  ];
  const { stdout } = await promisify(execFile)(process.execPath, args);
  return JSON.parse(stdout);
}
