/**
 * Services that are killed under load, whose PostgreSQL crashes, or that are replaced by the next release charge each complete answer once;
 * `npm run soak -- charges`, `crashes` and `upgrade` run this for longer.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import { simulatePowerLosses } from "../ledger/power/power-loss.ts";
import { record } from "../ledger/power/recording.ts";
import { killServices } from "../ledger/service-kills.ts";
import { testOnBothEngines } from "../support/accounts.ts";
import { crashKinds, crashReplicas } from "../support/campaigns/replica-crashes.ts";
import { upgradeInTurn } from "../support/campaigns/rolling-upgrade.ts";
import { Chance } from "../support/chance.ts";
import { extentOf, skipInShortRun } from "../support/extent.ts";
import { skipWithoutNginx } from "../support/http/nginx.ts";
import { createLake, temporaryFolder } from "../support/lakes/lakes.ts";
import { skipWithoutPostgres } from "../support/postgres.ts";

const kills = { SQLite: extentOf(1, 5), PostgreSQL: extentOf(1, 5) } as const;

testOnBothEngines(
  "a service killed repeatedly under load from 32 clients charges each complete answer exactly once",
  async (t, engine) => {
    if (engine === "PostgreSQL" && skipInShortRun) return t.skip(skipInShortRun);
    const { lake } = await createLake(t);
    const options = { lake, engine, kills: kills[engine], clients: 32, chance: new Chance(1) };
    const { complete } = await killServices(t, options);
    assert.ok(complete > 20 * kills[engine], `${complete} answers`);
  },
);

test("a loss of power takes the charges of 100 ms at most, and leaves a sound file", {
  skip: skipInShortRun,
}, async (t) => {
  const { lake } = await createLake(t);
  const recording = await record(t, { lake, chargeFlush: "interval", answers: 400, clients: 4 });
  const { broken, first, answers } = await simulatePowerLosses(await temporaryFolder(t), recording, new Chance(1), 60);
  assert.deepEqual([broken, first], [0, undefined]);
  assert.ok(answers > 1000, `${answers} answers before the losses`);
});

test("replicas behind nginx charge each answer exactly once when they, PostgreSQL or the follower are killed or hang", {
  skip: skipInShortRun || skipWithoutPostgres || skipWithoutNginx,
}, async (t) => {
  const crashes = extentOf(crashKinds.slice(0, 2), [...crashKinds, ...crashKinds]);
  const options = { crashes, replicas: extentOf(2, 4), clients: 16, chance: new Chance(1) };
  const { answers, unavailable } = await crashReplicas(t, options);
  assert.ok(answers > 100 && unavailable > 0, `${answers} answers, ${unavailable} unavailable`);
});

test("replicas behind nginx are replaced by the next release without a failed request", {
  skip: skipInShortRun || skipWithoutPostgres || skipWithoutNginx,
}, async (t) => {
  const short = { replicas: 2, replaced: 1, publishes: false, clients: 8 };
  const full = { replicas: 4, replaced: 4, publishes: true, clients: 16 };
  const options = { ...extentOf(short, full), chance: new Chance(1) };
  const { answers, chargedByOld, chargedByNext } = await upgradeInTurn(t, options);
  assert.ok(answers > 50 && chargedByOld > 0 && chargedByNext > 0, `${answers}: ${chargedByOld}, ${chargedByNext}`);
});
