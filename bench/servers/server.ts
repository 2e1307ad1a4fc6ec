/** The interface of a measured server: Carquet or a peer in its own process, queried over HTTP. */
import type { BenchQuery } from "../queries/query.ts";
import type { PeerName } from "../settings.ts";
import type { ScriptServer } from "./carquet.ts";

/** Parses a received body, outside of the timed section. */
export type DeferredBody = () => unknown;

/** A server that the suite measures. */
export type ServerName = "carquet" | PeerName;

export interface Server<Name extends string = PeerName> {
  readonly name: Name;
  readonly version: string;
  /** The largest accepted relative deviation of its percentiles; 0 if they are exact. */
  readonly tolerance: number;
  /** Sends a query and receives the whole answer. */
  readonly send: (query: BenchQuery) => Promise<DeferredBody>;
  /** User and system time of all its processes so far; NaN if unknown. */
  readonly processorMs: () => number;
  stop(): Promise<void>;
}

/** Wraps a server that has the paths of Carquet's API and computes percentiles exactly. */
export function exactServer<Name extends string>(name: Name, version: string, server: ScriptServer): Server<Name> {
  return {
    name,
    version,
    tolerance: 0,
    processorMs: server.processorMs,
    send: async ({ path }) => {
      const body = await server.fetch(path);
      return () => JSON.parse(body);
    },
    stop: () => server.stop(),
  };
}
