/** Every kind of source, from a real server: new files are fetched once, changed ones again, and faults of the server lose nothing. */
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { createServer, type IncomingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { describe, test } from "node:test";
import { carquet } from "../support/command-line.ts";
import { fetchingIn, setVariables } from "../support/feed-servers/fetching.ts";
import { startFtpServer } from "../support/feed-servers/ftp-server.ts";
import type { ServedFiles } from "../support/feed-servers/served-files.ts";
import { clientKey, startSftpServer } from "../support/feed-servers/sftp-server.ts";
import { temporaryFolder } from "../support/lakes/lakes.ts";
import { startS3Server } from "../support/replication/s3-server.ts";
import { onScopeEnd, type Scope } from "../support/scope.ts";

const fileMs = Date.parse("2026-11-18T10:00:00Z");
const first = "vin,price\nV1,100\n";
const second = "vin,price\nV1,200\n";

/** A source of one kind, and how the file `out/4711/stock.csv`, or that of its URL, is changed. */
interface Served {
  readonly source: object;
  readonly put: (text: string, modifiedMs: number) => void;
}

const putIn =
  ({ files }: ServedFiles) =>
  (text: string, modifiedMs: number): void =>
    void files.set("out/4711/stock.csv", { content: Buffer.from(text), modifiedMs });

const files = "4711/stock*.csv";

async function serveFolder(scope: Scope): Promise<Served> {
  const path = join(await temporaryFolder(scope), "out");
  return {
    source: { folder: { path }, files },
    put: (text, modifiedMs) => {
      mkdirSync(join(path, "4711"), { recursive: true });
      writeFileSync(join(path, "4711/stock.csv"), text);
      utimesSync(join(path, "4711/stock.csv"), modifiedMs / 1000, modifiedMs / 1000);
    },
  };
}

/** Serves a file over HTTP, with an ETag, to a bearer of a token. */
async function serveHttp(scope: Scope): Promise<Served & { readonly requests: IncomingHttpHeaders[] }> {
  const requests: IncomingHttpHeaders[] = [];
  let served = { text: "", modifiedMs: 0 };
  const server = createServer((request, response) => {
    requests.push(request.headers);
    const tag = `"${served.modifiedMs}"`;
    if (request.headers.authorization !== "Bearer secret") response.writeHead(401).end();
    else if (request.headers["if-none-match"] === tag) response.writeHead(304).end();
    else
      response
        .setHeader("ETag", tag)
        .setHeader("Last-Modified", new Date(served.modifiedMs).toUTCString())
        .end(served.text);
  });
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  onScopeEnd(scope, async () => void server.close());
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/4711/stock.csv?since=1`;
  return {
    requests,
    source: { https: { url, tokenVariable: "TEST_SECRET" } },
    put: (text, modifiedMs) => {
      served = { text, modifiedMs };
    },
  };
}

async function serveSftp(scope: Scope, credential: object = { passwordVariable: "TEST_SECRET" }): Promise<Served> {
  const server = await startSftpServer(scope);
  const { port, hostKey } = server;
  const sftp = { host: "127.0.0.1", port, username: "carquet", ...credential, hostKeys: [hostKey], path: "/out" };
  return { source: { sftp, files }, put: putIn(server) };
}

async function serveFtp(scope: Scope, isOld = false): Promise<Served> {
  const server = Object.assign(await startFtpServer(scope), { isOld });
  const ftp = {
    host: "127.0.0.1",
    port: server.port,
    tls: "none",
    username: "carquet",
    passwordVariable: "TEST_SECRET",
  };
  return { source: { ftp: { ...ftp, path: "out" }, files }, put: putIn(server) };
}

async function serveBucket(scope: Scope): Promise<Served> {
  const { url: endpoint, env, objects } = await startS3Server(scope);
  setVariables(scope, { TEST_KEY: env.AWS_ACCESS_KEY_ID ?? "", TEST_SECRET_KEY: env.AWS_SECRET_ACCESS_KEY ?? "" });
  const keys = { accessKeyVariable: "TEST_KEY", secretKeyVariable: "TEST_SECRET_KEY" };
  return {
    source: { s3: { location: "s3://cars/out", endpoint, ...keys }, files },
    put: (text, modifiedMs) =>
      void objects.set("out/4711/stock.csv", { bytes: Buffer.from(text), sha256: undefined, headers: {}, modifiedMs }),
  };
}

const kinds: Readonly<Record<string, (scope: Scope) => Promise<Served>>> = {
  folder: serveFolder,
  https: serveHttp,
  "sftp with a password": serveSftp,
  "sftp with a key": (scope) => serveSftp(scope, { privateKeyVariable: "TEST_PRIVATE_KEY" }),
  ftp: (scope) => serveFtp(scope),
  "ftp without exact lists": (scope) => serveFtp(scope, true),
  s3: serveBucket,
};

describe("a file is fetched when it is new, when it has changed, and when it is delivered again on a later day", () => {
  for (const [kind, serve] of Object.entries(kinds))
    test(kind, async (t) => {
      setVariables(t, { TEST_SECRET: "secret", TEST_PRIVATE_KEY: clientKey.private.replaceAll("\n", "\\n") });
      const { source, put } = await serve(t);
      const { writeSources, fetch, filesIn, textOf } = await fetchingIn(t);
      writeSources({ alpha: { ...source, requiredFiles: 2 } });
      const counts = async (at?: string) => {
        const { of } = await fetch(at);
        const { error, fetched, unchanged, quarantined } = of.alpha ?? {};
        assert.deepEqual([error, quarantined], [undefined, {}]);
        return [fetched, unchanged];
      };
      put(first, fileMs);
      assert.deepEqual(await counts(), [1, 0]);
      assert.deepEqual(filesIn("arriving"), ["2026-11-18/alpha/stock.csv"]);
      assert.deepEqual(await counts(), [0, 1]);
      put(second, fileMs + 60_000);
      assert.deepEqual(await counts(), [1, 0]);
      assert.equal(textOf("arriving/2026-11-18/alpha/stock.csv"), second);
      assert.equal(textOf("superseded/2026-11-18/alpha/1-stock.csv"), first);
      put(second, fileMs + 120_000);
      assert.deepEqual(await counts("2026-11-19T13:00:00Z"), [1, 0]);
      assert.deepEqual(filesIn("arriving"), ["2026-11-19/alpha/stock.csv"]);
      assert.deepEqual(filesIn("waiting"), ["2026-11-18/alpha/stock.csv"]);
      assert.deepEqual(filesIn("incoming"), []);
    });
});

test("a file that replaced another one is kept when it is replaced, also after the first one has been removed", async (t) => {
  const { source, put } = await serveFolder(t);
  const { queue, writeSources, fetch, filesIn, textOf } = await fetchingIn(t);
  writeSources({ alpha: { ...source, requiredFiles: 2 } });
  for (const [index, text] of [first, second, first, second].entries()) {
    put(text, fileMs + index * 60_000);
    await fetch();
    if (index === 2) rmSync(join(queue, "superseded/2026-11-18/alpha/1-stock.csv"));
  }
  assert.deepEqual(filesIn("superseded"), ["2026-11-18/alpha/2-stock.csv", "2026-11-18/alpha/3-stock.csv"]);
  assert.equal(textOf("superseded/2026-11-18/alpha/2-stock.csv"), second);
});

test("a URL is requested with the tag of its last file, and its query and the token are in no file and message", async (t) => {
  setVariables(t, { TEST_SECRET: "wrong" });
  const { source, put, requests } = await serveHttp(t);
  const { writeSources, fetch, filesIn, textOf } = await fetchingIn(t);
  writeSources({ alpha: { ...source, requiredFiles: 2 } });
  put(first, fileMs);
  const { error, quarantined } = (await fetch()).of.alpha ?? {};
  assert.deepEqual(quarantined, {});
  assert.match(error ?? "", /^http:\/\/127\.0\.0\.1:\d+\/4711\/stock\.csv: status 401: expected 200\.$/);
  setVariables(t, { TEST_SECRET: "secret" });
  for (const _ of [1, 2]) await fetch();
  assert.deepEqual(
    requests.map((headers) => headers["if-none-match"]),
    [undefined, undefined, `"${fileMs}"`],
  );
  for (const path of filesIn("")) assert.doesNotMatch(textOf(path), /secret|since/, path);
});

test("a user name and a password in a secret URL are sent as basic authentication, and are in no file and message", async (t) => {
  const sent: (string | undefined)[] = [];
  const server = createServer((request, response) => {
    sent.push(request.headers.authorization);
    response.writeHead(sent.length === 1 ? 403 : 200).end(first);
  });
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  onScopeEnd(t, async () => void server.close());
  const { port } = server.address() as AddressInfo;
  setVariables(t, { TEST_URL: `http://dealer:secret@127.0.0.1:${port}/stock.csv` });
  const { writeSources, fetch, filesIn, textOf } = await fetchingIn(t);
  writeSources({ alpha: { https: { urlVariable: "TEST_URL", name: "stock.csv" }, requiredFiles: 2 } });
  assert.equal((await fetch()).of.alpha?.error, `127.0.0.1:${port}: status 403: expected 200.`);
  assert.equal((await fetch()).of.alpha?.fetched, 1);
  assert.deepEqual(new Set(sent), new Set([`Basic ${Buffer.from("dealer:secret").toString("base64")}`]));
  for (const path of filesIn("")) assert.doesNotMatch(textOf(path), /secret/, path);
});

