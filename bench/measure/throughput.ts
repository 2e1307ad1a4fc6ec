/**
 * Throughput under the query mix: a number of concurrent clients, each of which sends its next request when it has the answer to the
 * previous one. Servers are loaded in turn, in short bursts, with the same requests.
 */
import type { Log } from "../dataset/dataset.ts";
import type { BenchQuery } from "../queries/query.ts";
import { type Measurement, measured, timed } from "../report/results.ts";
import type { Server, ServerName } from "../servers/server.ts";
import { warmUp, warmUpMs } from "../servers/warm-up.ts";

export interface ThroughputOptions {
  readonly answers: "cached" | "uncached";
  readonly carquet: Server<"carquet">;
  readonly peers: readonly Server[];
  readonly queries: readonly BenchQuery[];
  readonly isQuick: boolean;
  readonly log: Log;
}

const clientCounts = [1, 8, 64] as const;
/** The warm-up sends this many of the last queries; the measurement begins with the first ones. */
const warmUpQueriesMax = 1000;
/** How many distinct queries are repeated when response caches are on. */
const cachedQueries = 200;

/** Measures Carquet and the peers for each number of clients, named `8 clients, uncached`. */
export async function measureThroughput(options: ThroughputOptions): Promise<readonly Measurement[]> {
  const { answers, carquet, peers, isQuick, log } = options;
  const servers = [carquet, ...peers];
  const queries = answers === "cached" ? options.queries.slice(0, cachedQueries) : options.queries;
  // Every query has to be sent once before its answer can come from a cache.
  const requestsMin = answers === "cached" ? queries.length : 0;
  await warmUp(servers, queries.slice(-warmUpQueriesMax), { durationMs: warmUpMs(isQuick), requestsMin });
  const bursts = isQuick ? { repetitions: 1, seconds: 2 } : { repetitions: 3, seconds: 5 };
  const results: Measurement[] = [];
  for (const clients of clientCounts) {
    const name = `${clients} ${clients === 1 ? "client" : "clients"}, ${answers}`;
    results.push(...(await loadInBursts(servers, queries, { name, ...bursts, clients })));
    log(`throughput, ${name}: done`);
  }
  return results;
}

interface Bursts {
  readonly name: string;
  readonly clients: number;
  readonly repetitions: number;
  readonly seconds: number;
}

/** Loads servers in turn. Each burst continues with the server's next query, so that all servers get the same sequence. */
export async function loadInBursts(
  servers: readonly Server<ServerName>[],
  queries: readonly BenchQuery[],
  { name, clients, repetitions, seconds }: Bursts,
): Promise<readonly Measurement[]> {
  const states = servers.map((server) => ({ server, next: 0, times: [] as number[], elapsedMs: 0, processorMs: 0 }));
  for (let repetition = 0; repetition < repetitions; repetition += 1) {
    for (const state of states) {
      const startedAtMs = performance.now();
      const processorMsBefore = state.server.processorMs();
      const client = async (): Promise<void> => {
        while (performance.now() < startedAtMs + seconds * 1000) {
          const query = queries[state.next % queries.length];
          if (query === undefined) return;
          state.next += 1;
          const sentAtMs = performance.now();
          await state.server.send(query);
          state.times.push(performance.now() - sentAtMs);
        }
      };
      await Promise.all(Array.from({ length: clients }, client));
      state.elapsedMs += performance.now() - startedAtMs;
      state.processorMs += state.server.processorMs() - processorMsBefore;
    }
  }
  return states.flatMap(({ server, times, elapsedMs, processorMs }) => [
    ...measured(name, server.name, { "requests/s": (1000 * times.length) / elapsedMs }),
    timed(name, server.name, times),
    ...measured(name, server.name, { "processor ms": processorMs / times.length }),
  ]);
}
