/** Indexes of past days: when they are built, removed and kept, and what happens when they cannot be used. */
import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { cp, readdir, rm, stat, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import pino from "pino";
import { bounds } from "../../src/base/bounds.ts";
import { replaceFile } from "../../src/base/files.ts";
import { DuckDatabase } from "../../src/db/duckdb.ts";
import { ident, sql } from "../../src/db/sql.ts";
import { currentManifest, currentPath, manifestPath, manifestText } from "../../src/lake/manifest.ts";
import { fingerprintUpTo } from "../../src/serving/past/dimension-rows.ts";
import { sizeOfFolder } from "../../src/serving/past/index-cache.ts";
import { PastIndexes, type PastIndexSettings } from "../../src/serving/past/past-indexes.ts";
import { pastSourceOf } from "../../src/serving/past/past-source.ts";
import { eventually, parseLog, startServing } from "../support/command-line.ts";
import { skipInShortRun } from "../support/extent.ts";
import { type Client, startService } from "../support/http/service.ts";
import { changeByte } from "../support/lakes/contents.ts";
import { createLakeOfEveryState } from "../support/lakes/every-state.ts";
import { temporaryFolder } from "../support/lakes/lakes.ts";
import { storePastIndexes } from "../support/lakes/past-indexes.ts";
import { fileScope, onScopeEnd, type Scope } from "../support/scope.ts";
import { answerPath, openVersion } from "../support/versions.ts";

const { lake } = await createLakeOfEveryState(fileScope);
const manifest = (await currentManifest(lake)) ?? assert.fail("nothing is published");
const [first, second, third] = ["2026-03-21", "2026-03-25", "2026-03-30"] as const;
const stored = await storePastIndexes(fileScope, lake, [first, second]);
const parquet = await openVersion(fileScope, lake, { hasServingFiles: false });

/** Longer than a build on a busy machine takes. */
const builtWithinMs = 120_000;

const keyOf = (name: string): string => pastSourceOf(manifest, name).key;
const namesIn = async (folder: string): Promise<readonly string[]> =>
  (await readdir(folder)).filter((n) => n !== "used");

/** Starts a service with past indexes; the messages of its log about them, with the name or key of each, can be read. */
async function startIndexing(
  scope: Scope,
  settings: Partial<PastIndexSettings>,
): Promise<{ readonly client: Client; readonly folder: string; readonly events: () => readonly string[] }> {
  const folder = settings.folder ?? join(await temporaryFolder(scope), "past-indexes");
  const lines: string[] = [];
  const logger = pino({ level: "info" }, { write: (line: string) => void lines.push(line) });
  const pastIndexSettings = { folder, bytesMost: 2 ** 30, pinned: [], requestsMin: 3, ...settings };
  const client = await startService(scope, lake, { logger, metricsPort: 0, responseCacheBytes: 0, pastIndexSettings });
  const nameOf = new Map([first, second, third, "sold"].map((name) => [keyOf(name), name]));
  const events = (): readonly string[] =>
    parseLog(lines.join(""))
      .filter(({ msg }) => String(msg).startsWith("past index"))
      .map(({ msg, key }) => `${String(msg)} ${nameOf.get(String(key)) ?? ""}`.trim());
  return { client, folder, events };
}

/** Copies stored indexes of the first and the second day. */
async function copyStored(scope: Scope): Promise<string> {
  const folder = join(await temporaryFolder(scope), "past-indexes");
  await cp(stored.folder, folder, { recursive: true, preserveTimestamps: true });
  return folder;
}

const until = (what: string, events: () => readonly string[]): Promise<void> =>
  eventually(`${what}, not only ${events().join("; ")}`, async () => events().includes(what), builtWithinMs);

/** Requests a page and facets of a day, or of the sold history, and compares them with Parquet's. */
async function assertExact(client: Client, name: string): Promise<void> {
  const mode = name === "sold" ? "sold_within_days=9" : `snapshot_date=${name}`;
  for (const path of [`/v1/listings?${mode}&sort=-price&make=honda`, `/v1/facets?${mode}&facets=make,price,features`]) {
    const { data } = (await client.get(path)).body as { data: unknown };
    assert.deepEqual(data, ((await answerPath(parquet, path)) as { data: unknown }).data, path);
  }
}

async function metricOf(client: Client, name: string): Promise<number> {
  const text = await (await fetch(client.metricsUrl ?? "")).text();
  return Number(new RegExp(`^carquet_past_index${name} (\\d+)$`, "m").exec(text)?.[1]);
}

test("a day that is requested three times gets an index, and the least recently used one goes", async (scope) => {
  const folder = await copyStored(scope);
  const { size } = await stat(join(folder, keyOf(first), "index.duckdb"));
  const { client, events } = await startIndexing(scope, { folder, bytesMost: Math.floor(2.5 * size) });
  await utimes(join(folder, keyOf(first), "used"), 1, 1);
  await assertExact(client, first);
  await until(`past index in use ${first}`, events);
  const hits = await metricOf(client, "_hits_total");
  await assertExact(client, first);
  assert.equal(await metricOf(client, "_hits_total"), hits + 2);
  await client.get(`/v1/listings?snapshot_date=${third}`);
  await client.get(`/v1/listings?snapshot_date=${third}&limit=1`);
  assert.deepEqual(events(), [`past index in use ${first}`]);
  await client.get(`/v1/listings?snapshot_date=${third}`);
  await until(`past index in use ${third}`, events);
  assert.deepEqual(events().slice(1, 3), [`past index removed ${second}`, `past index built ${third}`]);
  await assertExact(client, third);
  assert.deepEqual([...(await namesIn(folder))].sort(), [keyOf(first), keyOf(third)].sort());
  assert.deepEqual(
    [await metricOf(client, "es"), await metricOf(client, "_builds_total"), await metricOf(client, "_hits_total")],
    [2, 1, hits + 4],
  );
});

test("two services share a folder; pinned indexes are built at the start, and a new version keeps them", async (scope) => {
  const folder = join(await temporaryFolder(scope), "past-indexes");
  const services = await Promise.all(
    [1, 2].map(() => startIndexing(scope, { folder, pinned: [first, "sold"], requestsMin: 0 })),
  );
  for (const { client, events } of services) {
    await until("past index in use sold", events);
    await until(`past index in use ${first}`, events);
    for (const name of [first, "sold", second]) await assertExact(client, name);
    assert.equal(await metricOf(client, "_hits_total"), 4);
  }
  assert.deepEqual([...(await namesIn(folder))].sort(), [keyOf(first), keyOf("sold")].sort());
  const version = manifest.version.replace(/\d+$/, "9");
  await replaceFile(manifestPath(lake, version), manifestText({ ...manifest, version, sequence: 9 }));
  await replaceFile(currentPath(lake), `${version}\n`);
  for (const { client } of services) {
    const isServed = async (): Promise<boolean> =>
      (await client.getBody("searchListings", "/v1/listings?limit=1")).meta.version === version;
    await eventually("the next version", isServed);
    for (const name of [first, "sold"]) await assertExact(client, name);
    assert.equal(await metricOf(client, "_hits_total"), 8);
  }
});

/** What is wrong with the stored index of the first day. */
const faults: readonly (readonly [what: string, spoil: (folder: string) => Promise<unknown>, skip?: string | false])[] =
  [
    ["a changed byte", async (folder) => changeByte(join(folder, "index.duckdb"), 500_000)],
    [
      "other builds, dealers or tokens",
      async (folder) => {
        const path = join(folder, "index.json");
        await writeFile(path, readFileSync(path, "utf8").replace(/"fingerprint":"builds \d/, "$&0"));
      },
      skipInShortRun,
    ],
    ["a damaged record", async (folder) => writeFile(join(folder, "index.json"), "{"), skipInShortRun],
  ];

for (const [what, spoil, skip = false] of faults)
  test(`an index with ${what} is removed and built again; Parquet answers meanwhile`, { skip }, async (scope) => {
    const folder = await copyStored(scope);
    await spoil(join(folder, keyOf(first)));
    const { client, events } = await startIndexing(scope, { folder });
    await assertExact(client, first);
    await until(`past index removed ${first}`, events);
    assert.equal(await metricOf(client, "_hits_total"), 0);
    await assertExact(client, first);
    await assertExact(client, first);
    await until(`past index in use ${first}`, events);
    await assertExact(client, first);
    assert.deepEqual([await metricOf(client, "_builds_total"), await metricOf(client, "_hits_total")], [1, 2]);
  });

test("an index that is damaged while it is in use is removed, and each request is answered", {
  skip: skipInShortRun,
}, async (scope) => {
  const folder = await copyStored(scope);
  const { client, events } = await startIndexing(scope, { folder, pinned: [first] });
  await until(`past index in use ${first}`, events);
  await writeFile(join(folder, keyOf(first), "index.duckdb"), Buffer.alloc(3_000_000));
  await assertExact(client, first);
  await until(`past index removed ${first}`, events);
  await until(`past index built ${first}`, events);
  await assertExact(client, first);
});

test("an index that does not fit beside the pinned ones is not kept, and a stopping service ends a build", async (scope) => {
  const folder = await copyStored(scope);
  const bytes = await sizeOfFolder(join(folder, keyOf(first)));
  await rm(join(folder, keyOf(second)), { recursive: true });
  const settings = { folder, pinned: [first], bytesMost: Math.floor(1.5 * bytes) };
  const { client, events } = await startIndexing(scope, settings);
  await until(`past index in use ${first}`, events);
  for (let request = 0; request < 3; request += 1) await client.get(`/v1/listings?snapshot_date=${second}`);
  await until(`past index not built ${second}`, events);
  assert.deepEqual(await namesIn(folder), [keyOf(first)]);
  for (let request = 0; request < 4; request += 1) await client.get(`/v1/listings?snapshot_date=${third}`);
  await eventually("a build", async () => (await namesIn(folder)).length === 2);
  await client.stop();
  assert.deepEqual(await namesIn(folder), [keyOf(first)]);
});

test("a version detaches the index that was least recently used", async (scope) => {
  const names = [first, second, third];
  const settings = await storePastIndexes(scope, lake, names);
  const pastIndexes = await PastIndexes.open({ ...settings, lake, pinned: [], onEvent: () => {} });
  assert.ok(pastIndexes);
  onScopeEnd(scope, () => pastIndexes.stop());
  const { pastIndexesOpen } = bounds;
  onScopeEnd(scope, async () => void Object.assign(bounds, { pastIndexesOpen }));
  Object.assign(bounds, { pastIndexesOpen: 2 });
  const version = await openVersion(scope, lake, { pastIndexes });
  const isAttached = (name: string) => async (): Promise<boolean> => pastIndexes.attachedNames.has(name);
  for (const name of [first, second, first, third]) {
    await answerPath(version, `/v1/listings?snapshot_date=${name}`);
    await eventually(`an index of ${name}`, isAttached(name));
  }
  assert.deepEqual([...pastIndexes.attachedNames], [first, third]);
});

test("the fingerprint of dimensions covers the rows up to the greatest keys, and no later ones", async (scope) => {
  const database = await DuckDatabase.open();
  onScopeEnd(scope, async () => database.close());
  await database.using(async (session) => {
    for (const name of ["build", "dealer", "token"])
      await session.run(
        sql`CREATE TABLE ${ident(`${name}s`)} AS SELECT n AS ${ident(`${name}_key`)}, 'x' AS value FROM range(1, 6) AS t(n)`,
      );
    const fingerprint = (): Promise<string> => fingerprintUpTo(session, { builds: 3, dealers: 4, tokens: 5 });
    const before = await fingerprint();
    const set = (name: string, key: number, value: string): Promise<void> =>
      session.run(sql`UPDATE ${ident(`${name}s`)} SET value = ${value} WHERE ${ident(`${name}_key`)} = ${key}`);
    const change = async (name: string, key: number): Promise<boolean> => {
      await set(name, key, "y");
      const isChanged = (await fingerprint()) !== before;
      await set(name, key, "x");
      return isChanged;
    };
    assert.deepEqual([await change("build", 3), await change("build", 4)], [true, false]);
    assert.deepEqual([await change("dealer", 4), await change("dealer", 5)], [true, false]);
    assert.deepEqual([await change("token", 1), await change("token", 5)], [true, true]);
  });
});

test("a build ends with a killed service, and the next service removes what is left of it", {
  skip: skipInShortRun || (process.platform !== "linux" && "needs /proc"),
}, async (scope) => {
  const folder = join(await temporaryFolder(scope), "past-indexes");
  const settings = ["--past-index-dir", folder, "--past-index-days", first];
  const serving = await startServing(scope, ["serve", "--port", "0", "--lake", lake, ...settings]);
  const isBuilding = async (): Promise<boolean> =>
    (await namesIn(folder)).some((name) => existsSync(join(folder, name, "used")));
  await eventually("a build", isBuilding, builtWithinMs);
  serving.kill();
  await eventually("the end of the build", async () => !isNamedByProcess(folder), builtWithinMs);
  const [left = ""] = await namesIn(folder);
  assert.match(left, /\.new$/);
  await startIndexing(scope, { folder });
  assert.deepEqual(await namesIn(folder), [left], "it may be the build of another service");
  await utimes(join(folder, left, "used"), 1, 1);
  await startIndexing(scope, { folder });
  assert.deepEqual(await namesIn(folder), []);
});

/** Returns whether an argument of a running process names a folder. */
function isNamedByProcess(folder: string): boolean {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .some((pid) => {
      try {
        return readFileSync(join("/proc", pid, "cmdline"), "utf8").includes(folder);
      } catch {
        return false;
      }
    });
}

test("without a folder that can be written, past days are read from Parquet", async (scope) => {
  const file = join(await temporaryFolder(scope), "file");
  await writeFile(file, "");
  const { client, events } = await startIndexing(scope, { folder: join(file, "past-indexes"), pinned: [first] });
  for (let request = 0; request < 3; request += 1) await assertExact(client, first);
  assert.deepEqual(events(), ["past indexes off; past days are read from Parquet"]);
  assert.equal(await metricOf(client, "es"), 0);
});
