/**
 * Measures exports: `node --import tsx/esm bench/exports/run.ts [--lake DIR] [--search make=Ford] [--formats parquet,csv]
 * [--rounds 3] [--seconds 60] [--json FILE]`.
 *
 * First writes all listings of a search in each format with `carquet export`. Prints seconds, rows per second, bytes and peak memory of
 * each. Then lets eight clients search a service, in turn with and without an export over HTTP, and prints the latencies of the searches.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { parseArgs } from "node:util";
import { projectPath } from "../../src/base/project-files.ts";
import { UserError } from "../../src/base/user-error.ts";
import { exportFormats, type TableFormat } from "../../src/formats/table-formats.ts";
import { startExports } from "../measure/export-load.ts";
import { reportMeasurements } from "../report/report.ts";
import { type Measurement, measured, timed } from "../report/results.ts";
import { withResources } from "../resources.ts";
import { type ScriptServer, serveLake } from "../servers/carquet.ts";
import { peakMibOf, processorMsOf } from "../servers/process.ts";

const { values } = parseArgs({
  options: {
    lake: { type: "string", default: "data/lake" },
    search: { type: "string", default: "" },
    formats: { type: "string", default: exportFormats.join() },
    rounds: { type: "string", default: "3" },
    seconds: { type: "string", default: "60" },
    json: { type: "string" },
  },
});
const clients = 8;
const pollMs = 50;

await withResources(async (acquire) => {
  const folder = await acquire(mkdtemp(join(tmpdir(), "carquet-bench-")), (path) => rm(path, { recursive: true }));
  const formats = values.formats.split(",");
  const measurements: Measurement[] = [];
  for (const format of exportFormats.filter((name) => formats.includes(name)))
    measurements.push(...(await measureFormat(format, join(folder, format))));
  const service = await serveLake(acquire, values.lake);
  await measureLoad("warm-up", service, 10_000);
  for (let round = 1; round <= Number(values.rounds); round += 1) {
    const durationMs = Number(values.seconds) * 1000;
    measurements.push(...(await measureLoad(`round ${round}, without an export`, service, durationMs)));
    const exporting = startExports(service.url, service.key, values.search);
    measurements.push(...(await measureLoad(`round ${round}, with an export`, service, durationMs)));
    await exporting.stop();
  }
  await reportMeasurements({ title: "Exports" }, measurements, values.json);
});

/** Exports the search to a file. Returns what it took. */
async function measureFormat(format: TableFormat, path: string): Promise<readonly Measurement[]> {
  const search = values.search === "" ? [] : [values.search];
  const args = ["bin/carquet.cjs", "export", "--lake", values.lake, "--format", format, "--output", path, ...search];
  const startedAtMs = performance.now();
  const child = spawn(process.execPath, [...args, "--json"], {
    cwd: projectPath("."),
    stdio: ["ignore", "pipe", "inherit"],
  });
  let output = "";
  child.stdout.on("data", (text: Buffer) => {
    output += text.toString();
  });
  const closed = once(child, "close");
  const pid = child.pid ?? 0;
  let peakMib = 0;
  let processorMs = 0;
  while (child.exitCode === null && child.signalCode === null) {
    peakMib = Math.max(peakMib, peakMibOf(pid) || 0);
    processorMs = Math.max(processorMs, processorMsOf(pid) || 0);
    await Promise.race([closed, pause(pollMs)]);
  }
  await closed;
  if (child.exitCode !== 0) throw new UserError(`carquet export ended with ${child.exitCode}: expected 0.`);
  const seconds = (performance.now() - startedAtMs) / 1000;
  const { rows }: { readonly rows: number } = JSON.parse(output);
  const { size } = await stat(path);
  await rm(path);
  const costs = { s: seconds, "rows/s": rows / seconds, "processor s": processorMs / 1000 };
  return measured(format, "export", { rows, ...costs, bytes: size, "peak MiB": peakMib });
}

/** Lets the clients search for a time. Returns the requests and their latencies. */
async function measureLoad(name: string, { fetch }: ScriptServer, durationMs: number): Promise<readonly Measurement[]> {
  const startedAtMs: number = performance.now();
  const times: number[] = [];
  const search = async (): Promise<void> => {
    while (performance.now() < startedAtMs + durationMs) {
      const sentAtMs = performance.now();
      await fetch(pathOf(times.length));
      times.push(performance.now() - sentAtMs);
    }
  };
  await Promise.all(Array.from({ length: clients }, search));
  return [...measured(name, "search", { requests: times.length }), timed(name, "search", times)];
}

/** Returns the path of a search: pages of a make and a state, pages by price, and a sidebar. The sequence number distinguishes all paths. */
function pathOf(sequence: number): string {
  const limit = 20_000 + (sequence % 5000);
  const paths = [
    `/v1/listings?make=Ford,Toyota&state=CA&max_price=${limit}`,
    `/v1/listings?sort=price&min_price=${limit}`,
    `/v1/facets?facets=make,model,year,body_type,price,miles&state=TX&max_price=${limit}`,
  ];
  return paths[sequence % paths.length] ?? "";
}
