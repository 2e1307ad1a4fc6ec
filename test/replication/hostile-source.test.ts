/** Sources that are broken or hostile: a follower takes content from them, but neither paths, sizes, nor an order of versions. */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { cp, mkdir, rename, rm, symlink, writeFile } from "node:fs/promises";
import type { RequestListener } from "node:http";
import { createServer } from "node:https";
import { join } from "node:path";
import { test } from "node:test";
import { promisify } from "node:util";
import { replaceFile } from "../../src/base/files.ts";
import { TransferFault } from "../../src/connectors/connector.ts";
import { repeat } from "../../src/connectors/transfer.ts";
import { currentVersion, type LakeFile, type Manifest, manifestKey, manifestPath } from "../../src/lake/manifest.ts";
import { carquet, carquetHere } from "../support/command-line.ts";
import { lakeFaults } from "../support/lakes/contents.ts";
import { createLake, samplePath, temporaryFolder } from "../support/lakes/lakes.ts";
import { createTestFollower, sourceAt } from "../support/replication/followers.ts";
import {
  assertEqualLakes,
  copyOf,
  manifestOf,
  newLake,
  rewriteManifest,
} from "../support/replication/published-lakes.ts";
import { startStaticServer } from "../support/replication/static-server.ts";
import { fileScope, onScopeEnd, type Scope } from "../support/scope.ts";

const first = "2026-11-18.1";
const second = "2026-11-19.1";
const { lake: older } = await createLake(fileScope, samplePath, { day: "2026-11-18" });
const { lake: newer } = await createLake(fileScope);

/** Rewrites the files of the published version at a source. */
async function rewriteFiles(
  source: string,
  change: (files: readonly LakeFile[]) => readonly LakeFile[],
): Promise<void> {
  const { tables } = await manifestOf(newer);
  await rewriteManifest(source, { tables: { ...tables, builds: change(tables.builds) } });
}

test("a manifest names only files of its tables, each once, and its own day", async (scope) => {
  const source = await copyOf(scope, newer);
  const lake = await copyOf(scope, older);
  const follow = () => createTestFollower(source, lake).follow();
  const paths = [
    "../2026-11-18.1.parquet",
    "files/builds/../2026-11-18.1.parquet",
    "files/builds/2026-11-18.1.parquet.new",
    "files/builds/..\\..\\2026-11-18.1.parquet",
    "files/builds/\u0000/2026-11-18.1.parquet",
    "files/builds/*/2026-11-18.1.parquet",
    "iceberg/builds/metadata/v1.metadata.json",
    `builds/${"x".repeat(100_000)}/2026-11-18.1.parquet`,
    "files/past_listings/ended_month=2026-11/2026-11-18.1.parquet",
    `versions/${first}.json`,
    "/etc/passwd",
    "writer.lock",
    "CURRENT.new",
    "CURRENT",
  ];
  for (const path of paths) {
    await rewriteFiles(source, (files) => files.map((file) => ({ ...file, path })));
    await assert.rejects(follow, ({ name, message }: Error) => {
      assert.match(message, /invalid path ".*": expected a file of a lake\.$/);
      return name === "UserError" && message.length < 1000 && !message.includes("\u0000");
    });
  }
  await rewriteFiles(source, (files) => [...files, ...files]);
  await assert.rejects(follow, /the path "files\/builds\/.*" is listed twice: expected each file once\./);
  const listed = (await manifestOf(lake)).tables.builds[0]?.path ?? "";
  await rewriteFiles(source, (files) =>
    files.slice(0, 1).map((file) => ({ ...file, path: listed, sha256: "0".repeat(64) })),
  );
  await assert.rejects(follow, /has SHA-256 0+: expected \w+, as in .*\. Is it another lake\?/);
  const same = await copyOf(scope, older);
  await rewriteFiles(same, (files) => files.slice(1));
  await assert.rejects(
    createTestFollower(same, lake).follow(),
    /lists other files than .* in the same version\. Is it another lake\?/,
  );
  await rewriteFiles(source, (files) => files);
  for (const changes of [{ as_of: "9999-12-31" }, { sequence: 7 }] satisfies Partial<Manifest>[]) {
    await rewriteManifest(source, changes);
    await assert.rejects(follow, /invalid as_of .* and sequence \d: expected those of version 2026-11-19\.1\./);
  }
  assert.deepEqual([await currentVersion(lake), await lakeFaults(lake)], [first, []]);
});

