import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { inOwnTurn } from "../../src/base/concurrency.ts";

describe("event loop turns", () => {
  it("runs steps in order, and other events between two of them", async () => {
    const events: string[] = [];
    const turn = (): void => {
      events.push("turn");
      if (events.length < 20) setImmediate(turn);
    };
    const steps = ["a", "b", "c"].map((step) => inOwnTurn(() => void events.push(step)));
    setImmediate(turn);
    await Promise.all(steps);
    assert.match(events.join(" "), /^(turn )*a (turn )+b (turn )+c$/);
  });

  it("settles as its step does, and continues with the next one", async () => {
    const failed = inOwnTurn(() => {
      throw new RangeError("failed");
    });
    const next = inOwnTurn(() => 2);
    await assert.rejects(failed, RangeError);
    assert.equal(await next, 2);
  });
});
