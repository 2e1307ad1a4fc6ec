/** New versions that come into service while clients search; the campaign `swaps` is longer. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { describe, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import pino from "pino";
import { replaceFile } from "../../src/base/files.ts";
import {
  currentManifest,
  currentPath,
  lakeFormat,
  type Manifest,
  manifestPath,
  manifestText,
} from "../../src/lake/manifest.ts";
import { CurrentVersion } from "../../src/serving/current-version.ts";
import { publishedTotal, swapWhileServing } from "../support/campaigns/version-swaps.ts";
import { eventually, parseLog } from "../support/command-line.ts";
import { extentOf, skipInShortRun } from "../support/extent.ts";
import { type Client, startService } from "../support/http/service.ts";
import { createLake, ingestPath, samplePath, temporaryCopy, temporaryFolder } from "../support/lakes/lakes.ts";
import { fileScope, onScopeEnd, type Scope } from "../support/scope.ts";

test("versions with and without serving files are swapped while clients search, and each answer comes from one version", {
  skip: skipInShortRun,
}, async (context) => {
  const { answers, versionsSeen, openedWith } = await swapWhileServing(context, {
    days: 4,
    clients: 8,
    seed: 1,
    pauseMs: extentOf(50, 0),
  });
  assert.ok(answers > 100, `${answers} answers`);
  assert.ok(versionsSeen >= 3, `${versionsSeen} versions seen`);
  assert.ok(openedWith.parquet > 0 && openedWith.index > 0, JSON.stringify(openedWith));
});

test("a service started on an empty lake serves the first published version", async (context) => {
  const lake = join(await temporaryFolder(context), "lake");
  const client = await startService(context, lake);
  assert.equal((await client.get("/v1/listings")).status, 503);
  await ingestPath(lake, samplePath, { day: "2026-11-18" });
  await eventually("ready", async () => (await client.get("/readyz")).status === 200);
  const { pagination, meta } = await client.getBody("searchListings", "/v1/listings?limit=1");
  assert.deepEqual(
    [pagination.total, meta.data_version],
    [await publishedTotal(lake, meta.data_version), "2026-11-18.1"],
  );
});

const servedVersion = async (client: Client): Promise<string> =>
  (await client.getBody("searchListings", "/v1/listings?limit=1&fields=id")).meta.data_version;

/** Points `CURRENT` at a version, as a publisher does. */
async function publishManifest(lake: string, version: string, manifest: Manifest | string): Promise<void> {
  await replaceFile(manifestPath(lake, version), typeof manifest === "string" ? manifest : manifestText(manifest));
  await replaceFile(currentPath(lake), `${version}\n`);
}

/** Manifests that do not open, and the logged reason. */
const invalidManifests: readonly (readonly [
  what: string,
  manifest: (good: Manifest) => Manifest | string,
  why: RegExp,
])[] = [
  [
    "names listings that do not exist",
    ({ tables, ...rest }) => ({
      ...rest,
      tables: {
        ...tables,
        listings: tables.listings.map((file) => ({ ...file, path: file.path.replace("2026", "2036") })),
      },
    }),
    /2036\S*: not found: expected the file/,
  ],
  [
    "names dealers that do not exist",
    ({ tables, ...rest }) => ({
      ...rest,
      tables: { ...tables, dealers: tables.dealers.map((file) => ({ ...file, path: "dealers/gone.parquet" })) },
    }),
    /gone\.parquet: not found: expected the file/,
  ],
  ["is that of another version", (good) => ({ ...good, version: "2026-11-19.1" }), /invalid version 2026-11-19.1/],
  [
    "has another content than its checksum says",
    (good) => manifestText(good).replace('"sequence": 1', '"sequence": 2'),
    /invalid content: expected SHA-256/,
  ],
  ["is truncated", (good) => JSON.stringify(good).slice(0, 500), /JSON/],
  ["has another format", (good) => ({ ...good, format: lakeFormat + 1 }), /unsupported lake format \d+: expected/],
];

const sample = await createLake(fileScope);

const copySampleLake = (scope: Scope): Promise<string> => temporaryCopy(scope, sample.lake);

describe("a version that does not open", { concurrency: true }, () => {
  for (const [index, [what, manifest, why]] of invalidManifests.entries()) {
    test(`because its manifest ${what} leaves the previous version in service and is logged once`, {
      skip: index % 4 === 0 ? false : skipInShortRun,
    }, async (context) => {
      const lake = await copySampleLake(context);
      const lines: string[] = [];
      const logger = pino({ level: "info" }, { write: (line: string) => void lines.push(line) });
      const client = await startService(context, lake, { logger });
      const good = await currentManifest(lake);
      assert.ok(good);

      await publishManifest(lake, "2026-11-20.1", manifest({ ...good, version: "2026-11-20.1" }));
      const faults = () =>
        parseLog(lines.join("")).filter(({ version, level }) => version === "2026-11-20.1" && level === 50);
      await eventually("logged", async () => faults().length > 0);
      await sleep(900);
      assert.equal(faults().length, 1);
      assert.match(String(faults()[0]?.msg), /cannot be opened; the one in service stays/);
      assert.match(String(faults()[0]?.error), why);
      assert.equal(await servedVersion(client), "2026-11-19.1");
      assert.equal((await client.get("/readyz")).status, 200);

      await publishManifest(lake, "2026-11-20.2", { ...good, version: "2026-11-20.2" });
      await eventually("the next version is served", async () => (await servedVersion(client)) === "2026-11-20.2");
    });
  }
});

test("a version that does not open is tried again less and less often, and each reason is logged once", async (context) => {
  const lake = await copySampleLake(context);
  const good = (await currentManifest(lake)) ?? assert.fail("nothing is published");
  let opened = 0;
  const reasons: string[] = [];
  const version = "2026-11-20.1";
  await publishManifest(lake, version, { ...good, version: "2026-11-20.2" });
  const current = await CurrentVersion.watch(lake, {
    pollMs: 1,
    onOpen: () => {
      opened += 1;
    },
    onFailure: (_, reason) => void reasons.push(reason),
  });
  await eventually("the first reason is reported", async () => reasons.length > 0);
  await sleep(100);
  await publishManifest(lake, version, "{");
  await eventually("the second reason is reported", async () => reasons.length > 1);
  assert.match(reasons[0] ?? "", /invalid version 2026-11-20.2/);
  assert.match(reasons[1] ?? "", /JSON/);
  await publishManifest(lake, version, { ...good, version });
  await eventually("the repaired version is opened", async () => opened === 1);
  await current.close();
  assert.equal(reasons.length, 2, reasons.join("\n"));
});

test("a service can go back to an earlier version", async (context) => {
  const lake = await copySampleLake(context);
  const client = await startService(context, lake);
  await replaceFile(currentPath(lake), "2026-11-18.1\n");
  await eventually("the earlier version is served", async () => (await servedVersion(client)) === "2026-11-18.1");
  const { pagination } = await client.getBody("searchListings", "/v1/listings?limit=1");
  assert.equal(pagination.total, await publishedTotal(lake, "2026-11-18.1"));
});

test("a version that does not open is no fault any more once the version in service is current again", async (context) => {
  const lake = await copySampleLake(context);
  const served = (await currentManifest(lake))?.version;
  const current = await CurrentVersion.watch(lake, { pollMs: 1 });
  onScopeEnd(context, () => current.close());
  await publishManifest(lake, "2026-11-20.1", "{");
  await eventually("the fault", async () => current.faults.join() === "version 2026-11-20.1 cannot be opened");
  await replaceFile(currentPath(lake), `${served}\n`);
  await eventually("no fault", async () => current.faults.length === 0);
});
