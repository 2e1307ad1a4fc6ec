/** A service that starts on a lake whose newest version is damaged. */
import assert from "node:assert/strict";
import { readFile, writeFile } from "node:fs/promises";
import { type TestContext, test } from "node:test";
import { currentPath, currentVersion, manifestPath } from "../../src/lake/manifest.ts";
import { requireManifest } from "../../src/lake/published-lake.ts";
import { eventually } from "../support/command-line.ts";
import { skipInShortRun } from "../support/extent.ts";
import { type Client, startService } from "../support/http/service.ts";
import { dealerIdOf, vinOf, writeFeeds } from "../support/lakes/feeds.ts";
import { createLake, ingestPath, temporaryFolder } from "../support/lakes/lakes.ts";

/** Creates a lake of two versions, each of one day. */
async function createTwoVersions(t: TestContext): Promise<string> {
  const feeds = await temporaryFolder(t);
  const dealers = [{ dealer_id: dealerIdOf(1), name: "North", state: "CA" }];
  const inventory = [{ vin: vinOf(1), dealer_id: dealerIdOf(1), make: "Honda", model: "Civic", price: 20_000 }];
  const days = [];
  for (const day of ["2026-03-20", "2026-03-21"]) days.push(await writeFeeds(feeds, day, { dealers, inventory }));
  const { lake } = await createLake(t, days[0]);
  await ingestPath(lake, days[1] ?? "");
  assert.equal(await currentVersion(lake), "2026-03-21.1");
  return lake;
}

const servedVersion = async (service: Client): Promise<string> =>
  (await service.getBody("searchListings", "/v1/listings")).meta.data_version;

test("the version before a damaged one is served, says so, and the newest one is served once it is repaired", async (t) => {
  const lake = await createTwoVersions(t);
  const path = manifestPath(lake, "2026-03-21.1");
  const intact = await readFile(path, "utf8");
  await writeFile(path, intact.slice(0, 500));
  const service = await startService(t, lake);
  assert.equal(await servedVersion(service), "2026-03-20.1");
  const ready = await fetch(`${service.url}/readyz`);
  assert.match(await ready.text(), /version 2026-03-21\.1 cannot be opened/);
  await writeFile(path, intact);
  await eventually("the repaired version is served", async () => (await servedVersion(service)) === "2026-03-21.1");
});

for (const [index, content] of ["../../etc/passwd", "", "2026-03-21", "2026-03-99.1\n2026-03-21.1"].entries())
  test(`CURRENT with ${JSON.stringify(content)} is refused by name, and the newest version that opens is served`, {
    skip: index === 0 ? false : skipInShortRun,
  }, async (t) => {
    const lake = await createTwoVersions(t);
    await writeFile(currentPath(lake), content);
    await assert.rejects(requireManifest(lake), /CURRENT: invalid version ".*": expected one such as 2026-11-19\.1\./);
    assert.equal(await servedVersion(await startService(t, lake)), "2026-03-21.1");
  });

test("a manifest that is no JSON is named with what is wrong", async (t) => {
  const lake = await createTwoVersions(t);
  await writeFile(manifestPath(lake, "2026-03-21.1"), '{"version": ');
  await assert.rejects(requireManifest(lake), /2026-03-21\.1\.json: .*: expected a manifest in JSON\./);
});
