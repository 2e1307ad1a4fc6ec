/** The results of measurements beside the suite (replicas, accounts, the explorer) in the JSON format that `--json` writes and `bench:publish` reads. */
import type { Timing } from "../measure/timing.ts";
import type { Environment, Load } from "./results.ts";

/** The query mix, spread over replicas that share accounts in PostgreSQL. */
export interface ReplicaMix {
  readonly kind: "replicas";
  readonly environment: Environment;
  readonly listings: number;
  readonly loads: readonly ReplicaLoad[];
}

export interface ReplicaLoad extends Load {
  /** Shared in PostgreSQL; or, as the control, a SQLite file for each replica. */
  readonly accounts: "PostgreSQL" | "SQLite";
  readonly answers: "cached" | "uncached";
  readonly clients: number;
  readonly replicas: number;
  /** Processor time per request: of all replicas (`processor_ms`), of PostgreSQL, and of the clients, which send and receive. */
  readonly processor_ms: number;
  readonly postgres_ms: number;
  readonly client_ms: number;
}

/** One page from memory, without accounts and with accounts in each engine. */
export interface AccountsCost {
  readonly kind: "accounts";
  readonly environment: Environment;
  readonly connections: number;
  readonly page_bytes: number;
  readonly loads: Readonly<Record<AccountsVariant, AccountsLoad>>;
}

export const accountsVariants = ["without", "SQLite", "PostgreSQL"] as const;
export type AccountsVariant = (typeof accountsVariants)[number];

export interface AccountsLoad extends Timing {
  readonly requests_per_second: number;
  /** Processor time per request: of the service, of its main thread, and of PostgreSQL. */
  readonly service_micros: number;
  readonly main_thread_micros: number;
  readonly postgres_micros: number;
}

/** As many charges a second as possible. */
export interface ChargesCeiling {
  readonly kind: "charges";
  readonly environment: Environment;
  /** A write of 4 KiB with `fdatasync`. */
  readonly fdatasync: Timing;
  readonly loads: readonly ChargesLoad[];
}

export interface ChargesLoad {
  readonly writer: ChargesWriter;
  /** Replicas, or connections of pgbench. */
  readonly clients: number;
  /** Charges that are waited for at any time. */
  readonly in_flight: number;
  readonly accounts: number;
  readonly charges_per_second: number;
  readonly charges_per_commit: number;
  /** Processor time per charge: of the replicas or of pgbench, and of PostgreSQL. */
  readonly client_micros: number;
  readonly postgres_micros: number;
  /** PostgreSQL's write-ahead log. */
  readonly wal_bytes_per_charge?: number;
  /** What connections in use did, as shares of samples. */
  readonly activities?: Readonly<Record<string, number>>;
}

export const chargesWriters = ["PostgreSQL", "SQLite", "pgbench"] as const;
export type ChargesWriter = (typeof chargesWriters)[number];

/** The explorer in a browser. */
export interface ExplorerResults {
  readonly kind: "explorer";
  readonly environment: Environment;
  readonly listings: number;
  /** Whether the service has a response cache. */
  readonly answers: "cached" | "uncached";
  /** By view, from the request to the first contentful paint. */
  readonly first_paint: Record<string, Timing>;
  /** From a click to the frame with the new view. */
  readonly filter_change: Timing;
}

export type SeparateResults = ReplicaMix | AccountsCost | ChargesCeiling | ExplorerResults;
