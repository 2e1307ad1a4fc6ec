import assert from "node:assert/strict";
import { test } from "node:test";
import { nextTurn } from "../../src/base/concurrency.ts";
import { turnToBegin } from "../../src/db/beginnings.ts";
import { noteTurns } from "../support/event-loop-turns.ts";

/** Holds the event loop for longer than a turn lasts. */
function holdLoop(): void {
  const endsAtMs = performance.now() + 6;
  while (performance.now() < endsAtMs);
}

test("requests begin at once while a turn of the event loop has time", async () => {
  await nextTurn();
  const events: string[] = [];
  const work = ["a", "b"].map((account) => turnToBegin(account).then(() => void events.push(account)));
  assert.match(await noteTurns(events, work), /^a b( turn)*$/);
});

test("requests of the account that has held the event loop least begin first, as many as a turn has time for", async () => {
  await turnToBegin("earlier");
  holdLoop();
  const events: string[] = [];
  const begin = async (account: string): Promise<void> => {
    await turnToBegin(account);
    events.push(account);
    if (account !== "light") holdLoop();
  };
  const work = ["heavy", "heavy", "heavy", "light", "other", "light"].map(begin);
  const order = await noteTurns(events, work);
  assert.match(order, /^(turn )*heavy (turn )+light other (turn )+light heavy (turn )+heavy( turn)*$/);
});
