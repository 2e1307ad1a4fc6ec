/**
 * Requests a second under a realistic mix: so many clients at once, each asking again as soon as it is answered. Servers take turns, in
 * short bursts, and every one of them gets the same requests.
 */
import type { Say } from "../dataset/dataset.ts";
import type { Question } from "../questions/question.ts";
import type { Load, ServerName, Throughput } from "../report/results.ts";
import { rehearsalMs, rehearse } from "../servers/rehearse.ts";
import type { Server } from "../servers/server.ts";
import type { PeerName } from "../settings.ts";
import { rounded, timingOf } from "./measure.ts";

/** Servers that are compared with each other. */
export interface Contest {
  readonly answers: Throughput["answers"];
  readonly carquet: Server<"carquet">;
  readonly peers: readonly Server[];
  readonly questions: readonly Question[];
  readonly isQuick: boolean;
  readonly say: Say;
}

const clientsAtOnce = [1, 8, 64] as const;
/** Other questions than those that are asked first. */
const rehearsedMax = 1000;
/** How many of the requests are asked again and again when answers may be kept. */
const repeated = 200;

/** What Carquet and the peers do under load, for each number of clients. */
export async function throughputOf(contest: Contest): Promise<readonly Throughput[]> {
  const { answers, carquet, peers, questions, isQuick, say } = contest;
  const servers = [carquet, ...peers];
  const asked = answers === "cached" ? questions.slice(0, repeated) : questions;
  // What may be kept has to be asked once.
  const least = answers === "cached" ? asked.length : 0;
  await rehearse(servers, asked.slice(-rehearsedMax), { forMs: rehearsalMs(isQuick), least });
  const bursts = isQuick ? { turns: 1, seconds: 2 } : { turns: 3, seconds: 5 };
  const results: Throughput[] = [];
  for (const clients of clientsAtOnce) {
    const [ours = none, ...theirs] = await inTurns(servers, asked, { ...bursts, clients });
    const loads = peers.map(({ name }, index): [PeerName, Load] => [name, theirs[index] ?? none]);
    results.push({
      ...{ clients, answers, carquet: ours, peers: Object.fromEntries(loads) },
      ratio: Object.fromEntries(
        loads.map(([name, load]) => [name, rounded(ours.requests_per_second / load.requests_per_second)]),
      ),
    });
    say(`throughput, ${answers}, ${clients} clients: done`);
  }
  return results;
}

const none: Load = { requests_per_second: Number.NaN, p50_ms: Number.NaN, p99_ms: Number.NaN };

interface Bursts {
  readonly clients: number;
  readonly turns: number;
  readonly seconds: number;
}

/** Loads servers in turn; each goes on where it was, so that all are asked the same. */
async function inTurns(
  servers: readonly Server<ServerName>[],
  questions: readonly Question[],
  { clients, turns, seconds }: Bursts,
): Promise<readonly Load[]> {
  const states = servers.map((server) => ({ server, next: 0, times: [] as number[], tookMs: 0, processorMs: 0 }));
  for (let turn = 0; turn < turns; turn += 1) {
    for (const state of states) {
      const [startedAtMs, before] = [performance.now(), state.server.processorMs()];
      const client = async (): Promise<void> => {
        while (performance.now() < startedAtMs + seconds * 1000) {
          const question = questions[state.next % questions.length];
          if (question === undefined) return;
          state.next += 1;
          const askedAtMs = performance.now();
          await state.server.ask(question);
          state.times.push(performance.now() - askedAtMs);
        }
      };
      await Promise.all(Array.from({ length: clients }, client));
      state.tookMs += performance.now() - startedAtMs;
      state.processorMs += state.server.processorMs() - before;
    }
  }
  return states.map(({ times, tookMs, processorMs }) => ({
    requests_per_second: rounded((1000 * times.length) / tookMs),
    ...timingOf(times),
    ...(Number.isNaN(processorMs) ? {} : { processor_ms: rounded(processorMs / times.length) }),
  }));
}
