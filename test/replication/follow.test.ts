/** Followers: a lake kept equal to one in a folder, or on a web server that can fail. */
import assert from "node:assert/strict";
import { once } from "node:events";
import { appendFile, cp, mkdir, readdir, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { test } from "node:test";
import type { Connector } from "../../src/connectors/connector.ts";
import { ingestRecordKey, readIngestRecord, writeIngestRecord } from "../../src/lake/ingest-record.ts";
import { currentVersion, filesOf } from "../../src/lake/manifest.ts";
import { withWriter } from "../../src/lake/writer/writer.ts";
import { killFollowers } from "../support/campaigns/follow-kills.ts";
import { Chance } from "../support/chance.ts";
import { carquet, failureOf, spawnCarquet } from "../support/command-line.ts";
import { extentOf, skipInShortRun } from "../support/extent.ts";
import { startService } from "../support/http/service.ts";
import { activeListingsText, lakeFaults, listLakeFiles } from "../support/lakes/contents.ts";
import { createLake, samplePath } from "../support/lakes/lakes.ts";
import { differingFolders } from "../support/lakes/version-folder.ts";
import { createTestFollower, sourceAt } from "../support/replication/followers.ts";
import {
  assertEqualLakes,
  copyOf,
  manifestOf,
  newLake,
  rewriteManifest,
} from "../support/replication/published-lakes.ts";
import { type ServerFault, startStaticServer } from "../support/replication/static-server.ts";
import { fileScope, type Scope } from "../support/scope.ts";

const day = "2026-11-18";
const first = "2026-11-18.1";
const second = "2026-11-19.1";
const { lake: older } = await createLake(fileScope, samplePath, { day });
const { lake: newer } = await createLake(fileScope);

const serverOf = async (scope: Scope, lake: string) => {
  const source = await copyOf(scope, lake);
  return { source, server: await startStaticServer(scope, source) };
};

test("a follower fetches a lake from a web server, then only the additions of a newer version", async (scope) => {
  const { source, server } = await serverOf(scope, older);
  const lake = await newLake(scope);
  const follower = createTestFollower(server.url, lake);
  const { files: all, built } = (await follower.follow()) ?? assert.fail("nothing to do");
  await assertEqualLakes(lake, source);
  assert.equal(built, 0, "serving files of the source are fetched");
  assert.equal(await follower.follow(), undefined);
  await cp(newer, source, { recursive: true, verbatimSymlinks: true });
  server.requests.splice(0);
  const { files, version } = (await follower.follow()) ?? assert.fail("nothing to do");
  await assertEqualLakes(lake, source);
  const fetched = server.requests.map(({ path }) => path);
  assert.deepEqual([version, new Set(fetched).size], [second, fetched.length]);
  const known = new Set(filesOf(await manifestOf(older)).map(({ path }) => path));
  const added = filesOf(await manifestOf(source)).filter(({ path }) => !known.has(path));
  assert.equal(files, added.length);
  assert.ok(all > 0 && fetched.every((path) => !known.has(path)), fetched.join());
  assert.deepEqual((await readdir(join(lake, "versions"))).filter((name) => name.endsWith(".json")).sort(), [
    `${first}.json`,
    `${second}.json`,
  ]);
});

test("a follower builds the serving files that its source lacks, and a service uses them", async (scope) => {
  const source = await copyOf(scope, newer);
  const { serving } = await manifestOf(source);
  // One of another release, whose name a built one must not take.
  await rewriteManifest(source, {
    serving: serving.map((file, index) => (index === 0 ? { ...file, format: "old" } : file)),
  });
  const lake = await newLake(scope);
  const followed = await createTestFollower(source, lake).follow();
  assert.equal(followed?.built, 1);
  await assertEqualLakes(lake, source);
  const service = await startService(scope, lake);
  const { pagination } = await service.getBody("searchListings", "/v1/listings?limit=1");
  assert.ok(pagination.total > 100);
  const served = (await manifestOf(lake)).serving;
  assert.equal(served.length, serving.length);
  // The source cannot restore a built file that is lost.
  const offered = new Set(serving.map(({ path }) => path));
  await rm(join(lake, served.find(({ path }) => !offered.has(path))?.path ?? assert.fail("no built file")));
  assert.equal(await createTestFollower(source, lake).follow(), undefined);
});

test("the record of the last ingest is followed too, and an older one does not replace a newer", async (scope) => {
  const { source, server } = await serverOf(scope, older);
  const lake = await newLake(scope);
  const follower = createTestFollower(server.url, lake);
  const at = "2026-11-18T04:00:00.000Z";
  const later = "2026-11-19T04:00:00.000Z";
  const failed = { at: later, error: "no feed files", waiting: 1, refused: 0 };
  for (const [record, expected] of [
    [undefined, undefined],
    [failed, failed],
    [{ ...failed, at, error: null }, failed],
    [{ ...failed, waiting: 2 }, failed],
  ] as const) {
    if (record !== undefined) await writeIngestRecord(source, record);
    await follower.follow();
    assert.deepEqual(await readIngestRecord(lake), expected);
  }
  for (const bytes of [65_537, 65_536]) {
    const record = { ...failed, at: "2026-11-20T04:00:00.000Z" };
    await writeFile(join(source, ingestRecordKey), JSON.stringify(record).padEnd(bytes));
    await follower.follow();
    assert.deepEqual((await readIngestRecord(lake))?.at, bytes > 65_536 ? later : record.at, `${bytes} bytes`);
  }
  assert.deepEqual(await lakeFaults(lake), []);
});

test("interrupted files are resumed, and requests to failing servers retried", async (scope) => {
  const { source, server } = await serverOf(scope, newer);
  const lake = await newLake(scope);
  const kinds = ["cut", "stall", "overload", "page", "change", "cut without ranges"] as const;
  const failed = new Map<string, (typeof kinds)[number]>();
  const isResumed = (path: string): boolean =>
    server.requests.some((request) => request.path === path && request.range !== undefined);
  server.faultOf = (path) => {
    const before = failed.get(path);
    if (before !== undefined && isResumed(path)) return before === "cut without ranges" ? "no ranges" : undefined;
    // A connection that ends before its first bytes are read leaves nothing to resume: it is cut again, some times, if the file has many bytes.
    if (before !== undefined) {
      const times = server.requests.filter((request) => request.path === path).length;
      return before.startsWith("cut") && times <= 3 && !/\.json$|^CURRENT$/.test(path) ? "cut" : undefined;
    }
    const kind = kinds[failed.size % kinds.length] ?? "cut";
    failed.set(path, kind);
    return kind === "cut without ranges" ? "cut" : kind;
  };
  await createTestFollower(server.url, lake, { transfers: 16, stallMs: 1_000 }).follow();
  await assertEqualLakes(lake, source);
  const parts = server.requests.filter(({ range }) => range !== undefined);
  assert.ok(parts.every(({ range, ifRange }) => range !== "bytes=0-" && ifRange !== undefined));
  for (const { path, status } of parts)
    assert.equal(status, failed.get(path) === "cut without ranges" ? 200 : 206, path);
  // On a busy machine, files of other kinds stall too.
  const resumed = new Set(parts.map(({ path }) => failed.get(path)));
  for (const kind of ["cut", "stall", "cut without ranges"] as const) assert.ok(resumed.has(kind), kind);
});

test("the rest of a file is requested for its strong tag alone: a weak one cannot be compared", async (scope) => {
  const { server } = await serverOf(scope, older);
  const source = sourceAt(server.url);
  const { signal } = new AbortController();
  for (const tag of ['"a"', 'W/"a"', undefined]) {
    const opened = await source.read("CURRENT", { offset: 5, tag }, signal);
    assert.ok(typeof opened === "object");
    for await (const _ of opened.content);
  }
  assert.deepEqual(
    server.requests.map(({ range, ifRange }) => [range, ifRange]),
    [
      ["bytes=5-", '"a"'],
      ["bytes=5-", undefined],
      ["bytes=5-", undefined],
    ],
  );
});

test("an incoming file that is longer than the listed one is fetched from its start", async (scope) => {
  const lake = await copyOf(scope, older);
  const source = await copyOf(scope, newer);
  const [file = assert.fail("no file")] = (await manifestOf(source)).tables.listings;
  const incoming = join(lake, "incoming", file.path);
  await mkdir(dirname(incoming), { recursive: true });
  await writeFile(incoming, Buffer.alloc(file.bytes + 1));
  assert.equal((await createTestFollower(source, lake).follow())?.version, second);
  await assertEqualLakes(lake, source);
});

test("content that stops, and does not end when its request is aborted, is requested again", async (scope) => {
  const source = sourceAt(newer);
  const stopped = new Set<string>();
  const stopping: Connector = {
    ...source,
    read: async (path, from, signal) => {
      const opened = await source.read(path, from, signal);
      if (typeof opened !== "object" || stopped.has(path) || !path.startsWith("files/builds/")) return opened;
      stopped.add(path);
      return { ...opened, content: withoutEnd(opened.content) };
    },
  };
  const lake = await newLake(scope);
  await createTestFollower(stopping, lake, { stallMs: 500, retryMs: 1 }).follow();
  assert.ok(stopped.size > 0);
  await assertEqualLakes(lake, newer);
});

/** Passes content on, and then waits for ever. */
async function* withoutEnd(content: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array, void, undefined> {
  yield* content;
  await new Promise<never>(() => undefined);
}

test("a file that stays wrong or missing is named, and the lake's version stays", async (scope) => {
  const { server } = await serverOf(scope, newer);
  const lake = await copyOf(scope, older);
  const follow = () => createTestFollower(server.url, lake).follow();
  const path = (await manifestOf(newer)).tables.builds.at(-1)?.path ?? "";
  const messages = {
    change:
      /^http:.*builds.*\.parquet: invalid content: expected SHA-256 \w{64}, as the manifest lists, found \w{64}\.$/,
    page: /^http:.*builds.*\.parquet: invalid size: expected \d+ bytes, found 15\.$/,
    missing: /^http:.*builds.*\.parquet: not found: expected the file, as the manifest lists it\.$/,
    overload: /^http:.*builds.*\.parquet: status 503: expected 200\.$/,
  };
  for (const [fault, message] of Object.entries(messages)) {
    server.faultOf = (requested) => (requested === path ? (fault as ServerFault) : undefined);
    await assert.rejects(follow, { name: "UserError", message });
    assert.deepEqual([await currentVersion(lake), await lakeFaults(lake)], [first, []]);
  }
  server.faultOf = () => undefined;
  for (const [text, message] of [
    ["<!doctype html>", /CURRENT: invalid version "<!doctype html>": expected one such as 2026-11-19\.1\./],
    ["../../etc/passwd", /CURRENT: invalid version/],
    ["2027-01-01.1", /2027-01-01\.1\.json: not found: expected the manifest/],
  ] as const) {
    server.texts.set("CURRENT", text);
    await assert.rejects(follow, { name: "UserError", message });
  }
  server.texts.delete("CURRENT");
  const received = await readdir(join(lake, "incoming"), { recursive: true });
  server.requests.splice(0);
  const [tooLong = "", ...kept] = received.filter((file) => file.endsWith(".parquet"));
  await appendFile(join(lake, "incoming", tooLong), "x");
  await follow();
  await assertEqualLakes(lake, newer);
  const requested = server.requests.map((request) => request.path);
  assert.ok(kept.length > 0 && requested.includes(path) && requested.includes(tooLong));
  assert.ok(!requested.some((file) => kept.includes(file)), "files that were received are fetched again");
});

test("a version that is replaced while it is fetched is left, and one that a cache still names is not published again", async (scope) => {
  const { server } = await serverOf(scope, newer);
  const lake = await newLake(scope);
  server.texts.set("CURRENT", first);
  const path = (await manifestOf(older)).tables.absent[0]?.path ?? (await manifestOf(older)).tables.feeds[0]?.path;
  server.faultOf = (requested) => {
    if (requested !== path || !server.texts.delete("CURRENT")) return undefined;
    return "missing";
  };
  const follower = createTestFollower(server.url, lake);
  assert.equal((await follower.follow())?.version, second);
  server.texts.set("CURRENT", first);
  assert.equal(await follower.follow(), undefined);
  assert.equal(await currentVersion(lake), second);
});

test("a follower respects the lake's lock, its retention, and restores a file that is lost", async (scope) => {
  const lake = await copyOf(scope, older);
  const follower = createTestFollower(newer, lake, { versionDays: 0, graceMs: 0 });
  await withWriter(lake, {}, () => assert.rejects(follower.follow(), /is locked by this process/));
  assert.equal((await follower.follow())?.removed, 1);
  assert.deepEqual([await lakeFaults(lake), await activeListingsText(lake)], [[], await activeListingsText(newer)]);
  const listed = filesOf(await manifestOf(newer)).map(({ path }) => path);
  assert.deepEqual((await listLakeFiles(lake)).filter((path) => /parquet|serving/.test(path)).sort(), listed.sort());
  assert.deepEqual((await readdir(join(lake, "versions"))).sort(), [second, `${second}.json`, `${second}.sql`]);
  const [lost] = (await manifestOf(lake)).tables.past_listings;
  await rm(join(lake, lost?.path ?? ""));
  assert.equal((await createTestFollower(newer, lake).follow())?.files, 1);
  assert.deepEqual([await lakeFaults(lake), await differingFolders(lake)], [[], []]);
  // A follower was killed after it had restored the file, and before the open folder was whole.
  await mkdir(join(lake, "incoming"));
  await rm(join(lake, "current", "past_listings"), { recursive: true });
  assert.equal((await createTestFollower(newer, lake).follow())?.files, 0);
  assert.deepEqual([await lakeFaults(lake), await differingFolders(lake)], [[], []]);
});

test("a follower that is killed at any moment leaves a whole version, which the next one completes", {
  skip: skipInShortRun,
}, async (scope) => {
  const kills = extentOf(2, 60);
  assert.equal((await killFollowers(scope, kills, new Chance(11))).kills, kills);
});

test("a first follow that was killed before CURRENT is completed; a lake of several days that lost CURRENT is kept", async (scope) => {
  const lake = await copyOf(scope, newer);
  await rewriteManifest(lake, { previous: null });
  for (const path of ["CURRENT", "current", `versions/${first}.json`]) await rm(join(lake, path));
  const follow = () => createTestFollower(newer, lake).follow();
  await assert.rejects(follow, /CURRENT is missing/);
  await mkdir(join(lake, "incoming"));
  assert.equal((await follow())?.version, second);
  await assertEqualLakes(lake, newer);
});

test("carquet follow publishes new versions until it is stopped, and survives failures of its source", async (scope) => {
  const { source, server } = await serverOf(scope, older);
  const lake = await newLake(scope);
  const child = spawnCarquet(
    ["follow", server.url, "--lake", lake, "--interval", "0.05", "--json", "--threads", "1"],
    {},
  );
  const ended = once(child, "exit");
  assert.ok(child.stdout !== null && child.stderr !== null);
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const errors = createInterface({ input: child.stderr })[Symbol.asyncIterator]();
  const nextVersion = async (): Promise<string> => JSON.parse((await lines.next()).value ?? "{}").version;
  assert.equal(await nextVersion(), first);
  server.texts.set("CURRENT", "2027-01-01.1");
  for (;;) if (/2027-01-01\.1\.json: not found.*"run failed"/.test((await errors.next()).value ?? assert.fail())) break;
  server.texts.delete("CURRENT");
  // A failure of the system, which no message of a command names.
  await writeFile(join(lake, "incoming"), "");
  await cp(newer, source, { recursive: true, verbatimSymlinks: true });
  for (;;) if (/incoming.*"run failed"/.test((await errors.next()).value ?? assert.fail())) break;
  await rm(join(lake, "incoming"));
  assert.equal(await nextVersion(), second);
  child.kill("SIGTERM");
  assert.deepEqual(await ended, [0, null]);
  const failed = await carquet(["follow", `${server.url}/none`, "--once", "--lake", lake]);
  assert.equal(failed.code, 1);
  assert.match(
    failureOf(failed.err),
    /^http:.*\/none\/CURRENT: not found: expected the name of the published version\.$/,
  );
});
