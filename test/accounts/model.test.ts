/** The ledger under random operations, compared with a model; the campaign `ledger` is longer. */
import assert from "node:assert/strict";
import { runRandomOperations } from "../ledger/random-operations.ts";
import { testOnBothEngines, unusedLocation } from "../support/accounts.ts";
import { Chance } from "../support/chance.ts";
import { extentOf } from "../support/extent.ts";

const sequences = { SQLite: extentOf(20, 50), PostgreSQL: extentOf(2, 50) } as const;

testOnBothEngines("random sequences of 100 operations match a model that recounts every entry", async (t, engine) => {
  let charges = 0;
  for (let seed = 1; seed <= sequences[engine]; seed += 1)
    charges += await runRandomOperations(await unusedLocation(t, engine), new Chance(seed), 100);
  assert.ok(charges > 20 * sequences[engine], `${charges} charges`);
});
