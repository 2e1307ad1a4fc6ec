import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { turnToBegin, turnToGoOn } from "../../src/base/concurrency.ts";

/** Notes turns of the event loop as `turn` until the work has ended. */
async function noteTurns(events: string[], work: readonly Promise<void>[]): Promise<string> {
  let isOver = false;
  const note = (): void => {
    events.push("turn");
    if (!isOver) setImmediate(note);
  };
  setImmediate(note);
  await Promise.all(work);
  isOver = true;
  return events.join(" ");
}

describe("event loop turns", () => {
  it("have work that goes on in order, and other events between two pieces of it", async () => {
    const events: string[] = [];
    const work = ["a", "b", "c"].map((name) => turnToGoOn().then(() => void events.push(name)));
    assert.match(await noteTurns(events, work), /^(turn )*a (turn )+b (turn )+c( turn)*$/);
  });

  it("begin the work of each account after the other, however much waits for one of them", async () => {
    const events: string[] = [];
    const begin = async (account: string): Promise<void> => {
      await turnToBegin(account);
      events.push(account);
    };
    const work = ["heavy", "heavy", "heavy", "heavy", "light", "other"].map(begin);
    const order = await noteTurns(events, work);
    assert.match(order, /^heavy (turn )*heavy (turn )+light (turn )+other (turn )+heavy (turn )+heavy( turn)*$/);
  });

  it("begin work at once that is alone", async () => {
    const events: string[] = [];
    assert.match(await noteTurns(events, [turnToBegin("a").then(() => void events.push("a"))]), /^a( turn)*$/);
  });
});