test("a token is not sent in the clear to the URL of a variable either", async (t) => {
  setVariables(t, { TEST_URL: "http://h.example/stock.csv", TEST_SECRET: "secret" });
  const { writeSources, fetch } = await fetchingIn(t);
  const https = { urlVariable: "TEST_URL", name: "stock.csv", tokenVariable: "TEST_SECRET" };
  writeSources({ alpha: { https, requiredFiles: 2 } });
  assert.equal(
    (await fetch()).of.alpha?.error,
    "the URL in TEST_URL would send credentials in the clear: expected https://.",
  );
});

test("files whose columns were read are closed", { skip: process.platform !== "linux" }, async (t) => {
  const path = join(await temporaryFolder(t), "out");
  mkdirSync(path);
  for (let file = 0; file < 40; file += 1) {
    writeFileSync(join(path, `${file}.csv`), `vin,price\n${"V1,100\n".repeat(30_000)}`);
    utimesSync(join(path, `${file}.csv`), fileMs / 1000, fileMs / 1000);
  }
  const { writeSources, fetch } = await fetchingIn(t);
  writeSources({ alpha: { folder: { path }, files: "*.csv", requiredFiles: 99 } });
  const before = readdirSync("/proc/self/fd").length;
  assert.equal((await fetch()).of.alpha?.fetched, 40);
  assert.ok(readdirSync("/proc/self/fd").length < before + 20);
});

