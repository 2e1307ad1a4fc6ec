import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { setImmediate as nextTurn } from "node:timers/promises";
import { everyAccount } from "../../src/base/fair-shares.ts";
import { inShareOfLeast, inTurnOf, turnLater, turnMs, turnSoon } from "../../src/base/turns.ts";
import { noteTurns } from "../support/event-loop-turns.ts";

let nowMs = 0;

/** Sets a clock that only `holdLoop` advances: other processes, which hold up this one, change no order. */
function stopClock({ mock }: TestContext): void {
  nowMs = performance.now();
  mock.method(performance, "now", () => nowMs);
}

/** Holds the event loop, by default for longer than a turn lasts. */
function holdLoop(ms = turnMs + 2): void {
  nowMs += ms;
}

test("work begins at once while a turn of the event loop has time", async (scope) => {
  stopClock(scope);
  await nextTurn();
  const events: string[] = [];
  const work = ["a", "b"].map((account) => inTurnOf(account, async () => void events.push(account)));
  assert.match(await noteTurns(events, work), /^a b( turn)*$/);
});

test("work of the account that has held the event loop least begins first, as much as a turn has time for", async (scope) => {
  stopClock(scope);
  await inTurnOf("earlier", async () => holdLoop());
  const events: string[] = [];
  const begin = (account: string): Promise<void> =>
    inTurnOf(account, async () => {
      events.push(account);
      holdLoop(account === "light" ? 0.1 : undefined);
    });
  const work = ["heavy", "heavy", "heavy", "light", "other", "light"].map(begin);
  const order = await noteTurns(events, work);
  assert.match(order, /^(turn )*heavy (turn )+light other (turn )+light heavy (turn )+heavy( turn)*$/);
});

test("time in which work goes on counts for its account, and other events come between two pieces of it", async (scope) => {
  stopClock(scope);
  const events: string[] = [];
  const goOn = (account: string, holdMore: () => void): Promise<void> =>
    inTurnOf(account, async () => {
      await nextTurn();
      await turnSoon();
      holdMore();
      await turnLater();
      events.push(account);
    });
  // Accounts that have used nothing before.
  const order = await noteTurns(events, [goOn("long", holdLoop), goOn("short", () => undefined)]);
  assert.match(order, /^(turn )+short long( turn)*$/);
});

/** Notes each piece of work that holds the event loop for some turns. */
async function holdTurns(name: string, events: string[]): Promise<void> {
  for (let piece = 0; piece < 3; piece += 1) {
    await turnLater();
    events.push(name);
    holdLoop();
  }
}

async function orderOf(events: string[], work: readonly Promise<void>[]): Promise<readonly string[]> {
  return (await noteTurns(events, work))
    .replaceAll(/ ?turn ?/g, " ")
    .trim()
    .split(/ +/);
}

test("what the service does for itself takes turns with accounts, and what is done for every account goes before both", async (scope) => {
  stopClock(scope);
  const events: string[] = [];
  const work = [holdTurns("service", events), inTurnOf("quick", async () => void events.push("quick"))];
  work.push(inTurnOf(everyAccount, () => holdTurns("all", events)));
  const order = await orderOf(events, work);
  assert.ok(order.indexOf("quick") < order.lastIndexOf("service"), order.join());
  const all = order.indexOf("all");
  assert.deepEqual(order.slice(all, all + 3), ["all", "all", "all"]);
});

test("work that several accounts wait for goes on in the share of the account of them with the least use", async (scope) => {
  stopClock(scope);
  const events: string[] = [];
  const order = async (waitingAccounts: ReadonlySet<string>): Promise<string> => {
    events.length = 0;
    const shared = inShareOfLeast(waitingAccounts, () => holdTurns("shared", events));
    return (await orderOf(events, [shared, inTurnOf("rival", () => holdTurns("rival", events))])).join(" ");
  };
  await inTurnOf("user", () => holdTurns("user", events));
  await inTurnOf("rival", async () => holdLoop());
  assert.match(await order(new Set(["user"])), /^rival /);
  assert.match(await order(new Set(["user", "newcomer"])), /^shared (rival )?shared/);
});
