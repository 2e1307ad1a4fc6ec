/** Pushes to a folder, to a bucket of a test server, and, in the full run, to one of moto's server. */
import assert from "node:assert/strict";
import { createHash, randomBytes } from "node:crypto";
import { appendFile, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import { type AddressInfo, createServer as createPlainServer, type Server as PlainServer } from "node:net";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { test } from "node:test";
import { sha256Of } from "../../src/base/files.ts";
import { Bucket, uploadPartBytes } from "../../src/connectors/bucket.ts";
import { filesOf, manifestText } from "../../src/lake/manifest.ts";
import { type BucketRetention, Push, type PushResult } from "../../src/replication/push.ts";
import { carquet, carquetHere, failureOf } from "../support/command-line.ts";
import { changeByte } from "../support/lakes/contents.ts";
import { createLake, samplePath, temporaryFolder } from "../support/lakes/lakes.ts";
import { createTestFollower } from "../support/replication/followers.ts";
import { skipWithoutMoto, startMotoServer } from "../support/replication/moto-server.ts";
import {
  assertEqualLakes,
  copyOf,
  manifestOf,
  newLake,
  rewriteManifest,
} from "../support/replication/published-lakes.ts";
import { startS3Server } from "../support/replication/s3-server.ts";
import { fileScope } from "../support/scope.ts";

const first = "2026-11-18.1";
const second = "2026-11-19.1";
const { lake: older } = await createLake(fileScope, samplePath, { day: "2026-11-18" });
const { lake: newer } = await createLake(fileScope);

interface StoreSettings {
  readonly env: Readonly<Record<string, string>>;
}

/** Returns a function that runs a command with the settings of a store, and parses its output. */
const runWith =
  ({ env }: StoreSettings) =>
  async (...args: readonly string[]) => {
    const result = await carquetHere([...args, "--json"], { env });
    return { ...result, answer: result.code === 0 ? JSON.parse(result.out) : undefined };
  };

test("carquet push copies a lake to a folder, and skips existing files", async (scope) => {
  const folder = await copyOf(scope, older);
  const pushed = await carquet(["push", folder, "--lake", newer, "--json"]);
  assert.equal(pushed.code, 0, pushed.err);
  await assertEqualLakes(folder, newer);
  const again = await carquetHere(["push", folder, "--lake", newer, "--json"]);
  assert.deepEqual(JSON.parse(again.out), { version: second, files: 0, bytes: 0 });
  const refused = await carquetHere(["push", folder, "--lake", older, "--json"]);
  assert.match(
    refused.err,
    /CURRENT: version 2026-11-19\.1 is newer than 2026-11-18\.1 of .*: expected an older one\./,
  );
  assert.match(
    (await carquetHere(["push", "https://host/", "--lake", newer])).err,
    /Invalid target https:.*: expected a folder or s3:/,
  );
});

test("carquet push uploads to a bucket, CURRENT last, and carquet follow reads it", async (scope) => {
  const server = await startS3Server(scope);
  const { env, objects, requests } = server;
  const source = await copyOf(scope, newer);
  const run = runWith(server);
  const location = "s3://cars/market/us";
  const listed =
    Object.values((await manifestOf(source)).tables).flat().length + (await manifestOf(source)).serving.length;
  const { answer, err } = await run("push", location, "--lake", source);
  assert.equal(answer?.files, listed, err);
  const uploads = requests.filter((line) => line.startsWith("PUT")).map((line) => line.slice("PUT market/us/".length));
  assert.deepEqual(uploads.slice(-3), [`versions/${second}.sql`, `versions/${second}.json`, "CURRENT"]);
  const lake = await newLake(scope);
  assert.equal((await run("follow", location, "--once", "--lake", lake)).answer?.version, second);
  await assertEqualLakes(lake, source);
  // An object that another program has shortened is uploaded again, all others are left out.
  const key = [...objects.keys()].find((name) => name.includes("/feeds/")) ?? "";
  objects.set(key, { bytes: Buffer.from("x"), sha256: undefined, headers: {}, modifiedMs: 0 });
  assert.equal((await run("push", location, "--lake", source)).answer?.files, 1);
  // A damaged local file is not uploaded.
  const [damaged] = (await manifestOf(source)).tables.tokens;
  await changeByte(join(source, damaged?.path ?? ""), 10);
  objects.delete(`market/us/${damaged?.path}`);
  assert.match(
    (await run("push", location, "--lake", source)).err,
    /tokens\/.*: invalid content: expected SHA-256 \w+, as the manifest lists, found/,
  );
  await appendFile(join(source, damaged?.path ?? ""), "x");
  assert.match(
    (await run("push", location, "--lake", source)).err,
    /tokens\/.*: invalid size: expected \d+ bytes, found/,
  );
  const refused = await carquet(["follow", location, "--once", "--lake", lake], {
    env: { ...env, AWS_SECRET_ACCESS_KEY: "wrong" },
  });
  assert.match(failureOf(refused.err), /^s3:\/\/cars\/market\/us\/CURRENT: SignatureDoesNotMatch/);
});

/** Opens the bucket of a store in this process. */
function openStore({ env }: StoreSettings, bucket = "cars"): Bucket {
  Object.assign(process.env, env);
  return new Bucket({ location: `s3://${bucket}/market`, endpoint: env.CARQUET_S3_ENDPOINT }, 5_000);
}

/** Pushes a lake; with a retention, removes versions. */
const pushTo = async (store: Bucket, lake: string, retention?: BucketRetention): Promise<PushResult> =>
  new Push(lake, await manifestOf(lake), store, {
    transfers: 4,
    stallMs: 5_000,
    retryMs: 10,
    retention,
    onStep: () => undefined,
  }).push();

/** Keeps the newest version only. */
const newest: BucketRetention = { versionDays: 1, graceMs: 0 };

test("a store that drips its answers ends each request, and the process goes on", async (scope) => {
  const server = createServer((_request, response) => {
    // No connection is idle for as long as one may be.
    const drip = setInterval(() => void response.write(" "), 20);
    response.once("close", () => clearInterval(drip));
  });
  const headless = createPlainServer((socket) => {
    const drip = setInterval(() => void socket.write("a"), 20);
    socket.on("error", () => undefined).once("close", () => clearInterval(drip));
    socket.write("HTTP/1.1 200 OK\r\nX-A: ");
  });
  for (const one of [server, headless]) {
    await new Promise<void>((resolve) => void one.listen(0, "127.0.0.1", resolve));
    scope.after(() => void one.close());
  }
  const file = { path: "a.parquet", bytes: 4, sha256: createHash("sha256").update("cars").digest("hex") };
  const path = join(await temporaryFolder(scope), "a.parquet");
  await writeFile(path, "cars");
  const requestsAt = (listening: PlainServer): readonly Promise<unknown>[] => {
    const endpoint = `http://127.0.0.1:${(listening.address() as AddressInfo).port}`;
    const credentials = { accessKeyId: "a", secretAccessKey: "b" };
    const store = new Bucket({ location: "s3://cars/market", endpoint }, 100, credentials);
    return [
      ...[store.objects(""), store.remove("a"), store.writeText("CURRENT", "a"), store.abortUploads(() => true, 0)],
      // A response to HEAD has no body.
      ...(listening === server ? [] : [store.has(file), store.upload(file, path, () => undefined)]),
    ];
  };
  const message = /^s3:\/\/cars\/market.*: no answer: expected one within 1 seconds\.$/;
  const requests = [server, headless].flatMap(requestsAt);
  await Promise.all(requests.map((request) => assert.rejects(request, { name: "TransferFault", message })));
});

test("an object that is shorter than what has come of it, or another one, is read from its start", async (scope) => {
  const server = await startS3Server(scope);
  const store = openStore(server);
  await store.writeText("a.parquet", "cars");
  const readFrom = async (offset: number, tag?: string) => {
    const opened = await store.read("a.parquet", { offset, tag }, new AbortController().signal);
    return typeof opened === "object" ? [opened.offset, opened.bytes, await text(opened.content)] : opened;
  };
  assert.deepEqual(await readFrom(3), [3, 4, "s"]);
  assert.deepEqual(await readFrom(4), [0, 4, "cars"]);
  assert.deepEqual(await readFrom(1, '"another"'), [0, 4, "cars"]);
});

test("a large file is uploaded in parts, whole or not at all", async (scope) => {
  const server = await startS3Server(scope);
  const { objects, uploads, requests } = server;
  const store = openStore(server);
  const path = join(await temporaryFolder(scope), "a.parquet");
  await writeFile(path, randomBytes(uploadPartBytes + 1000));
  const file = { path: "a.parquet", bytes: uploadPartBytes + 1000, sha256: await sha256Of(path) };
  const sent: number[] = [];
  await store.upload(file, path, (bytes) => sent.push(bytes));
  assert.deepEqual(sent, [uploadPartBytes, file.bytes]);
  assert.equal(requests.filter((line) => line.startsWith("PUT")).length, 2);
  assert.equal(objects.get("market/a.parquet")?.bytes.length, file.bytes);
  assert.deepEqual([await store.has(file), await store.has({ ...file, sha256: "0".repeat(64) })], [true, false]);
  objects.clear();
  await changeByte(path, 10);
  await assert.rejects(
    store.upload(file, path, () => undefined),
    { name: "UserError", message: /a\.parquet: invalid content: expected SHA-256 \w+, as the manifest lists, found/ },
  );
  assert.deepEqual([objects.size, uploads.size], [0, 0]);
});

test("a push with --remove leaves the files of kept versions, and foreign objects", async (scope) => {
  const server = await startS3Server(scope);
  const { objects, uploads } = server;
  const store = openStore(server);
  assert.equal((await pushTo(store, older)).version, first);
  const others = ["notes.txt", "past_listings/ended_month=2026-10/2026-11-17.1.parquet", "versions/x.json"];
  const other = { bytes: Buffer.from("other"), sha256: undefined, headers: {}, modifiedMs: 0 };
  for (const path of others) objects.set(`market/${path}`, other);
  // The day before the published one is the first that is kept.
  assert.equal((await pushTo(store, newer, { versionDays: 2, graceMs: 0 })).removed, 0);
  assert.ok(objects.has(`market/versions/${first}.json`));
  const listed = filesOf(await manifestOf(newer)).map(({ path }) => path);
  for (const [id, age, path] of [
    ["old", 2, listed[0]],
    ["new", 0, listed[0]],
    ["foreign", 2, "notes.txt"],
  ] as const)
    uploads.set(id, {
      key: `market/${path}`,
      parts: new Map(),
      headers: {},
      startedMs: Date.now() - age * 86_400_000,
    });
  // It was published long ago, and replaced just now.
  const replaced = objects.get(`market/versions/${first}.json`) ?? assert.fail("no manifest");
  objects.set(`market/versions/${first}.json`, { ...replaced, modifiedMs: replaced.modifiedMs - 86_400_000 });
  const within = await pushTo(store, newer, { versionDays: 1, graceMs: 3_600_000 });
  assert.deepEqual(
    [within, [...uploads.keys()]],
    [{ version: second, files: 0, bytes: 0, removed: 0 }, ["new", "foreign"]],
  );
  const manifests = server.requests.filter((line) => line === `PUT market/versions/${second}.json`);
  assert.equal(manifests.length, 1, "the age of a version is that of its manifest");
  const args = ["--remove", "--versions", "0", "--grace", "0"];
  const { answer, err } = await runWith(server)("push", "s3://cars/market", "--lake", newer, ...args);
  assert.equal(answer?.removed, 1, err);
  const expected = [...listed, ...others, "CURRENT", `versions/${second}.json`, `versions/${second}.sql`];
  assert.deepEqual([...objects.keys()].sort(), expected.map((path) => `market/${path}`).sort());
});

test("a push with --remove reads no more manifests at once than it transfers files", async (scope) => {
  const server = await startS3Server(scope);
  const { objects } = server;
  const store = openStore(server);
  await pushTo(store, newer);
  const manifest = await manifestOf(older);
  const content = objects.get(`market/versions/${second}.json`) ?? assert.fail("no manifest");
  for (let sequence = 1; sequence <= 20; sequence += 1) {
    const version = `${manifest.as_of}.${sequence}`;
    const bytes = Buffer.from(manifestText({ ...manifest, version, sequence }));
    objects.set(`market/versions/${version}.json`, { ...content, bytes, modifiedMs: sequence });
  }
  let reading = 0;
  let readingMax = 0;
  const { read } = store;
  const counted: typeof read = async (...from) => {
    reading += 1;
    readingMax = Math.max(readingMax, reading);
    const file = await read(...from);
    const onEnd = (): void => {
      reading -= 1;
    };
    return typeof file !== "object" ? file : { ...file, content: notifyAtEnd(file.content, onEnd) };
  };
  Object.assign(store, { read: counted });
  assert.equal((await pushTo(store, newer, newest)).removed, 20);
  assert.deepEqual([reading, readingMax], [0, 4]);
});

/** Yields some content, then calls `onEnd`. */
async function* notifyAtEnd(content: AsyncIterable<Uint8Array>, onEnd: () => void): AsyncGenerator<Uint8Array> {
  yield* content;
  onEnd();
}

test("nothing is removed from a bucket with a manifest that cannot be read or names other files", async (scope) => {
  const server = await startS3Server(scope);
  const store = openStore(server);
  await pushTo(store, older);
  const key = `market/versions/${first}.json`;
  const stored = server.objects.get(key) ?? assert.fail("no manifest");
  const { sha256: _, ...manifest } = JSON.parse(stored.bytes.toString());
  const builds = [{ ...manifest.tables.builds[0], path: "../notes.txt" }];
  for (const [content, message] of [
    ["{}", /must have required property/],
    [manifestText({ ...manifest, tables: { ...manifest.tables, builds } }), /invalid path "\.\.\/notes\.txt"/],
  ] as const) {
    server.objects.set("market/CURRENT", { ...stored, bytes: Buffer.from("2026-11-17.1") });
    server.objects.set(key, { ...stored, bytes: Buffer.from(content) });
    await assert.rejects(pushTo(store, newer, newest), message);
    assert.ok(!server.requests.some((line) => line.startsWith("DELETE")));
  }
  // It is listed, and gone when it is read.
  const { read } = store;
  const readExisting: typeof read = async (path, ...rest) =>
    path === `versions/${first}.json` ? undefined : read(path, ...rest);
  Object.assign(store, { read: readExisting });
  await assert.rejects(pushTo(store, newer, newest), /2026-11-18\.1\.json: not found: expected the manifest\. Nothing/);
  assert.ok(!server.requests.some((line) => line.startsWith("DELETE")));
});

test("a push does not replace a newer version, another lake, or a version that another push publishes meanwhile", async (scope) => {
  const server = await startS3Server(scope);
  const { objects } = server;
  const store = openStore(server);
  await pushTo(store, newer);
  const before = new Map(objects);
  await assert.rejects(
    pushTo(store, older),
    /CURRENT: version 2026-11-19\.1 is newer than 2026-11-18\.1 of .*: expected an older one\./,
  );
  const other = await copyOf(scope, newer);
  const { tables } = await manifestOf(other);
  const tokens = tables.tokens.map((file) => ({ ...file, sha256: "0".repeat(64) }));
  await rewriteManifest(other, { tables: { ...tables, tokens } });
  await assert.rejects(pushTo(store, other), /tokens\/.* has SHA-256 .*Is it another lake\?/);
  assert.deepEqual(objects, before);
  objects.clear();
  await pushTo(store, older);
  const current = objects.get("market/CURRENT") ?? assert.fail("no CURRENT");
  server.refusalOf = (method, key) => {
    if (method === "PUT" && key.endsWith(`${second}.json`))
      objects.set("market/CURRENT", { ...current, bytes: Buffer.from("2026-11-18.2") });
    return undefined;
  };
  await assert.rejects(pushTo(store, newer), /CURRENT: changed during the push: expected one push at a time\./);
  assert.equal(objects.get("market/CURRENT")?.bytes.toString(), "2026-11-18.2");
  // The answer to the attempt that published the version is lost.
  let isLost = false;
  server.refusalOf = (method, key) => {
    if (isLost || method !== "PUT" || key !== "market/CURRENT") return undefined;
    isLost = true;
    objects.set(key, { ...current, bytes: Buffer.from(second) });
    return { status: 503, code: "SlowDown" };
  };
  assert.equal((await pushTo(store, newer)).version, second);
});

test("a store's refusals are named, and requests to an overloaded one are retried", async (scope) => {
  const server = await startS3Server(scope);
  const store = openStore(server);
  const none = openStore(server, "none");
  await assert.rejects(pushTo(none, older), /^UserError: s3:\/\/none\/market\/CURRENT: NoSuchBucket: NoSuchBucket$/);
  for (const [status, code] of [
    [403, "AccessDenied"],
    [400, "ExpiredToken"],
    [403, "RequestTimeTooSkewed"],
  ] as const) {
    server.refusalOf = (method) => (method === "PUT" ? { status, code } : undefined);
    await assert.rejects(pushTo(store, older), new RegExp(`^UserError: s3:.*\\.parquet: ${code}: ${code}$`));
  }
  for (const name of [`${first}.sql`, `${first}.json`]) {
    server.refusalOf = (method, key) =>
      method === "PUT" && key.endsWith(name) ? { status: 403, code: "AccessDenied" } : undefined;
    await assert.rejects(pushTo(store, older), new RegExp(`${name}: AccessDenied: AccessDenied$`));
    assert.ok(!server.objects.has("market/CURRENT"), name);
  }
  let refusals = 0;
  server.refusalOf = () => {
    refusals += 1;
    return refusals % 8 === 1 ? { status: 503, code: "SlowDown" } : undefined;
  };
  assert.equal((await pushTo(store, older)).version, first);
  const lost = await copyOf(scope, newer);
  await rm(join(lost, (await manifestOf(lost)).tables.past_listings.at(-1)?.path ?? ""));
  await assert.rejects(pushTo(store, lost), /ENOENT.* Vacuum may have removed version 2026-11-19\.1: push again\.$/);
});

test("an implementation of S3 by others takes pushes, parts, conditions and removals", {
  skip: skipWithoutMoto,
}, async (scope) => {
  const server = await startMotoServer(scope);
  const store = openStore(server);
  const pathsOf = async () => (await store.objects("")).map(({ path }) => path).sort();
  assert.equal((await pushTo(store, older)).version, first);
  assert.equal((await pushTo(store, newer, newest)).removed, 1);
  const listed = filesOf(await manifestOf(newer)).map(({ path }) => path);
  assert.deepEqual(await pathsOf(), [...listed, "CURRENT", `versions/${second}.json`, `versions/${second}.sql`].sort());
  assert.deepEqual(await pushTo(store, newer, newest), { version: second, files: 0, bytes: 0, removed: 0 });
  const lake = await newLake(scope);
  await createTestFollower(store, lake).follow();
  await assertEqualLakes(lake, newer);
  const written = [await store.writeText("CURRENT", "x", null), await store.writeText("CURRENT", "x", '"1"')];
  assert.deepEqual(written, [false, false]);
  const path = join(await temporaryFolder(scope), "a.parquet");
  await writeFile(path, randomBytes(2 * uploadPartBytes + 1000));
  const file = { path: "a.parquet", bytes: 2 * uploadPartBytes + 1000, sha256: await sha256Of(path) };
  await store.upload(file, path, () => undefined);
  assert.deepEqual([await store.has(file), await store.has({ ...file, sha256: "0".repeat(64) })], [true, false]);
  const rest = await store.read("a.parquet", { offset: file.bytes - 10 }, new AbortController().signal);
  assert.ok(typeof rest === "object");
  assert.deepEqual([rest.offset, rest.bytes], [file.bytes - 10, file.bytes]);
  await changeByte(path, 10);
  await assert.rejects(
    store.upload({ ...file, path: "b.parquet" }, path, () => undefined),
    /invalid content/,
  );
  assert.ok(!(await pathsOf()).includes("b.parquet"));
});
