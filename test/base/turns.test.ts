import assert from "node:assert/strict";
import { test } from "node:test";
import { setImmediate as nextTurn } from "node:timers/promises";
import { inTurnOf, inTurnOfAll, turnLater, turnMs, turnSoon } from "../../src/base/turns.ts";
import { noteTurns } from "../support/event-loop-turns.ts";

/** Holds the event loop for longer than a turn lasts. */
function holdLoop(): void {
  const endsAtMs = performance.now() + turnMs + 2;
  while (performance.now() < endsAtMs);
}

test("work begins at once while a turn of the event loop has time", async () => {
  await nextTurn();
  const events: string[] = [];
  const work = ["a", "b"].map((account) => inTurnOf(account, async () => void events.push(account)));
  assert.match(await noteTurns(events, work), /^a b( turn)*$/);
});

test("work of the account that has held the event loop least begins first, as much as a turn has time for", async () => {
  await inTurnOf("earlier", async () => holdLoop());
  const events: string[] = [];
  const begin = (account: string): Promise<void> =>
    inTurnOf(account, async () => {
      events.push(account);
      if (account !== "light") holdLoop();
    });
  const work = ["heavy", "heavy", "heavy", "light", "other", "light"].map(begin);
  const order = await noteTurns(events, work);
  assert.match(order, /^(turn )*heavy (turn )+light other (turn )+light heavy (turn )+heavy( turn)*$/);
});

test("time in which work goes on counts for its account, and other events come between two pieces of it", async () => {
  const events: string[] = [];
  const goOn = (account: string, holdMore: () => void): Promise<void> =>
    inTurnOf(account, async () => {
      await nextTurn();
      await turnSoon();
      holdMore();
      await turnLater();
      events.push(account);
    });
  const order = await noteTurns(events, [goOn("heavy", holdLoop), goOn("light", () => undefined)]);
  assert.match(order, /^(turn )+light heavy( turn)*$/);
});

test("what the service does for itself takes turns with accounts, and what all accounts wait for goes before both", async () => {
  const events: string[] = [];
  const hold = async (name: string): Promise<void> => {
    for (let piece = 0; piece < 3; piece += 1) {
      await turnLater();
      events.push(name);
      holdLoop();
    }
  };
  const work = [hold("service"), inTurnOf("light", async () => void events.push("light"))];
  work.push(inTurnOf("other", () => inTurnOfAll(() => hold("all"))));
  const order = (await noteTurns(events, work))
    .replaceAll(/ ?turn ?/g, " ")
    .trim()
    .split(/ +/);
  assert.ok(order.indexOf("light") < order.lastIndexOf("service"), order.join());
  const all = order.indexOf("all");
  assert.deepEqual(order.slice(all, all + 3), ["all", "all", "all"]);
});
