/** The results of a run in the JSON format that `--json` writes and that `--compare` and `bench:publish` read. */
import type { Timing } from "../measure/timing.ts";
import type { DatasetShape, PeerName } from "../settings.ts";

export type ServerName = "carquet" | PeerName;
type PerPeer<T> = Readonly<Partial<Record<PeerName, T>>>;
type PerServer<T> = Readonly<Partial<Record<ServerName, T>>>;

/**
 * How the servers of a run were queried. The older format lacks the field `asked` and was measured in process: `carquet` and `peers` of a
 * case are times without HTTP, and `http` has Carquet's times over HTTP.
 */
export type Transport = "over HTTP" | "in process";

export interface CaseResult {
  readonly case: string;
  /** The number of listings that match the first query. */
  readonly rows: number;
  /** Over HTTP, with a key, metered, uncached. */
  readonly carquet: Timing;
  /** Carquet without HTTP, key and ledger: from a request path to the body of the answer. */
  readonly in_process?: Timing;
  /** Older format only: Carquet over HTTP. */
  readonly http?: Timing;
  readonly peers: PerPeer<Timing>;
  /** Median of the peer divided by Carquet's: Carquet is faster above 1. */
  readonly ratio: PerPeer<number>;
  /** User and system time of a server's processes per request. Linux only. */
  readonly processor_ms?: PerServer<number>;
  /** The largest relative deviation of an approximate peer's percentiles from Carquet's exact ones. */
  readonly deviation?: PerPeer<number>;
  /** The constant workload, timed in turn with the servers. */
  readonly calibration?: Timing;
}

export interface Throughput {
  /** Concurrent clients. */
  readonly clients: number;
  readonly answers: "cached" | "uncached";
  readonly carquet: Load;
  readonly peers: PerPeer<Load>;
  /** Carquet's requests per second divided by the peer's: Carquet is faster above 1. */
  readonly ratio: PerPeer<number>;
}

export interface Load extends Timing {
  readonly requests_per_second: number;
  /** User and system time of the server's processes per request. Linux only. */
  readonly processor_ms?: number;
}

/** The machine and the programs of a run. */
export interface Environment {
  readonly machine: {
    readonly cpu: string;
    readonly cores: number;
    readonly memory_gib: number;
    readonly system: string;
  };
  readonly versions: Readonly<Record<string, string>>;
}

export interface Results extends Environment {
  /** Absent in the older format. */
  readonly asked?: Transport;
  readonly dataset: Omit<DatasetShape, "ingestedDays"> & {
    /** Absent in runs of releases that ingested all days. */
    readonly ingestedDays?: number;
    readonly sold: number;
    readonly bytes: Readonly<Record<string, number>>;
  };
  readonly cases: readonly CaseResult[];
  readonly throughput: readonly Throughput[];
  /** Resident memory of the service: after its start, and its peak under load or while it switches versions. */
  readonly memory?: { readonly rest_mib: number; readonly peak_mib: number };
  /** A write of 4 KiB with `fdatasync`. */
  readonly fdatasync?: Timing;
}

/** Returns how the servers of a run were queried. */
export const transportOf = ({ asked = "in process" }: Pick<Results, "asked">): Transport => asked;

/** Cases whose queries differed, or were fewer, in the older format. */
const changedCases: readonly string[] = [
  ...["search: make, model, price", "search: state", "search: radius 50", "search: two features", "search: VIN mask"],
  ...["search: offset 1000", "search: dealer", "facets: all 30, state", "facets: all 30, make"],
  "facets: all 30, radius 50",
];

/**
 * Returns the cases that another run can be compared with. Of the older format, these are Carquet's times over HTTP without peers, which
 * are comparable by the calibration only.
 */
export function comparableCases(results: Pick<Results, "asked" | "cases">): readonly CaseResult[] {
  if (transportOf(results) === "over HTTP") return results.cases;
  return results.cases.flatMap(({ http, ...result }): readonly CaseResult[] => {
    // Lifecycle cases have neither `http` nor a calibration.
    if (http === undefined || changedCases.includes(result.case)) return [];
    return [{ ...result, carquet: http, peers: {}, ratio: {} }];
  });
}
