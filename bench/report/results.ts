/** The results of a run in the JSON format that `--json` writes and that `--compare` and `bench:publish` read. */
import type { Timing } from "../measure/timing.ts";
import type { DatasetShape, PeerName } from "../settings.ts";

export type ServerName = "carquet" | PeerName;
type PerPeer<T> = Readonly<Partial<Record<PeerName, T>>>;
type PerServer<T> = Readonly<Partial<Record<ServerName, T>>>;

export interface CaseResult {
  readonly case: string;
  /** The number of listings that match the first query. */
  readonly rows: number;
  /** Over HTTP, with a key, metered, uncached. */
  readonly carquet: Timing;
  /** Carquet without HTTP, key and ledger: from a request path to the body of the answer. */
  readonly in_process?: Timing;
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

/** The files of a published version, in bytes. */
export interface Storage {
  /** The lake format. */
  readonly format: number;
  /** The days from the first to the last one with a snapshot. */
  readonly days: number;
  /** The mean number of active listings of a day. */
  readonly active: number;
  readonly tables: Readonly<Record<string, number>>;
  readonly serving: number;
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
  readonly dataset: DatasetShape & {
    /** Runs of lake format 2 with long histories ingested the last days alone, and repeated their snapshots. */
    readonly ingestedDays?: number;
    readonly sold: number;
    readonly bytes: Readonly<Record<string, number>>;
    /** Absent in runs of lake format 2. */
    readonly storage?: Storage;
  };
  readonly cases: readonly CaseResult[];
  readonly throughput: readonly Throughput[];
  /** Resident memory of the service: after its start, and its peak under load or while it switches versions. */
  readonly memory?: { readonly rest_mib: number; readonly peak_mib: number };
  /** A write of 4 KiB with `fdatasync`. */
  readonly fdatasync?: Timing;
}
