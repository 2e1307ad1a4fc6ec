/** Formats the results of a run as aligned plain-text tables for the terminal. */
import { type PeerName, peerNames } from "../settings.ts";
import type { CaseChange } from "./compare.ts";
import type { Results, Throughput } from "./results.ts";
import { storageNote } from "./storage.ts";

/** Aligns the columns of a table: the first one to the left, all others to the right. */
function alignTable(rows: readonly (readonly string[])[]): string {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => (row[column] ?? "").length)));
  const pad = (text: string, column: number): string =>
    column === 0 ? text.padEnd(widths[column] ?? 0) : text.padStart(widths[column] ?? 0);
  return rows.map((row) => row.map(pad).join("  ")).join("\n");
}

/** Formats a number with about three significant digits; a dash if it is unknown. */
export const formatNumber = (value: number | undefined | null): string => {
  if (value === undefined || value === null || Number.isNaN(value)) return "-";
  return value >= 100 ? value.toFixed(0) : value >= 10 ? value.toFixed(1) : value.toFixed(2);
};

const listOf = <T>(value: T | undefined): readonly T[] => (value === undefined ? [] : [value]);

/** Returns the names of the peers that a run measured. */
export const peersOf = ({ cases, throughput }: Results): readonly PeerName[] =>
  peerNames.filter((name) => [...cases, ...throughput].some(({ peers }) => peers[name] !== undefined));

/** Returns the tables of cases and throughput, the accuracy of approximate peers, memory and disk latency. */
export function formatResults(results: Results): string {
  const { memory, fdatasync } = results;
  return [
    ...(results.cases.length === 0 ? [] : [alignTable(caseRows(results))]),
    ...listOf(approximationNote(results)),
    ...(results.throughput.length === 0 ? [] : [alignTable(throughputRows(results))]),
    ...listOf(storageNote(results)),
    ...(memory === undefined
      ? []
      : [`memory of the service: ${memory.rest_mib} MiB after start, ${memory.peak_mib} MiB peak`]),
    ...(fdatasync === undefined
      ? []
      : [`write of 4 KiB: p50 ${formatNumber(fdatasync.p50_ms)} ms, p99 ${formatNumber(fdatasync.p99_ms)} ms`]),
  ].join("\n\n");
}

function caseRows(results: Results): readonly (readonly string[])[] {
  const peers = peersOf(results);
  const head = ["case (ms)", "rows", "carquet p50", "p99", "processor", "in process"];
  return [
    [...head, ...peers.flatMap((peer) => [`${peer} p50`, "p99", "processor", "ratio"])],
    ...results.cases.map((result) => [
      ...[result.case, String(result.rows), formatNumber(result.carquet.p50_ms), formatNumber(result.carquet.p99_ms)],
      ...[formatNumber(result.processor_ms?.carquet), formatNumber(result.in_process?.p50_ms)],
      ...peers.flatMap((peer) => [
        `${result.deviation?.[peer] === undefined ? "" : "~"}${formatNumber(result.peers[peer]?.p50_ms)}`,
        ...[result.peers[peer]?.p99_ms, result.processor_ms?.[peer], result.ratio[peer]].map(formatNumber),
      ]),
    ]),
  ];
}

/** Returns a sentence about the accuracy of approximate peers; undefined if all are exact. */
export function approximationNote({ cases }: Pick<Results, "cases">): string | undefined {
  const largest = new Map<string, { readonly share: number; readonly name: string }>();
  for (const { case: name, deviation = {} } of cases)
    for (const [peer, share] of Object.entries(deviation))
      if (share > (largest.get(peer)?.share ?? 0)) largest.set(peer, { share, name });
  if (largest.size === 0) return undefined;
  const deviations = [...largest].map(
    ([peer, { share, name }]) => `percentiles of ${peer} deviate by up to ${formatNumber(100 * share)} % (${name})`,
  );
  return `~ approximate: ${deviations.join("; ")} of the value or, for a median, of the standard deviation if that is larger. Edges of numeric ranges follow from percentiles, so they may differ, too.`;
}

/** Returns the label of a throughput measurement, for example `8 clients, uncached`. */
export const throughputLabel = ({ clients, answers }: Throughput): string =>
  `${clients} ${clients === 1 ? "client" : "clients"}, ${answers}`;

function throughputRows(results: Results): readonly (readonly string[])[] {
  const peers = peersOf(results);
  const head = ["mix (requests per second)", "carquet", "p50 ms", "p99 ms", "processor ms"];
  return [
    [...head, ...peers.flatMap((peer) => [peer, "p99 ms", "processor ms", "ratio"])],
    ...results.throughput.map((throughput) => {
      const { requests_per_second, p50_ms, p99_ms, processor_ms } = throughput.carquet;
      return [
        ...[throughputLabel(throughput), ...[requests_per_second, p50_ms, p99_ms, processor_ms].map(formatNumber)],
        ...peers.flatMap((peer) => {
          const load = throughput.peers[peer];
          const cells = [load?.requests_per_second, load?.p99_ms, load?.processor_ms, throughput.ratio[peer]];
          return cells.map(formatNumber);
        }),
      ];
    }),
  ];
}

/** Returns a table of the changes since an earlier run, largest slowdown first. */
export function formatChanges(changes: readonly CaseChange[]): string {
  const sorted = [...changes].sort((a, b) => a.change - b.change);
  return alignTable([
    ["case", "new ratio / old ratio", ""],
    ...sorted.map(({ case: name, change, isSlower }) => [name, formatNumber(change), isSlower ? "slower" : ""]),
  ]);
}
