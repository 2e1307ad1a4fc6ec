import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { test } from "node:test";
import { projectPath } from "../../src/base/project.ts";
import { readMapping } from "../../src/ingest/mapping.ts";
import { agree } from "../oracle/agree.ts";
import { readMarket } from "../oracle/market.ts";
import { notBuilt, randomRequests } from "../oracle/requests.ts";
import { lakeOf } from "../support/lakes.ts";
import { serviceOf } from "../support/service.ts";

const seed = 20261119;

test("random requests find what a plain search of every listing finds, today and on past days", async (scope) => {
  const { lake } = await lakeOf(scope);
  const market = await readMarket(lake);
  assert.deepEqual([...market.snapshots.keys()], ["2026-11-18", "2026-11-19"]);
  const requests = [...randomRequests(market, { seed, count: 300, without: notBuilt })];
  for (const day of [undefined, ...market.snapshots.keys()]) {
    const asked = requests.filter((query) => query.get("snapshot_date") === day).length;
    assert.ok(asked > 30, `${asked} requests for ${day ?? "today"}`);
  }
  const { found } = await agree(await serviceOf(scope, lake), market, requests);
  assert.ok(found > 100, `only ${found} requests found anything`);
});

const realPath = projectPath("../shared/data/real/usa_cars.csv");
const skip = existsSync(realPath) ? false : `there is no ${realPath}`;

test("random requests find what a plain search finds in real auctions", { skip }, async (scope) => {
  const mapping = await readMapping(projectPath("data/mappings/usa_cars.json"));
  const { lake } = await lakeOf(scope, realPath, { mapping });
  const market = await readMarket(lake);
  const requests = randomRequests(market, { seed, count: 150, without: notBuilt });
  const { found } = await agree(await serviceOf(scope, lake), market, requests);
  assert.ok(found > 50, `only ${found} requests found anything`);
});
