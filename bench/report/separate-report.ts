/** Formats the results of measurements beside the suite as Markdown: replicas, accounts, charges, the explorer. */
import { markdownTable } from "./markdown-report.ts";
import type { Environment } from "./results.ts";
import {
  type AccountsCost,
  accountsVariants,
  type ChargesCeiling,
  type ChargesLoad,
  type ExplorerResults,
  type ReplicaMix,
  type SeparateResults,
} from "./separate-results.ts";
import { formatNumber } from "./text-report.ts";

/** Returns the sections of all results, in this order. */
export function separateSections(all: readonly SeparateResults[]): readonly string[] {
  const explorers = all.filter((results) => results.kind === "explorer");
  return [
    ...all.filter((results) => results.kind === "replicas").map(replicasSection),
    ...all.filter((results) => results.kind === "accounts").map(accountsSection),
    ...all.filter((results) => results.kind === "charges").map(chargesSection),
    ...(explorers.length === 0 ? [] : [explorerSection(explorers)]),
  ];
}

/** Returns a sentence on the machine and the programs. */
function environmentNote({ machine, versions }: Environment): string {
  const programs = Object.entries(versions).map(([name, version]) =>
    name === "postgres" ? version : `${name} ${version}`,
  );
  return `${machine.cpu}, ${machine.cores} cores, ${machine.system}. ${programs.join(", ")}.`;
}

function replicasSection({ listings, loads, environment }: ReplicaMix): string {
  return [
    "### Replicas",
    `The query mix at ${listings.toLocaleString("en")} listings, sent in turn to 1, 2 and 4 services on one machine, with PostgreSQL and the clients on the same processors; processor time in ms per request. The replicas share accounts in PostgreSQL; the control has a SQLite file for each service, so that they share nothing but the processors. Latency says nothing about replicas on machines of their own. ${environmentNote(environment)}`,
    markdownTable(
      ["mix", "accounts", "replicas", "requests/s", "p50 ms", "p99 ms", "services", "PostgreSQL", "clients"],
      loads.map((load) => [
        ...[`${load.answers}, ${load.clients} clients`, load.accounts === "SQLite" ? "a file each" : "PostgreSQL"],
        String(load.replicas),
        ...[load.requests_per_second, load.p50_ms, load.p99_ms].map(formatNumber),
        ...[load.processor_ms, load.postgres_ms, load.client_ms].map(formatNumber),
      ]),
    ),
  ].join("\n\n");
}

function accountsSection({ loads, connections, page_bytes, environment }: AccountsCost): string {
  const { without, SQLite: file, PostgreSQL: postgres } = loads;
  const [fileMicros, postgresMicros] = [file, postgres].map((load) => load.service_micros - without.service_micros) as [
    number,
    number,
  ];
  return [
    "### Accounts in SQLite and in PostgreSQL",
    `A page of ${Math.round(page_bytes / 1000)} kB from memory over ${connections} connections, each with an account of its own; processor time in µs per request. Identifying, limiting and charging a request takes ${fileMicros} µs of the service with SQLite, and ${postgresMicros} µs with PostgreSQL (${formatNumber(postgresMicros / fileMicros)} times as much), which itself takes ${postgres.postgres_micros} µs. ${environmentNote(environment)}`,
    markdownTable(
      ["accounts", "requests/s", "p50 ms", "p99 ms", "service", "of it main thread", "PostgreSQL"],
      accountsVariants.map((variant) => {
        const load = loads[variant];
        const times = [load.requests_per_second, load.p50_ms, load.p99_ms].map(formatNumber);
        const micros = [load.service_micros, load.main_thread_micros, load.postgres_micros].map(String);
        return [variant === "without" ? "none" : variant, ...times, ...micros];
      }),
    ),
  ].join("\n\n");
}

const writerOf = ({ writer, clients }: ChargesLoad): string => {
  if (writer === "SQLite") return "1 service, SQLite";
  if (writer === "pgbench") return `pgbench, ${clients} ${clients === 1 ? "connection" : "connections"}`;
  return `${clients} ${clients === 1 ? "replica" : "replicas"}`;
};

const percent = (share: number | undefined): string => (share === undefined ? "" : `${Math.round(100 * share)} %`);

function chargesSection({ loads, fdatasync, environment }: ChargesCeiling): string {
  const { cores } = environment.machine;
  return [
    "### Charges a second",
    `As many charges as possible, ${loads[0]?.in_flight} in flight, in one transaction for each batch that a replica has collected; pgbench commits each charge. \`synchronous_commit\` and \`fsync\` are on; a write of 4 KiB takes ${formatNumber(fdatasync.p50_ms)} ms. Processor time in µs per charge. The last columns are what connections in use did, as shares of samples; *busy* is the share of the machine's processors that all took together. ${environmentNote(environment)}`,
    markdownTable(
      [
        ...["accounts", "writer", "charges/s", "per commit", "writer µs", "PostgreSQL µs", "log bytes"],
        ...["busy", "computes", "waits for lock", "disk", "writer"],
      ],
      loads.map((load) => {
        const busy = (load.charges_per_second * (load.client_micros + load.postgres_micros)) / 1e6 / cores;
        const { computes, lock, disk, client } = load.activities ?? {};
        return [
          ...[load.accounts.toLocaleString("en"), writerOf(load), load.charges_per_second.toLocaleString("en")],
          ...[load.charges_per_commit, load.client_micros, load.postgres_micros].map(formatNumber),
          ...[load.wal_bytes_per_charge?.toLocaleString("en") ?? "", percent(busy)],
          ...[computes, lock, disk, client].map(percent),
        ];
      }),
    ),
  ].join("\n\n");
}

function explorerSection(runs: readonly ExplorerResults[]): string {
  const sorted = [...runs].sort((a, b) => a.listings - b.listings || b.answers.localeCompare(a.answers));
  const [first] = sorted;
  return [
    "### The explorer",
    `Medians in ms in Chromium on the same machine; in parentheses the slowest of nine. A first paint is of a view that was requested before, a filter change always of a new one. ${first === undefined ? "" : environmentNote(first.environment)}`,
    markdownTable(
      ["", ...sorted.map(({ listings, answers }) => `${listings.toLocaleString("en")} listings, ${answers}`)],
      [
        ...Object.keys(first?.first_paint ?? {}).map((view) => [
          `first paint of \`${view}\``,
          ...sorted.map(({ first_paint }) => timingCell(first_paint[view])),
        ]),
        ["filter change", ...sorted.map(({ filter_change }) => timingCell(filter_change))],
      ],
    ),
  ].join("\n\n");
}

const timingCell = (timing: { readonly p50_ms: number; readonly p99_ms: number } | undefined): string =>
  timing === undefined ? "" : `${Math.round(timing.p50_ms)} (${Math.round(timing.p99_ms)})`;
