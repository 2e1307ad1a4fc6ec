/** The results of a run as tables in Markdown. */
import { approximations, nameOf, peersOf, short } from "./report.ts";
import { askedIn, type CaseResult, type Load, type Results, type ServerName } from "./results.ts";

/** All that a run found, under a heading of its own. */
export function section(run: Results): string {
  const { dataset, machine, versions, memory, fdatasync } = run;
  const told = Object.entries(versions).map(([what, version]) => `${what} ${version}`);
  const bytes = Object.entries(dataset.bytes).map(([what, size]) => `${what} ${(size / 1e6).toFixed(0)} MB`);
  return [
    `## ${dataset.listings.toLocaleString("en")} listings, ${dataset.days} days, ${dataset.options} options`,
    `Seed ${dataset.seed}, as of ${dataset.end}, ${dataset.sold.toLocaleString("en")} sold. ${machine.cpu}, ${machine.cores} cores, ${machine.memory_gib} GiB, ${machine.system}. ${told.join(", ")}. On disk: ${bytes.join(", ")}.`,
    [legendOf(run), approximations(run)].filter((line) => line !== undefined).join(" "),
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

const labels = {
  duckdb: "DuckDB, flat Parquet",
  clickhouse: "ClickHouse",
  sqlite: "SQLite",
  solr: "Apache Solr",
} as const;

/** The cases of a run; those of the older format were asked in process. */
export function casesTable(run: Results): string {
  const peers = peersOf(run);
  const isOverHttp = askedIn(run) === "over HTTP";
  const processorOf = (one: CaseResult, server: ServerName): string => {
    const ms = one.processor_ms?.[server];
    return ms === undefined ? "" : `; ${short(ms)}`;
  };
  const beside = (one: CaseResult): string => short((isOverHttp ? one.in_process : one.http)?.p50_ms);
  return table(
    ["case", "rows", "Carquet", "p99", isOverHttp ? "in process" : "over HTTP", ...peers.map((peer) => labels[peer])],
    run.cases.map((one) => [
      ...[one.case, one.rows.toLocaleString("en"), `${short(one.carquet.p50_ms)}${processorOf(one, "carquet")}`],
      ...[short(one.carquet.p99_ms), beside(one)],
      ...peers.map((peer) => {
        if (one.peers[peer] === undefined) return "";
        const mark = one.deviation?.[peer] === undefined ? "" : "~";
        return `${mark}${short(one.peers[peer]?.p50_ms)}${processorOf(one, peer)} (${short(one.ratio[peer])})`;
      }),
    ]),
  );
}

/** The throughput of a run. */
export function throughputTable(run: Results): string {
  const peers = peersOf(run);
  const rate = ({ requests_per_second, processor_ms }: Load): string =>
    `${short(requests_per_second)}${processor_ms === undefined ? "" : `; ${short(processor_ms)}`}`;
  return table(
    ["requests a second, mixed", "Carquet", "p99 ms", ...peers.map((peer) => labels[peer])],
    run.throughput.map((one) => [
      ...[nameOf(one), rate(one.carquet), short(one.carquet.p99_ms)],
      ...peers.map((peer) => {
        const load = one.peers[peer];
        return load === undefined ? "" : `${rate(load)} (${short(one.ratio[peer])})`;
      }),
    ]),
  );
}

/** How the numbers of a table are to be read. */
export const legendOf = (run: Results): string =>
  askedIn(run) === "over HTTP"
    ? "Medians in ms over HTTP, uncached; after the semicolon processor time per request; in parentheses: peer time / Carquet time."
    : "Older format: medians in ms in process, uncached; in parentheses: peer time / Carquet time.";
