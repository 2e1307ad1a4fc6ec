/** The results of a run as tables for people. */

import { type PeerName, peerNames } from "../settings.ts";
import type { Change } from "./compare.ts";
import type { Results, Throughput } from "./results.ts";

/** A table of texts, its columns aligned; all but the first stand to the right. */
function aligned(rows: readonly (readonly string[])[]): string {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => (row[column] ?? "").length)));
  const cell = (text: string, column: number): string =>
    column === 0 ? text.padEnd(widths[column] ?? 0) : text.padStart(widths[column] ?? 0);
  return rows.map((row) => row.map(cell).join("  ")).join("\n");
}

/** A number of three digits or so; a dash where there is none. */
export const short = (value: number | undefined | null): string => {
  if (value === undefined || value === null || Number.isNaN(value)) return "-";
  return value >= 100 ? value.toFixed(0) : value >= 10 ? value.toFixed(1) : value.toFixed(2);
};

const listOf = <T>(value: T | undefined): readonly T[] => (value === undefined ? [] : [value]);

/** The peers that took part. */
export const peersOf = ({ cases, throughput }: Results): readonly PeerName[] =>
  peerNames.filter((name) => [...cases, ...throughput].some(({ peers }) => peers[name] !== undefined));

/** What was found: a table of the cases, one of the throughput, and what else there is. */
export function printed(results: Results): string {
  const { memory, fdatasync } = results;
  return [
    ...(results.cases.length === 0 ? [] : [aligned(casesIn(results))]),
    ...listOf(approximations(results)),
    ...(results.throughput.length === 0 ? [] : [aligned(throughputIn(results))]),
    ...(memory === undefined
      ? []
      : [`memory of the service: ${memory.rest_mib} MiB at rest, ${memory.peak_mib} MiB at the peak`]),
    ...(fdatasync === undefined
      ? []
      : [`4 KiB on disk: p50 ${short(fdatasync.p50_ms)} ms, p99 ${short(fdatasync.p99_ms)} ms`]),
  ].join("\n\n");
}

function casesIn(results: Results): readonly (readonly string[])[] {
  const peers = peersOf(results);
  const head = ["case (ms)", "rows", "carquet p50", "p99", "processor", "in process"];
  return [
    [...head, ...peers.flatMap((peer) => [`${peer} p50`, "p99", "processor", "ratio"])],
    ...results.cases.map((one) => [
      ...[one.case, String(one.rows), short(one.carquet.p50_ms), short(one.carquet.p99_ms)],
      ...[short(one.processor_ms?.carquet), short(one.in_process?.p50_ms)],
      ...peers.flatMap((peer) => [
        `${one.deviation?.[peer] === undefined ? "" : "~"}${short(one.peers[peer]?.p50_ms)}`,
        ...[short(one.peers[peer]?.p99_ms), short(one.processor_ms?.[peer]), short(one.ratio[peer])],
      ]),
    ]),
  ];
}

/** What is approximate in a run; undefined where nothing is. */
export function approximations({ cases }: Pick<Results, "cases">): string | undefined {
  const largest = new Map<string, { readonly share: number; readonly name: string }>();
  for (const { case: name, deviation = {} } of cases)
    for (const [peer, share] of Object.entries(deviation))
      if (share > (largest.get(peer)?.share ?? 0)) largest.set(peer, { share, name });
  const said = [...largest].map(
    ([peer, { share, name }]) => `percentiles of ${peer} differ by up to ${short(100 * share)} % (${name})`,
  );
  return said.length === 0
    ? undefined
    : `~ approximate: ${said.join("; ")}, of the value or, for a median, of the standard deviation where that is larger. Ranges of numbers follow from percentiles, so their ends may differ too.`;
}

/** What a throughput is called. */
export const nameOf = ({ clients, answers }: Throughput): string =>
  `${clients} ${clients === 1 ? "client" : "clients"}, ${answers}`;

function throughputIn(results: Results): readonly (readonly string[])[] {
  const peers = peersOf(results);
  const head = ["mix (requests a second)", "carquet", "p50 ms", "p99 ms", "processor ms"];
  return [
    [...head, ...peers.flatMap((peer) => [peer, "p99 ms", "processor ms", "ratio"])],
    ...results.throughput.map((one) => [
      ...[nameOf(one), short(one.carquet.requests_per_second), short(one.carquet.p50_ms), short(one.carquet.p99_ms)],
      short(one.carquet.processor_ms),
      ...peers.flatMap((peer) => {
        const load = one.peers[peer];
        return [
          ...[short(load?.requests_per_second), short(load?.p99_ms), short(load?.processor_ms)],
          short(one.ratio[peer]),
        ];
      }),
    ]),
  ];
}

/** How cases have changed since an earlier run, the worst first. */
export function printedChanges(changes: readonly Change[]): string {
  const sorted = [...changes].sort((one, other) => one.change - other.change);
  return aligned([
    ["case", "ratios, now to then", ""],
    ...sorted.map(({ case: name, change, isSlower }) => [name, short(change), isSlower ? "slower" : ""]),
  ]);
}