test("a file larger than it says, or than the disk, ends with a message", async (scope) => {
  const source = await copyOf(scope, newer);
  const lake = await copyOf(scope, older);
  const follow = () => createTestFollower(source, lake).follow();
  await rewriteFiles(source, (files) => files.map((file) => ({ ...file, bytes: 10 })));
  await assert.rejects(follow, /builds.*: invalid size: expected 10 bytes, found \d+\./);
  await rewriteFiles(source, (files) => files.map((file) => ({ ...file, bytes: 2 ** 53 })));
  await assert.rejects(follow, /MiB are free: expected \d+\.\d MiB for the missing files\./);
  assert.deepEqual([await currentVersion(lake), await lakeFaults(lake)], [first, []]);
});

test("bodies without an end, without progress or beyond all bounds fail", async (scope) => {
  const { answers, url } = await startStaticServer(scope, newer);
  const follow = async (stallMs = 10_000) =>
    createTestFollower(url, await newLake(scope), { stallMs, retryMs: 1 }).follow();
  const block = Buffer.alloc(1 << 16, "x");
  answers.set("CURRENT", (_, response) => {
    const write = (): void => void (response.destroyed || response.write(block, () => setImmediate(write)));
    write();
  });
  await assert.rejects(follow, /CURRENT: too large: expected at most 1024 bytes\./);
  answers.set("CURRENT", (_, response) => {
    const timer = setInterval(() => response.write("2"), 20);
    response.on("close", () => clearInterval(timer));
  });
  await assert.rejects(follow(100), /CURRENT: stalled: expected more data within 0\.1 seconds\./);
  answers.set("CURRENT", (_, response) => response.writeHead(416).end());
  await assert.rejects(follow, /CURRENT: status 416: expected 200\./);
  answers.delete("CURRENT");
  const { version, tables } = await manifestOf(newer);
  const manifest = readFileSync(manifestPath(newer, version), "utf8");
  answers.set(manifestKey(version), (_, response) => response.end(manifest.padEnd(16 * 2 ** 20 + 1)));
  await assert.rejects(follow(), /\.json: too large: expected at most 16777216 bytes\./);
  answers.set(manifestKey(version), (_, response) => response.end(manifest.padEnd(16 * 2 ** 20)));
  await follow();
  answers.delete(manifestKey(version));
  const [path] = tables.builds.map((file) => file.path);
  answers.set(path ?? "", (request, response) => {
    const start = Number(/bytes=(\d+)-/.exec(request.headers.range ?? "")?.[1] ?? 0);
    const whole = readFileSync(join(newer, path ?? ""));
    const content = whole.subarray(start);
    const range = { "Content-Range": `bytes ${start}-${whole.length - 1}/${whole.length}` };
    response.writeHead(start === 0 ? 200 : 206, { ...range, "Content-Length": content.length });
    let sent = 0;
    const timer = setInterval(() => {
      response.write(content.subarray(sent, sent + 1));
      sent += 1;
    }, 20);
    response.on("close", () => clearInterval(timer));
  });
  await assert.rejects(follow(500), /builds.*: stalled: expected more data within 0\.5 seconds\./);
});

test("a file that begins again and again ends the transfer, however much of it comes each time", async (scope) => {
  const { answers, url } = await startStaticServer(scope, newer);
  const [path = ""] = (await manifestOf(newer)).tables.builds.map((file) => file.path);
  const whole = readFileSync(join(newer, path));
  let requests = 0;
  answers.set(path, (_, response) => {
    requests += 1;
    response.writeHead(200, { "Content-Length": whole.length });
    // At last it comes whole, so that a transfer without end would succeed.
    if (requests > 40) return void response.end(whole);
    response.write(whole.subarray(0, requests % 2 === 0 ? 10 : 3000), () => setTimeout(() => response.destroy(), 5));
  });
  const follow = createTestFollower(url, await newLake(scope), { stallMs: 5000, retryMs: 1 }).follow();
  await assert.rejects(follow, /builds/);
});