/** Starts an SFTP and an FTP server; returns a source for each. */
async function bothServers(scope: Scope) {
  setVariables(scope, { TEST_SECRET: "secret" });
  const sftp = await startSftpServer(scope);
  const ftp = await startFtpServer(scope);
  const account = { host: "127.0.0.1", username: "carquet", passwordVariable: "TEST_SECRET" };
  const sources = {
    alpha: { sftp: { ...account, port: sftp.port, hostKeys: [sftp.hostKey] }, files: "*.csv", requiredFiles: 9 },
    beta: { ftp: { ...account, port: ftp.port, tls: "none" }, files: "*.csv", requiredFiles: 9 },
  };
  const put = (name: string, text: string): void => {
    for (const { files: served } of [sftp, ftp]) served.set(name, { content: Buffer.from(text), modifiedMs: fileMs });
  };
  return { sftp, ftp, sources, put };
}

test("a server that stops in the middle is asked again; what it never sends whole goes to quarantine, and the rest in", async (t) => {
  const { sftp, ftp, sources, put } = await bothServers(t);
  const { writeSources, fetch, filesIn } = await fetchingIn(t);
  writeSources(sources);
  const large = `vin,price\n${"V1,100\n".repeat(20_000)}`;
  put("a.csv", large);
  for (const server of [sftp, ftp]) server.cutOffs = 2;
  const repeated = await fetch();
  for (const source of ["alpha", "beta"])
    assert.deepEqual([repeated.of[source]?.fetched, repeated.of[source]?.error], [1, undefined], source);
  put("b.csv", `${large}V2,300\n`);
  put("c.csv", first);
  for (const server of [sftp, ftp]) server.cutOffs = 3;
  const { of } = await fetch();
  for (const source of ["alpha", "beta"]) {
    assert.deepEqual([of[source]?.fetched, Object.keys(of[source]?.quarantined ?? {})], [1, ["b.csv"]], source);
    assert.ok(filesIn(`quarantine/2026-11-18/${source}`).includes("b.csv.txt"));
  }
  assert.deepEqual(filesIn("arriving/2026-11-18/alpha"), ["a.csv", "c.csv"]);
  const later = await fetch();
  for (const source of ["alpha", "beta"])
    assert.deepEqual([later.of[source]?.fetched, later.of[source]?.unchanged], [1, 2]);
});

