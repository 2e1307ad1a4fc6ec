/** Runs the cases: first every answer is compared with Carquet's, then all servers are timed in turn, over HTTP. */

import type { Case } from "../cases.ts";
import type { Say } from "../dataset/dataset.ts";
import { at, type Question } from "../questions/question.ts";
import type { CaseResult, ServerName } from "../report/results.ts";
import type { Fetch } from "../servers/carquet.ts";
import { rehearsalMs, rehearse } from "../servers/rehearse.ts";
import type { Server } from "../servers/server.ts";
import { assertSameAnswer } from "./agree.ts";
import type { Calibration } from "./calibration.ts";
import { type Rounds, rounded, takeTurns, timingOf } from "./measure.ts";

export interface Field {
  /** Carquet in this process, without HTTP. */
  readonly inProcess: { readonly fetch: Fetch };
  readonly carquet: Server<"carquet">;
  readonly peers: readonly Server[];
  readonly steady: Calibration;
  /** What servers are asked before the cases, so that their code is compiled. */
  readonly rehearsal: readonly Question[];
  readonly isQuick: boolean;
  readonly say: Say;
}

/** How much is compared and measured. */
interface Effort extends Rounds {
  /** How many of a case's questions are compared. */
  readonly compared: number;
  /** How much processor time a server has to take before it is divided by the requests: Linux counts in steps of 10 ms. */
  readonly processorMs: number;
}

const usually: Effort = {
  rounds: 31,
  budgetMs: 6000,
  longMs: 10_000,
  compared: 10,
  processorMs: 1000,
};
const quickly: Effort = { rounds: 9, budgetMs: 400, longMs: 800, compared: 2, processorMs: 150 };

export async function runCases(cases: readonly Case[], field: Field): Promise<readonly CaseResult[]> {
  const results: CaseResult[] = [];
  const { carquet, peers, rehearsal, isQuick, say } = field;
  if (cases.length > 0) await rehearse([carquet, ...peers], rehearsal, { forMs: rehearsalMs(isQuick), least: 0 });
  for (const one of cases) {
    results.push(await runCase(one, field));
    say(`${one.name}: done`);
  }
  return results;
}

async function runCase({ name, questions }: Case, field: Field): Promise<CaseResult> {
  const { inProcess, carquet, peers, steady, isQuick } = field;
  const effort = isQuick ? quickly : usually;
  const [question] = questions;
  if (question === undefined) throw new Error(`${name} asks nothing.`);
  const { rows, deviation } = await compareAll(questions.slice(0, effort.compared), field);
  const inTurn = (round: number): Question => questions[(effort.compared + round) % questions.length] ?? question;
  const servers = [carquet, ...peers];
  const times = await takeTurns(
    [
      ...servers.map(({ name: server, ask }) => ({ name: server, run: (round: number) => ask(inTurn(round)) })),
      { name: "in process", run: (round) => inProcess.fetch(inTurn(round).path) },
      { name: "calibration", run: () => steady.run() },
    ],
    effort,
  );
  const processor: [ServerName, number][] = [];
  for (const server of servers) {
    const took = await processorMsOf(server, inTurn, effort.processorMs);
    if (!Number.isNaN(took)) processor.push([server.name, rounded(took)]);
  }
  const ours = timingOf(times.get("carquet"));
  const theirs = peers.map((peer) => ({ peer: peer.name, timing: timingOf(times.get(peer.name)) }));
  return {
    ...{ case: name, rows, carquet: ours, in_process: timingOf(times.get("in process")) },
    peers: Object.fromEntries(theirs.map(({ peer, timing }) => [peer, timing])),
    ratio: Object.fromEntries(theirs.map(({ peer, timing }) => [peer, rounded(timing.p50_ms / ours.p50_ms)])),
    processor_ms: Object.fromEntries(processor),
    ...(deviation.size === 0 ? {} : { deviation: Object.fromEntries(deviation) }),
    calibration: timingOf(times.get("calibration")),
  };
}

/** What waits for a busy machine is given up after so many times the processor time that is wanted. */
const patience = 5;

/** Processor time of a server per request: asks it alone until it has taken so much, three times at least. */
async function processorMsOf(
  { ask, processorMs }: Server<ServerName>,
  inTurn: (round: number) => Question,
  forMs: number,
): Promise<number> {
  const [before, endAtMs] = [processorMs(), performance.now() + patience * forMs];
  let requests = 0;
  const took = (): number => processorMs() - before;
  while (requests < 3 || (took() < forMs && performance.now() < endAtMs)) {
    await ask(inTurn(requests));
    requests += 1;
  }
  return took() / requests;
}

const dataOf = (body: unknown) => ({ data: at(body, "data"), pagination: at(body, "pagination") });

interface Comparison {
  /** How many rows match the first question. */
  readonly rows: number;
  /** The largest share by which percentiles of an approximate peer differ. */
  readonly deviation: ReadonlyMap<string, number>;
}

/** Compares all answers with those of Carquet in process. */
async function compareAll(questions: readonly Question[], { inProcess, carquet, peers }: Field): Promise<Comparison> {
  const rows: number[] = [];
  const deviation = new Map<string, number>();
  for (const question of questions) {
    const { path } = question;
    // What has to come from the disk first may take longer than a request is given.
    await inProcess.fetch(path).catch(() => {});
    const ours = JSON.parse(await inProcess.fetch(path));
    assertSameAnswer(path, dataOf(ours), "Carquet over HTTP", dataOf((await carquet.ask(question))()));
    for (const peer of peers) {
      const share = question.compare(ours, (await peer.ask(question))(), peer);
      if (share > 0 && peer.tolerance > 0) deviation.set(peer.name, Math.max(share, deviation.get(peer.name) ?? 0));
    }
    rows.push(question.rows(ours));
  }
  return { rows: rows[0] ?? 0, deviation };
}