test("attempts fail after five in a row without progress, the last one with progress included", async () => {
  let attempts = 0;
  const attempt = async (): Promise<never> => {
    attempts += 1;
    throw new TransferFault("cut off");
  };
  const reached = async (): Promise<number> => (attempts < 3 ? 1023 : 2047);
  await assert.rejects(repeat(attempt, { retryMs: 0 }, reached), { name: "UserError", message: "cut off" });
  assert.equal(attempts, 7);
});

test("content that is not a manifest is refused: nested arrays, other types, another format", async (scope) => {
  const source = await copyOf(scope, newer);
  const lake = await newLake(scope);
  const manifest = { ...(await manifestOf(source)), sha256: "0".repeat(64) };
  const { tables } = manifest;
  const texts = [
    ["[".repeat(1 << 20), /expected a manifest in JSON/],
    [`${"[".repeat(1 << 20)}${"]".repeat(1 << 20)}`, /must be object/],
    ["null", /must be object/],
    [
      JSON.stringify({ ...manifest, tables: { ...tables, builds: Array(1 << 20).fill({}) } }),
      /tables\.builds\.0 must have required/,
    ],
    [JSON.stringify({ ...manifest, format: 4 }), /unsupported lake format 4: expected 1\./],
    [JSON.stringify({ ...manifest, tables: { ...tables, builds: {} } }), /tables\.builds must be array/],
  ] as const;
  for (const [text, message] of texts) {
    await replaceFile(manifestPath(source, second), text);
    await assert.rejects(createTestFollower(source, lake).follow(), (thrown: Error) => {
      assert.match(thrown.message, message);
      return thrown.name === "UserError" && thrown.message.length < 1000;
    });
  }
});

/** Starts a server over TLS; returns its URL. */
async function startTlsServer(scope: Scope, answer: RequestListener): Promise<string> {
  const folder = await temporaryFolder(scope);
  const key = join(folder, "key.pem");
  const cert = join(folder, "cert.pem");
  await promisify(execFile)("openssl", [
    ...["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2"],
    ...["-subj", "/CN=localhost", "-keyout", key, "-out", cert],
  ]);
  const server = createServer({ key: readFileSync(key), cert: readFileSync(cert) }, answer);
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  onScopeEnd(scope, async () => {
    server.closeAllConnections();
    await new Promise((closed) => server.close(closed));
  });
  const address = server.address();
  return `https://127.0.0.1:${typeof address === "object" ? address?.port : ""}`;
}

test("redirects are followed, without credentials to another server and never from https", async (scope) => {
  const files = await startStaticServer(scope, newer);
  const sent: unknown[] = [];
  const { answers, url } = await startStaticServer(scope, newer);
  const redirect = (path: string, location: string): void =>
    void answers.set(path, ({ headers, url: target }, response) => {
      sent.push([headers.authorization, target]);
      response.writeHead(302, { Location: location }).end();
    });
  const secret = `Basic ${Buffer.from("reader:pass%word").toString("base64")}`;
  files.answers.set("CURRENT", ({ headers, url: target }, response) => {
    sent.push([headers.authorization, target]);
    response.end(second);
  });
  redirect("CURRENT", "/moved?sig=1");
  redirect("moved", `${files.url}/CURRENT`);
  const location = `${url.replace("//", "//reader:pass%25word@")}/?sas=secret`;
  await createTestFollower(location, await newLake(scope)).follow();
  assert.deepEqual(sent, [
    [secret, "/CURRENT?sas=secret"],
    [secret, "/moved?sig=1"],
    [undefined, "/CURRENT"],
  ]);
  const follow = async (at: string) => createTestFollower(at, await newLake(scope)).follow();
  redirect("CURRENT", "/CURRENT");
  await assert.rejects(follow(url), /CURRENT: too many redirects: expected at most 5\.$/);
  redirect("CURRENT", "file:///etc/passwd");
  await assert.rejects(follow(url), /CURRENT: redirects to file:\/\/: expected an https:\/\/ URL\.$/);
  const tls = await startTlsServer(scope, (_, response) =>
    response.writeHead(302, { Location: `${files.url}/CURRENT?secret` }).end(),
  );
  process.env.NODE_TLS_REJECT_UNAUTHORIZED = "0";
  onScopeEnd(scope, async () => void Reflect.deleteProperty(process.env, "NODE_TLS_REJECT_UNAUTHORIZED"));
  await assert.rejects(follow(tls), /CURRENT: redirects to http:\/\/127\.0\.0\.1:\d+: expected an https:\/\/ URL\.$/);
});

