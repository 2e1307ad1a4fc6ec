/** What a run finds, in the shape in which it is written down, compared and published. */
import type { Timing } from "../measure/measure.ts";
import type { DatasetShape, PeerName } from "../settings.ts";

export type ServerName = "carquet" | PeerName;
type PerPeer<T> = Readonly<Partial<Record<PeerName, T>>>;
type PerServer<T> = Readonly<Partial<Record<ServerName, T>>>;

/**
 * How peers and Carquet were asked. Runs of the older format, which has no such field, asked in process: `carquet` and `peers` of a case
 * are then times without HTTP, and `http` is Carquet's beside them.
 */
export type Asked = "over HTTP" | "in process";

export interface CaseResult {
  readonly case: string;
  /** Listings that match the first question. */
  readonly rows: number;
  /** Over HTTP, with a key, metered, uncached. */
  readonly carquet: Timing;
  /** Carquet without HTTP, key and ledger: a decoded request to the body of its answer. */
  readonly in_process?: Timing;
  /** In the older format only. */
  readonly http?: Timing;
  readonly peers: PerPeer<Timing>;
  /** A peer's median by Carquet's: above 1, Carquet is faster. */
  readonly ratio: PerPeer<number>;
  /** User and system time of a server's processes per request; only on Linux. */
  readonly processor_ms?: PerServer<number>;
  /** The largest share by which percentiles of an approximate peer differed from Carquet's exact ones. */
  readonly deviation?: PerPeer<number>;
  /** What work that never changes took meanwhile. */
  readonly calibration?: Timing;
}

export interface Throughput {
  readonly clients: number;
  readonly answers: "cached" | "uncached";
  readonly carquet: Load;
  readonly peers: PerPeer<Load>;
  /** Carquet's requests a second by a peer's. */
  readonly ratio: PerPeer<number>;
}

export interface Load extends Timing {
  readonly requests_per_second: number;
  /** Of the server's processes, per request; only on Linux. */
  readonly processor_ms?: number;
}

export interface Results {
  /** Absent in the older format. */
  readonly asked?: Asked;
  readonly machine: {
    readonly cpu: string;
    readonly cores: number;
    readonly memory_gib: number;
    readonly system: string;
  };
  readonly versions: Readonly<Record<string, string>>;
  readonly dataset: DatasetShape & { readonly sold: number; readonly bytes: Readonly<Record<string, number>> };
  readonly cases: readonly CaseResult[];
  readonly throughput: readonly Throughput[];
  /** Resident memory of the service: after its start, and at most, under load or when it takes up a version. */
  readonly memory?: { readonly rest_mib: number; readonly peak_mib: number };
  /** Writing 4 KiB and waiting until they are on disk. */
  readonly fdatasync?: Timing;
}

/** How the servers of a run were asked. */
export const askedIn = ({ asked = "in process" }: Pick<Results, "asked">): Asked => asked;

/** Cases of the older format that asked another question, or fewer, than those of the same name today. */
const changedCases: readonly string[] = [
  ...["search: make, model, price", "search: state", "search: radius 50", "search: two features", "search: VIN mask"],
  ...["search: offset 1000", "search: dealer", "facets: all 30, state", "facets: all 30, make"],
  "facets: all 30, radius 50",
];

/**
 * The cases of a run as later runs are compared with them. Of the older format only Carquet's times over HTTP can be, and by the
 * calibration alone.
 */
export function comparableCases(results: Pick<Results, "asked" | "cases">): readonly CaseResult[] {
  if (askedIn(results) === "over HTTP") return results.cases;
  return results.cases.flatMap(({ http, ...one }): readonly CaseResult[] => {
    // A life has no peers, and no calibration to be compared by.
    if (http === undefined || changedCases.includes(one.case)) return [];
    return [{ ...one, carquet: http, peers: {}, ratio: {} }];
  });
}
