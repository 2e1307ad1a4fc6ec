/** Services killed under load charge each complete answer once; `npm run soak -- charges` runs this for longer. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { killServices } from "../ledger/service-kills.ts";
import { Chance } from "../support/chance.ts";
import { extentOf } from "../support/extent.ts";
import { createLake } from "../support/lakes/lakes.ts";

test("a service killed repeatedly under load from 32 clients charges each complete answer exactly once", async (t) => {
  const { lake } = await createLake(t);
  const { complete } = await killServices(t, { lake, kills: extentOf(2, 5), clients: 32, chance: new Chance(1) });
  assert.ok(complete > 100, `${complete} answers`);
});
