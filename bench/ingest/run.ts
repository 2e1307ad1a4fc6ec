/**
 * How long a day takes: `node --import tsx bench/ingest/run.ts --listings 1000000 [--format parquet|csv] [--days 2] [--memory 4GiB]`.
 * Prints seconds, rows a second and the peak memory of each day, each ingested by a process of its own, and what a listing costs on
 * disk. From the second day on, 95 % of the listings are known.
 */
import { execFile } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs, promisify } from "node:util";
import { plusDays } from "../../src/base/day.ts";
import { nodeOptions } from "../../src/base/restart.ts";
import { currentManifest } from "../../src/lake/manifest.ts";
import { writeDelivery } from "./feed.ts";

interface Measured {
  readonly rows: number;
  readonly seconds: number;
  readonly peakGib: number;
  readonly steps: readonly { readonly what: string; readonly seconds: number }[];
}

const { values } = parseArgs({
  options: {
    listings: { type: "string", default: "1000000" },
    format: { type: "string", default: "parquet" },
    days: { type: "string", default: "2" },
    memory: { type: "string" },
  },
});
const format = values.format === "csv" ? "csv" : "parquet";
const shape = { listings: Number(values.listings), turnover: 0.05, format } as const;
const folder = await mkdtemp(join(tmpdir(), "carquet-bench-"));
const [feeds, lake] = [join(folder, "feeds"), join(folder, "lake")];
const say = (line: string): boolean => process.stdout.write(`${line}\n`);
try {
  for (let index = 0; index < Number(values.days); index += 1) {
    const day = plusDays("2026-11-01", index);
    await writeDelivery(feeds, "2026-11-01", index, shape);
    const { rows, seconds, peakGib, steps } = await measured(day);
    const parts = steps.map((step) => `${step.what} ${step.seconds.toFixed(1)} s`).join(", ");
    say(
      `${day} ${format}: ${rows} rows in ${seconds.toFixed(1)} s, ${Math.round(rows / seconds)} rows/s, peak ${peakGib.toFixed(2)} GiB (${parts})`,
    );
  }
  const manifest = await currentManifest(lake);
  for (const [table, files] of Object.entries(manifest?.tables ?? {})) {
    const last = files.at(-1);
    if (last !== undefined)
      say(
        `${table}: ${last.rows} rows, ${last.bytes} bytes, ${(last.bytes / shape.listings).toFixed(1)} bytes a listing`,
      );
  }
} finally {
  await rm(folder, { recursive: true, force: true });
}

async function measured(day: string): Promise<Measured> {
  const script = fileURLToPath(new URL("day.ts", import.meta.url));
  const args = [...nodeOptions(), script, feeds, day, lake, ...(values.memory === undefined ? [] : [values.memory])];
  const { stdout } = await promisify(execFile)(process.execPath, args);
  return JSON.parse(stdout);
}
