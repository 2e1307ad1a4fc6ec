import assert from "node:assert/strict";
import { test } from "node:test";
import { turnToGoOn } from "../../src/base/concurrency.ts";
import { noteTurns } from "../support/event-loop-turns.ts";

test("work goes on in order, and other events come between two pieces of it", async () => {
  const events: string[] = [];
  const work = ["a", "b", "c"].map((name) => turnToGoOn().then(() => void events.push(name)));
  assert.match(await noteTurns(events, work), /^(turn )*a (turn )+b (turn )+c( turn)*$/);
});
