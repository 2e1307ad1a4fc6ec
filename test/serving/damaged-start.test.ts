/** A service that starts on a lake whose newest version is damaged. */
import assert from "node:assert/strict";
import { readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import pino from "pino";
import { currentPath, currentVersion, manifestPath } from "../../src/lake/manifest.ts";
import { requireManifest } from "../../src/lake/published-lake.ts";
import { eventually, parseLog } from "../support/command-line.ts";
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

test("the version before one that lacks a serving file is served until the file has been rebuilt", async (t) => {
  const lake = await createTwoVersions(t);
  const [{ path } = assert.fail("no serving file")] = (await requireManifest(lake)).serving;
  await rm(join(lake, path));
  const lines: string[] = [];
  const logger = pino({ level: "info" }, { write: (line: string) => void lines.push(line) });
  const service = await startService(t, lake, { logger });
  await eventually("the newest version is served", async () => (await servedVersion(service)) === "2026-03-21.1");
  const events = parseLog(lines.join("")).flatMap(({ msg, version }) =>
    /^version/.test(String(msg)) ? [`${String(msg).split(";")[0]}: ${version}`] : [],
  );
  assert.deepEqual(events, [
    "version cannot be opened: 2026-03-21.1",
    "version in service: 2026-03-20.1",
    "version in service: 2026-03-21.1",
  ]);
  const { reasons } = (await service.get("/readyz")).body as { reasons: readonly string[] };
  assert.ok(reasons.includes("search index not in use"), reasons.join());
});
