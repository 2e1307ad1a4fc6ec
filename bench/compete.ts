/** Runs the cases: first every answer is compared with Carquet's, then all are timed in turn. */

import { agree } from "./agree.ts";
import type { Calibration } from "./calibration.ts";
import type { Fetch, Running } from "./carquet.ts";
import type { Case } from "./cases.ts";
import type { Say } from "./dataset.ts";
import { type Rounds, rounded, type Timing, takeTurns, timingOf } from "./measure.ts";
import type { Peer } from "./peers/peer.ts";
import type { Question } from "./questions/question.ts";
import type { CaseResult } from "./results.ts";
import type { PeerName } from "./settings.ts";

export interface Field {
  readonly market: { readonly fetch: Fetch };
  readonly service: Running;
  readonly peers: readonly Peer[];
  readonly steady: Calibration;
  readonly isQuick: boolean;
  readonly say: Say;
}

const usually: Rounds = { rounds: 31, budgetMs: 6000, longMs: 10_000 };
const quickly: Rounds = { rounds: 9, budgetMs: 500, longMs: 1000 };

export async function runCases(cases: readonly Case[], field: Field): Promise<readonly CaseResult[]> {
  const results: CaseResult[] = [];
  for (const one of cases) {
    results.push(await runCase(one, field));
    field.say(`${one.name}: done`);
  }
  return results;
}

async function runCase(
  { name, questions }: Case,
  { market, service, peers, steady, isQuick }: Field,
): Promise<CaseResult> {
  const [question] = questions;
  if (question === undefined) throw new Error(`${name} asks nothing.`);
  const rows = await allAgree(questions.slice(0, compared), market.fetch, service.fetch, peers);
  const inTurn = (round: number): Question => questions[(compared + round) % questions.length] ?? question;
  const times = await takeTurns(
    [
      { name: "carquet", run: (round) => market.fetch(inTurn(round).path) },
      { name: "http", run: (round) => service.fetch(inTurn(round).path) },
      ...peers.map((peer) => ({ name: peer.name, run: (round: number) => inTurn(round).ask(peer) })),
      { name: "calibration", run: () => steady.run() },
    ],
    isQuick ? quickly : usually,
  );
  const carquet = timingOf(times.get("carquet"));
  const theirs = peers.map((peer): [PeerName, Timing] => [peer.name, timingOf(times.get(peer.name))]);
  return {
    ...{ case: name, rows, carquet, http: timingOf(times.get("http")), peers: Object.fromEntries(theirs) },
    ratio: Object.fromEntries(theirs.map(([peer, { p50_ms }]) => [peer, rounded(p50_ms / carquet.p50_ms)])),
    calibration: timingOf(times.get("calibration")),
  };
}

/** How many of a case's questions are compared, where it has many. */
const compared = 10;

/** Compares all answers with Carquet's own in process; gives how many rows match the first question. */
async function allAgree(
  questions: readonly Question[],
  inProcess: Fetch,
  overHttp: Fetch,
  peers: readonly Peer[],
): Promise<number> {
  const rows: number[] = [];
  for (const { path, essence, rows: matching, ask } of questions) {
    // What has to come from the disk first may take longer than a request is given.
    await inProcess(path).catch(() => {});
    const ours = JSON.parse(await inProcess(path));
    agree(path, essence(ours), "Carquet over HTTP", essence(JSON.parse(await overHttp(path))));
    for (const peer of peers) agree(path, essence(ours), peer.name, essence(await ask(peer)));
    rows.push(matching(ours));
  }
  return rows[0] ?? 0;
}
