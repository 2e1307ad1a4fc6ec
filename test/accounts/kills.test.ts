/**
 * Services killed under load, and a PostgreSQL that crashes, charge each complete answer once; `npm run soak -- charges` and
 * `npm run soak -- crashes` run this for longer.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import { crashServers } from "../ledger/server-crashes.ts";
import { killServices } from "../ledger/service-kills.ts";
import { testOnBothEngines } from "../support/accounts.ts";
import { Chance } from "../support/chance.ts";
import { extentOf } from "../support/extent.ts";
import { createLake } from "../support/lakes/lakes.ts";
import { skipWithoutPostgres } from "../support/postgres.ts";

const kills = { SQLite: extentOf(2, 5), PostgreSQL: extentOf(1, 5) } as const;

testOnBothEngines(
  "a service killed repeatedly under load from 32 clients charges each complete answer exactly once",
  async (t, engine) => {
    const { lake } = await createLake(t);
    const options = { lake, engine, kills: kills[engine], clients: 32, chance: new Chance(1) };
    const { complete } = await killServices(t, options);
    assert.ok(complete > 50 * kills[engine], `${complete} answers`);
  },
);

test("replicas whose PostgreSQL crashes under load charge each answer exactly once, and no money is left over", {
  skip: skipWithoutPostgres,
}, async (t) => {
  const options = { crashes: extentOf(2, 20), replicas: extentOf(2, 4), clients: 16, chance: new Chance(1) };
  const { charged, unavailable } = await crashServers(t, options);
  assert.ok(charged > 100 && unavailable > 0, `${charged} charged, ${unavailable} unavailable`);
});
