/**
 * Throughput under the query mix: a number of concurrent clients, each of which sends its next request when it has the answer to the
 * previous one. Servers are loaded in turn, in short bursts, with the same requests.
 */
import type { Log } from "../dataset/dataset.ts";
import type { BenchQuery } from "../queries/query.ts";
import type { Load, ServerName, Throughput } from "../report/results.ts";
import type { Server } from "../servers/server.ts";
import { warmUp, warmUpMs } from "../servers/warm-up.ts";
import type { PeerName } from "../settings.ts";
import { roundToThousandths, timingOf } from "./timing.ts";

export interface ThroughputOptions {
  readonly answers: Throughput["answers"];
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

/** Measures Carquet and the peers for each number of clients. */
export async function measureThroughput(options: ThroughputOptions): Promise<readonly Throughput[]> {
  const { answers, carquet, peers, isQuick, log } = options;
  const servers = [carquet, ...peers];
  const queries = answers === "cached" ? options.queries.slice(0, cachedQueries) : options.queries;
  // Every query has to be sent once before its answer can come from a cache.
  const requestsMin = answers === "cached" ? queries.length : 0;
  await warmUp(servers, queries.slice(-warmUpQueriesMax), { durationMs: warmUpMs(isQuick), requestsMin });
  const bursts = isQuick ? { repetitions: 1, seconds: 2 } : { repetitions: 3, seconds: 5 };
  const results: Throughput[] = [];
  for (const clients of clientCounts) {
    const [ours = noLoad, ...theirs] = await loadInBursts(servers, queries, { ...bursts, clients });
    const loads = peers.map(({ name }, index): [PeerName, Load] => [name, theirs[index] ?? noLoad]);
    results.push({
      ...{ clients, answers, carquet: ours, peers: Object.fromEntries(loads) },
      ratio: Object.fromEntries(
        loads.map(([name, load]) => [name, roundToThousandths(ours.requests_per_second / load.requests_per_second)]),
      ),
    });
    log(`throughput, ${answers}, ${clients} clients: done`);
  }
  return results;
}

const noLoad: Load = { requests_per_second: Number.NaN, p50_ms: Number.NaN, p99_ms: Number.NaN };

interface Bursts {
  readonly clients: number;
  readonly repetitions: number;
  readonly seconds: number;
}

/** Loads servers in turn. Each burst continues with the server's next query, so that all servers get the same sequence. */
async function loadInBursts(
  servers: readonly Server<ServerName>[],
  queries: readonly BenchQuery[],
  { clients, repetitions, seconds }: Bursts,
): Promise<readonly Load[]> {
  const states = servers.map((server) => ({ server, next: 0, times: [] as number[], elapsedMs: 0, processorMs: 0 }));
  for (let repetition = 0; repetition < repetitions; repetition += 1) {
    for (const state of states) {
      const [startedAtMs, processorMsBefore] = [performance.now(), state.server.processorMs()];
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
  return states.map(({ times, elapsedMs, processorMs }) => ({
    requests_per_second: roundToThousandths((1000 * times.length) / elapsedMs),
    ...timingOf(times),
    ...(Number.isNaN(processorMs) ? {} : { processor_ms: roundToThousandths(processorMs / times.length) }),
  }));
}
