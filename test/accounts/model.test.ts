/** The ledger under random operations, compared with a model; the campaign `ledger` is longer. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { runRandomOperations } from "../ledger/random-operations.ts";
import { Chance } from "../support/chance.ts";
import { temporaryFolder } from "../support/lakes/lakes.ts";

test("50 random sequences of 100 operations match a model that recounts every entry", async (t) => {
  let charges = 0;
  for (let seed = 1; seed <= 50; seed += 1)
    charges += runRandomOperations(await temporaryFolder(t), new Chance(seed), 100);
  assert.ok(charges > 1000, `${charges} charges`);
});