test("a folder's links that leave it, and special files, are refused", async (scope) => {
  const source = await copyOf(scope, newer);
  const follow = async () => createTestFollower(source, await newLake(scope)).follow();
  const path = join(source, (await manifestOf(source)).tables.builds[0]?.path ?? "");
  const elsewhere = join(await temporaryFolder(scope), "builds.parquet");
  await rename(path, elsewhere);
  await symlink(elsewhere, path);
  await assert.rejects(follow, /builds.*: links to .*builds\.parquet: expected a file in /);
  await rm(path);
  await promisify(execFile)("mkfifo", [path]);
  await assert.rejects(follow, /builds.*: not a regular file: expected one\./);
  await rm(path);
  await cp(elsewhere, `${path}.moved`);
  await symlink(`${path}.moved`, path);
  await follow();
});

test("a source that names an older version than the lake's does not turn it back", async (scope) => {
  const { url, texts } = await startStaticServer(scope, newer);
  const lake = await newLake(scope);
  const follower = () => createTestFollower(url, lake);
  await follower().follow();
  await rm(manifestPath(lake, first), { force: true });
  for (const version of [first, second, first]) {
    texts.set("CURRENT", version);
    assert.equal(await follower().follow(), undefined);
    assert.equal(await currentVersion(lake), second);
  }
});

test("of two followers of one lake, the later one with an older version publishes nothing", async (scope) => {
  const lake = await newLake(scope);
  const slow = sourceAt(older);
  const follower = createTestFollower(
    {
      ...slow,
      read: async (path, from, signal) => {
        if (path.startsWith("versions/")) await createTestFollower(newer, lake).follow();
        return slow.read(path, from, signal);
      },
    },
    lake,
    { stallMs: 30_000 },
  );
  assert.equal(await follower.follow(), undefined);
  await assertEqualLakes(lake, newer);
});

test("a folder of other files does not become a lake", async (scope) => {
  const folder = await newLake(scope);
  await mkdir(join(folder, "incoming"), { recursive: true });
  await writeFile(join(folder, "incoming/feed.csv"), "vin");
  await assert.rejects(
    createTestFollower(newer, folder).follow(),
    /not a lake, because it has incoming: expected an empty folder or a lake\./,
  );
  assert.equal(readFileSync(join(folder, "incoming/feed.csv"), "utf8"), "vin");
  await rm(join(folder, "incoming"), { recursive: true });
  await mkdir(join(folder, "lost+found"));
  assert.equal((await createTestFollower(newer, folder).follow())?.version, second);
});

test("locations with secrets are given in the environment, and no message shows them", async (scope) => {
  const { url, answers } = await startStaticServer(scope, newer);
  answers.set("lake/CURRENT", (_, response) => response.writeHead(403).end());
  const secret = `${url.replace("//", "//reader:hush@")}/lake?sas=hush`;
  const lake = await newLake(scope);
  const results = [
    await carquet(["follow", "--once", "--lake", lake], { env: { CARQUET_SOURCE: secret } }),
    await carquetHere(["follow", secret.replace("http", "ftp"), "--once", "--lake", lake]),
    await carquetHere(["push", secret, "--lake", newer]),
    await carquetHere(["follow", "http://u%zz:hush@127.0.0.1:1", "--once", "--lake", lake]),
    await carquet(["accounts", "list", "--accounts", "postgres://u:hu@hush@127.0.0.1:1/none"]),
    await carquetHere(["follow", "--help"], {
      env: { CARQUET_SOURCE: secret, CARQUET_ACCOUNTS: "postgres://u:hush@h/d" },
    }),
    await carquetHere(["follow", "--once", "--lake", lake]),
  ];
  for (const { out, err } of results) assert.ok(!`${out}${err}`.includes("hush"), `${out}${err}`);
  assert.match(results[0]?.err ?? "", /CURRENT: status 403: expected 200\./);
  assert.match(results[3]?.err ?? "", /invalid user name or password in the URL: expected percent-encoding/);
  assert.match(results.at(-1)?.err ?? "", /No source: expected a location as argument, or CARQUET_SOURCE\./);
});