test("a changed host key is refused with both fingerprints: nothing is sent or fetched, and other sources go in", async (t) => {
  const { sftp, sources, put } = await bothServers(t);
  const { writeSources, fetch, filesIn } = await fetchingIn(t);
  const pinned = `SHA256:${"A".repeat(43)}`;
  writeSources({ ...sources, alpha: { ...sources.alpha, sftp: { ...sources.alpha.sftp, hostKeys: [pinned] } } });
  put("a.csv", first);
  const { of } = await fetch();
  assert.equal(of.alpha?.error, `host key of 127.0.0.1 is ${sftp.hostKey}: expected ${pinned} (hostKeys).`);
  assert.deepEqual([sftp.logIns, sftp.sent, of.beta?.fetched], [[], [], 1]);
  assert.deepEqual(filesIn("arriving"), ["2026-11-18/beta/a.csv"]);
});

test("wrong and missing credentials fail a source at once", async (t) => {
  const { sftp, ftp, sources, put } = await bothServers(t);
  const { writeSources, fetch } = await fetchingIn(t);
  const gamma = { ...sources.alpha, sftp: { ...sources.alpha.sftp, passwordVariable: "TEST_ABSENT" } };
  writeSources({ ...sources, gamma });
  put("a.csv", first);
  setVariables(t, { TEST_SECRET: "no secret" });
  const { of } = await fetch();
  assert.match(of.alpha?.error ?? "", /authentication methods failed/);
  // The server repeats the password.
  assert.match(of.beta?.error ?? "", /^ftp:\/\/127\.0\.0\.1\/\S*: 530 wrong password: \[secret\]\.$/);
  assert.match(
    of.gamma?.error ?? "",
    /^sources\.gamma\.sftp\.passwordVariable: the environment variable TEST_ABSENT is not set/,
  );
  assert.equal(sftp.logIns.filter((line) => line.endsWith(" password")).length, 1);
  assert.equal(ftp.commands.filter((line) => line === "PASS").length, 1);
});

test("names that climb out of a folder, or that no file can have here, are refused alone, and links are not followed", async (t) => {
  const { sftp, ftp, sources, put } = await bothServers(t);
  const fetching = await fetchingIn(t);
  const { folder, writeSources, fetch, filesIn } = fetching;
  put("a.csv", first);
  const tooLong = `${"é".repeat(150)}.csv`;
  for (const server of [sftp, ftp]) server.moreNames.push("../../../../evil.csv");
  sftp.moreNames.push("a\u0007.csv", tooLong, `${"b".repeat(300)}.csv`);
  const inbox = join(folder, "inbox");
  mkdirSync(inbox);
  writeFileSync(join(folder, "passwords.csv"), "secret");
  symlinkSync("../passwords.csv", join(inbox, "stock.csv"));
  writeSources({ ...sources, gamma: { folder: { path: inbox }, files: "*.csv", settleSeconds: 0 } });
  const { of } = await fetch();
  const reasons = Object.values(of.alpha?.quarantined ?? {});
  assert.match(
    reasons[0] ?? "",
    /^invalid name "\.\.\/\.\.\/\.\.\/\.\.\/evil\.csv" at the source: expected a name of a file\.$/,
  );
  assert.match(reasons[1] ?? "", /^invalid name "a\ufffd\.csv" at the source/);
  assert.deepEqual([of.alpha?.error, of.alpha?.fetched, reasons.length], [undefined, 1, 4]);
  // The client of FTP leaves such names out.
  assert.deepEqual([of.beta?.fetched, of.gamma?.fetched], [1, 0]);
  assert.deepEqual(filesIn("arriving"), ["2026-11-18/alpha/a.csv", "2026-11-18/beta/a.csv"]);
  assert.ok(!existsSync(join(folder, "evil.csv")));
});

