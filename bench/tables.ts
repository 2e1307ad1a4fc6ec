/** The results of a run as tables in Markdown. */
import { nameOf, peersOf, short } from "./report.ts";
import type { Results } from "./results.ts";

/** All that a run found, under a heading of its own. */
export function section(run: Results): string {
  const { dataset, machine, versions, memory, fdatasync } = run;
  const told = Object.entries(versions).map(([what, version]) => `${what} ${version}`);
  const bytes = Object.entries(dataset.bytes).map(([what, size]) => `${what} ${(size / 1e6).toFixed(0)} MB`);
  return [
    `## ${dataset.listings.toLocaleString("en")} listings, ${dataset.days} days, ${dataset.options} options`,
    `Seed ${dataset.seed}, as of ${dataset.end}, ${dataset.sold.toLocaleString("en")} sold. ${machine.cpu}, ${machine.cores} cores, ${machine.memory_gib} GiB, ${machine.system}. ${told.join(", ")}. On disk: ${bytes.join(", ")}.`,
    casesTable(run),
    ...(run.throughput.length === 0 ? [] : [throughputTable(run)]),
    [
      ...(memory === undefined
        ? []
        : [`Memory of the service: ${memory.rest_mib} MiB at rest, ${memory.peak_mib} MiB at the peak.`]),
      ...(fdatasync === undefined
        ? []
        : [`4 KiB on disk: ${short(fdatasync.p50_ms)} ms, at the 99th percentile ${short(fdatasync.p99_ms)} ms.`]),
    ].join(" "),
  ].join("\n\n");
}

const table = (head: readonly string[], rows: readonly (readonly string[])[]): string =>
  [head, ["---", ...head.slice(1).map(() => "---:")], ...rows].map((row) => `| ${row.join(" | ")} |`).join("\n");

const labels = { duckdb: "DuckDB, flat Parquet", clickhouse: "ClickHouse", sqlite: "SQLite" } as const;

/** The cases of a run. */
export function casesTable(run: Results): string {
  const peers = peersOf(run);
  return table(
    ["case", "rows", "Carquet", "p99", "over HTTP", ...peers.map((peer) => labels[peer])],
    run.cases.map(({ case: name, rows, carquet, http, peers: theirs, ratio }) => [
      ...[name, rows.toLocaleString("en"), short(carquet.p50_ms), short(carquet.p99_ms), short(http?.p50_ms)],
      ...peers.map((peer) =>
        theirs[peer] === undefined ? "" : `${short(theirs[peer]?.p50_ms)} (${short(ratio[peer])})`,
      ),
    ]),
  );
}

/** The throughput of a run. */
export function throughputTable(run: Results): string {
  const peers = peersOf(run);
  return table(
    ["requests a second, mixed", "Carquet", "p99 ms", ...peers.map((peer) => labels[peer])],
    run.throughput.map((one) => [
      ...[nameOf(one), short(one.carquet.requests_per_second), short(one.carquet.p99_ms)],
      ...peers.map((peer) => {
        const load = one.peers[peer];
        return load === undefined ? "" : `${short(load.requests_per_second)} (${short(one.ratio[peer])})`;
      }),
    ]),
  );
}
