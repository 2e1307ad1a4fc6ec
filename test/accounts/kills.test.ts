import assert from "node:assert/strict";
import { test } from "node:test";
import { killServing } from "../ledger/kills.ts";
import { Chance } from "../oracle/random-market/chance.ts";
import { lakeOf } from "../support/lakes/lakes.ts";

test("a service that is killed 5 times under load from 32 clients has charged each whole answer exactly once", async (t) => {
  const { lake } = await lakeOf(t);
  const { whole } = await killServing(t, { lake, kills: 5, clients: 32, chance: new Chance(1) });
  assert.ok(whole > 100, `${whole} answers`);
});