test("links without a target stop no other file", async (t) => {
  const { sftp, sources, put } = await bothServers(t);
  const { writeSources, fetch } = await fetchingIn(t);
  put("a.csv", first);
  sftp.danglingLinks.push("b.csv", "other.txt");
  writeSources(sources);
  const { error, fetched, quarantined } = (await fetch()).of.alpha ?? {};
  assert.deepEqual({ error, fetched, quarantined }, { error: undefined, fetched: 1, quarantined: {} });
});

test("what a server does not permit to read stops no other file, and is asked for once", async (t) => {
  const { sftp, sources, put } = await bothServers(t);
  const { writeSources, fetch, filesIn } = await fetchingIn(t);
  put("a.csv", first);
  put("b.csv", second);
  sftp.danglingLinks.push("c.csv");
  for (const path of ["a.csv", "c.csv"]) sftp.denied.add(path);
  writeSources({ alpha: sources.alpha });
  const { error, fetched, quarantined } = (await fetch()).of.alpha ?? {};
  assert.deepEqual([error, fetched, quarantined], ["a.csv: Permission denied.", 1, {}]);
  assert.deepEqual(sftp.opened, ["a.csv", "b.csv"], "a refusal is final");
  assert.deepEqual(filesIn("arriving"), ["2026-11-18/alpha/b.csv"]);
  sftp.denied.add("");
  const before = sftp.logIns.length;
  assert.match((await fetch()).of.alpha?.error ?? "", /Permission denied/);
  assert.equal(sftp.logIns.slice(before).filter((line) => line.endsWith(" password")).length, 1);
});

test("FTP over TLS needs a certificate that is trusted", async (t) => {
  const folder = await temporaryFolder(t);
  const key = join(folder, "key.pem");
  const cert = join(folder, "cert.pem");
  const request = "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=localhost";
  const named = ["-addext", "subjectAltName=DNS:localhost", "-keyout", key, "-out", cert];
  execFileSync("openssl", [...request.split(" "), ...named], { stdio: "ignore" });
  const server = await startFtpServer(t, { key: readFileSync(key, "utf8"), cert: readFileSync(cert, "utf8") });
  server.files.set("a.csv", { content: Buffer.from(first), modifiedMs: fileMs });
  setVariables(t, { TEST_SECRET: "secret" });
  const { queue, writeSources, fetch, filesIn } = await fetchingIn(t);
  const ftp = { host: "localhost", port: server.port, username: "carquet", passwordVariable: "TEST_SECRET" };
  const sources = writeSources({ alpha: { ftp, files: "*.csv" } });
  assert.match((await fetch()).of.alpha?.error ?? "", /^ftp:\/\/localhost\/\S*: self-signed certificate/);
  assert.ok(!server.commands.includes("PASS"));
  const words = ["fetch", "--sources", sources, "--queue", queue];
  const { code, out } = await carquet(words, { env: { NODE_EXTRA_CA_CERTS: cert } });
  assert.deepEqual(
    [code, out.split("\n")[0]],
    [0, `alpha: 1 files fetched (${first.length} bytes), 0 unchanged, 0 too young`],
  );
  assert.equal(filesIn("").filter((path) => path.endsWith("alpha/a.csv")).length, 1);
});
