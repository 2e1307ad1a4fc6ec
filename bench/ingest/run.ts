/**
 * How long a day takes: `node --import tsx bench/ingest/run.ts --listings 1000000 [--format parquet|csv] [--days 2]`.
 * Prints rows a second, peak memory, and what a listing costs on disk. The last day has 95 % of its listings from the day before.
 */
import { mkdtemp, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { plusDays } from "../../src/base/day.ts";
import { deliveriesAt } from "../../src/ingest/delivery.ts";
import { ingest } from "../../src/ingest/ingest.ts";
import { currentManifest } from "../../src/lake/manifest.ts";
import { writeDelivery } from "./feed.ts";

const { values } = parseArgs({
  options: {
    listings: { type: "string", default: "1000000" },
    format: { type: "string", default: "parquet" },
    days: { type: "string", default: "2" },
    memory: { type: "string" },
    out: { type: "string" },
  },
});
const format = values.format === "csv" ? "csv" : "parquet";
const shape = { listings: Number(values.listings), turnover: 0.05, format } as const;
const folder = values.out ?? (await mkdtemp(join(tmpdir(), "carquet-bench-")));
const [feeds, lake] = [join(folder, "feeds"), join(folder, "lake")];
for (let index = 0; index < Number(values.days); index += 1) {
  const day = plusDays("2026-11-01", index);
  await writeDelivery(feeds, "2026-11-01", index, shape);
  const startedAtMs = performance.now();
  let lastMs = startedAtMs;
  let running = "";
  const told = (what: string): void => {
    const nowMs = performance.now();
    if (running !== "") process.stdout.write(`  ${running}: ${((nowMs - lastMs) / 1000).toFixed(1)} s\n`);
    [lastMs, running] = [nowMs, what];
  };
  const [account] = await ingest(lake, await deliveriesAt(feeds, day), {
    ...(values.memory === undefined ? {} : { memoryLimit: values.memory }),
    onStep: (_day, _step, _steps, what) => told(what),
  });
  told("");
  const seconds = (performance.now() - startedAtMs) / 1000;
  const peakGib = (process.resourceUsage().maxRSS / 1024 / 1024).toFixed(2);
  process.stdout.write(
    `${day} ${format}: ${account?.rows} rows in ${seconds.toFixed(1)} s, ${Math.round((account?.rows ?? 0) / seconds)} rows/s, peak ${peakGib} GiB\n`,
  );
}
const manifest = await currentManifest(lake);
const listings = shape.listings;
for (const [table, files] of Object.entries(manifest?.tables ?? {})) {
  const last = files.at(-1);
  if (last === undefined) continue;
  const { size } = await stat(join(lake, last.path));
  process.stdout.write(`${table}: ${last.rows} rows, ${size} bytes, ${(size / listings).toFixed(1)} bytes a listing\n`);
}
if (values.out === undefined) await rm(folder, { recursive: true, force: true });
