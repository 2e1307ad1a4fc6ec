/** What a run finds, in the shape in which it is written down, compared and published. */
import type { Timing } from "./measure.ts";
import type { MarketShape, PeerName } from "./settings.ts";

export interface CaseResult {
  readonly case: string;
  /** Listings, or whatever is asked about, that match. */
  readonly rows: number;
  /** In process: a decoded request to the body of its answer. */
  readonly carquet: Timing;
  /** Over HTTP, with a key, metered. */
  readonly http?: Timing;
  readonly peers: Readonly<Partial<Record<PeerName, Timing>>>;
  /** A peer's median by Carquet's: above 1, Carquet is faster. */
  readonly ratio: Readonly<Partial<Record<PeerName, number>>>;
  /** What work that never changes took meanwhile. */
  readonly calibration?: Timing;
}

export interface Throughput {
  readonly clients: number;
  readonly answers: "cached" | "uncached";
  readonly carquet: Load;
  readonly peers: Readonly<Partial<Record<PeerName, Load>>>;
  /** Carquet's requests a second by a peer's. */
  readonly ratio: Readonly<Partial<Record<PeerName, number>>>;
}

export interface Load extends Timing {
  readonly requests_per_second: number;
}

export interface Results {
  readonly machine: {
    readonly cpu: string;
    readonly cores: number;
    readonly memory_gib: number;
    readonly system: string;
  };
  readonly versions: Readonly<Record<string, string>>;
  readonly dataset: MarketShape & { readonly sold: number; readonly bytes: Readonly<Record<string, number>> };
  readonly cases: readonly CaseResult[];
  readonly throughput: readonly Throughput[];
  /** Resident memory of the service: after its start, and at most, under load or when it takes up a version. */
  readonly memory?: { readonly rest_mib: number; readonly peak_mib: number };
  /** Writing 4 KiB and waiting until they are on disk. */
  readonly fdatasync?: Timing;
}
