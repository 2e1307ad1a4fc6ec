/** Formats the results of a run as Markdown tables. */
import { lakeFormat } from "../../src/lake/manifest.ts";
import type { CaseResult, Load, Results, ServerName } from "./results.ts";
import { lakeFormatOf, storageNote } from "./storage.ts";
import { approximationNote, formatNumber, peersOf, throughputLabel } from "./text-report.ts";

/** Sizes whose key in the JSON format is not their label. */
const sizeLabels: Readonly<Record<string, string>> = { copies: "serving files", flat_active: "flat active rows" };

/** Returns a section with everything that a run measured. */
export function resultsSection(run: Results): string {
  const { dataset, machine, memory, fdatasync } = run;
  const versions = Object.entries(run.versions).map(([name, version]) => `${name} ${version}`);
  const sizes = Object.entries(dataset.bytes).map(
    ([name, bytes]) => `${sizeLabels[name] ?? name} ${(bytes / 1e6).toFixed(0)} MB`,
  );
  const { days, ingestedDays = days } = dataset;
  const ingested = ingestedDays === days ? "" : ` (${ingestedDays} ingested, repeated)`;
  return [
    `## ${dataset.listings.toLocaleString("en")} listings, ${days} days${ingested}, ${dataset.options} options, lake format ${lakeFormatOf(run)}`,
    `Seed ${dataset.seed}, as of ${dataset.end}, ${dataset.sold.toLocaleString("en")} sold. ${machine.cpu}, ${machine.cores} cores, ${machine.memory_gib} GiB, ${machine.system}. ${versions.join(", ")}. On disk: ${sizes.join(", ")}.`,
    tableLegend(run),
    casesTable(run),
    ...(run.throughput.length === 0 ? [] : [throughputTable(run)]),
    [
      ...[storageNote(run)].filter((note) => note !== undefined),
      ...(memory === undefined
        ? []
        : [`Memory of the service: ${memory.rest_mib} MiB after start, ${memory.peak_mib} MiB peak.`]),
      ...(fdatasync === undefined
        ? []
        : [`Write of 4 KiB: ${formatNumber(fdatasync.p50_ms)} ms, p99 ${formatNumber(fdatasync.p99_ms)} ms.`]),
    ].join(" "),
  ].join("\n\n");
}

/** Returns a table whose first column is aligned to the left. */
export const markdownTable = (head: readonly string[], rows: readonly (readonly string[])[]): string =>
  [head, ["---", ...head.slice(1).map(() => "---:")], ...rows].map((row) => `| ${row.join(" | ")} |`).join("\n");

const peerLabels = {
  duckdb: "DuckDB, flat Parquet",
  clickhouse: "ClickHouse",
  "clickhouse-intervals": "ClickHouse, Carquet's intervals",
  sqlite: "SQLite",
  solr: "Apache Solr",
} as const;

/** Returns the table of cases. */
export function casesTable(run: Results): string {
  const peers = peersOf(run);
  const processorCell = (result: CaseResult, server: ServerName): string => {
    const ms = result.processor_ms?.[server];
    return ms === undefined ? "" : `; ${formatNumber(ms)}`;
  };
  const peerCell = (result: CaseResult, peer: (typeof peers)[number]): string => {
    const timing = result.peers[peer];
    if (timing === undefined) return "";
    const mark = result.deviation?.[peer] === undefined ? "" : "~";
    return `${mark}${formatNumber(timing.p50_ms)}${processorCell(result, peer)} (${formatNumber(result.ratio[peer])})`;
  };
  return markdownTable(
    ["case", "rows", "Carquet", "p99", "in process", ...peers.map((peer) => peerLabels[peer])],
    run.cases.map((result) => [
      result.case,
      result.rows.toLocaleString("en"),
      `${formatNumber(result.carquet.p50_ms)}${processorCell(result, "carquet")}`,
      formatNumber(result.carquet.p99_ms),
      formatNumber(result.in_process?.p50_ms),
      ...peers.map((peer) => peerCell(result, peer)),
    ]),
  );
}

/** Returns the table of throughput. */
export function throughputTable(run: Results): string {
  const peers = peersOf(run);
  const loadCell = ({ requests_per_second, processor_ms }: Load): string =>
    `${formatNumber(requests_per_second)}${processor_ms === undefined ? "" : `; ${formatNumber(processor_ms)}`}`;
  return markdownTable(
    ["requests per second, mixed", "Carquet", "p99 ms", ...peers.map((peer) => peerLabels[peer])],
    run.throughput.map((throughput) => [
      ...[throughputLabel(throughput), loadCell(throughput.carquet), formatNumber(throughput.carquet.p99_ms)],
      ...peers.map((peer) => {
        const load = throughput.peers[peer];
        return load === undefined ? "" : `${loadCell(load)} (${formatNumber(throughput.ratio[peer])})`;
      }),
    ]),
  );
}

const pastFormatNote = (run: Results): string =>
  `Measured on lake format ${lakeFormatOf(run)}, in which each day is a copy of all listings: cases of past days and trends say nothing about format ${lakeFormat}.`;

/** Returns the sentences that explain the numbers of a run's tables. */
export function tableLegend(run: Results): string {
  const legend =
    "Medians in ms over HTTP, uncached; after the semicolon processor time per request; in parentheses: peer time / Carquet time.";
  const past = lakeFormatOf(run) < lakeFormat ? pastFormatNote(run) : undefined;
  return [legend, past, approximationNote(run)].filter((sentence) => sentence !== undefined).join(" ");
}
