/**
 * Requests a second under a realistic mix: so many clients at once, each asking again as soon as it is answered. Services take turns, in
 * short bursts, and every one of them gets the same requests.
 */
import { type Running, start } from "./carquet.ts";
import type { Dataset, Say } from "./dataset.ts";
import { rounded, timingOf } from "./measure.ts";
import { mixOf } from "./mix.ts";
import type { Load, Throughput } from "./results.ts";
import type { PeerName } from "./settings.ts";
import type { Words } from "./words.ts";

export interface Contest {
  readonly dataset: Dataset;
  readonly words: Words;
  readonly peers: readonly PeerName[];
  /** The service under both kinds of answers; the one is started so that it keeps no answer. */
  readonly carquet: Readonly<Record<Throughput["answers"], Running>>;
  readonly isQuick: boolean;
  readonly say: Say;
}

const clientsAtOnce = [1, 8, 64] as const;
const requests = 20_000;
/** How many are asked of each service before. */
const rehearsed = 30;
/** How many of the requests are asked again and again when answers may be kept. */
const repeated = 200;

/** What Carquet and the peers do under load; a peer keeps no answers, so it takes part in what is uncached. */
export async function throughputOf({
  dataset,
  words,
  peers,
  carquet,
  isQuick,
  say,
}: Contest): Promise<readonly Throughput[]> {
  const seed = dataset.shape.seed;
  const paths = mixOf(words, seed, requests).map(({ path }) => path);
  const opened: { readonly name: PeerName; readonly service: Running }[] = [];
  try {
    for (const name of peers) {
      const args = [name, JSON.stringify(dataset), String(seed), String(requests)];
      opened.push({ name, service: await start("bench/serve-peer.ts", args) });
    }
    // What runs for the first time is compiled, and read from the disk: that is not what is measured.
    for (const { service } of [{ service: carquet.uncached }, ...opened])
      for (const path of paths.slice(-rehearsed)) await service.fetch(path);
    const bursts = isQuick ? { turns: 1, seconds: 2 } : { turns: 3, seconds: 5 };
    const results: Throughput[] = [];
    for (const clients of clientsAtOnce) {
      const contest = (services: readonly Running[], asked: readonly string[]) =>
        inTurns(services, asked, { ...bursts, clients });
      const [ours = none, ...theirs] = await contest(
        [carquet.uncached, ...opened.map(({ service }) => service)],
        paths,
      );
      const loads = opened.map(({ name }, index): [PeerName, Load] => [name, theirs[index] ?? none]);
      results.push({
        ...{ clients, answers: "uncached", carquet: ours, peers: Object.fromEntries(loads) },
        ratio: Object.fromEntries(
          loads.map(([name, load]) => [name, rounded(ours.requests_per_second / load.requests_per_second)]),
        ),
      });
      const few = paths.slice(0, repeated);
      for (const path of few) await carquet.cached.fetch(path);
      const [kept = none] = await contest([carquet.cached], few);
      results.push({ clients, answers: "cached", carquet: kept, peers: {}, ratio: {} });
      say(`throughput, ${clients} clients: done`);
    }
    return results;
  } finally {
    for (const { service } of opened) await service.stop();
  }
}

const none: Load = { requests_per_second: Number.NaN, p50_ms: Number.NaN, p99_ms: Number.NaN };

interface Bursts {
  readonly clients: number;
  readonly turns: number;
  readonly seconds: number;
}

/** Loads services in turn; each goes on where it was, so that all are asked the same. */
async function inTurns(
  services: readonly Running[],
  paths: readonly string[],
  { clients, turns, seconds }: Bursts,
): Promise<readonly Load[]> {
  const states = services.map((service) => ({ service, next: 0, times: [] as number[], tookMs: 0 }));
  for (let turn = 0; turn < turns; turn += 1) {
    for (const state of states) {
      const startedAtMs = performance.now();
      const client = async (): Promise<void> => {
        while (performance.now() < startedAtMs + seconds * 1000) {
          const path = paths[state.next % paths.length] ?? "";
          state.next += 1;
          const askedAtMs = performance.now();
          await state.service.fetch(path);
          state.times.push(performance.now() - askedAtMs);
        }
      };
      await Promise.all(Array.from({ length: clients }, client));
      state.tookMs += performance.now() - startedAtMs;
    }
  }
  return states.map(({ times, tookMs }) => ({
    requests_per_second: rounded((1000 * times.length) / tookMs),
    ...timingOf(times),
  }));
}
