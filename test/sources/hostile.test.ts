/** Sources that never end: each is left in time, and neither other sources nor the deadline of a day wait for it. */
import assert from "node:assert/strict";
import dns from "node:dns/promises";
import { mkdirSync, readdirSync, utimesSync, writeFileSync } from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { type AddressInfo, createServer, type Socket } from "node:net";
import { join } from "node:path";
import { describe, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { projectPath, projectText } from "../../src/base/project-files.ts";
import { httpsFileConnector } from "../../src/connectors/https.ts";
import { readFetchStatus } from "../../src/ingest/fetch-status.ts";
import { eventually } from "../support/eventually.ts";
import { fetchingIn, setVariables } from "../support/feed-servers/fetching.ts";
import { onScopeEnd, type Scope } from "../support/scope.ts";

/** Starts a server that answers each connection in its own way; returns its port. */
async function startServer(scope: Scope, answer: (socket: Socket) => void): Promise<number> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket.on("error", () => undefined));
    answer(socket);
  });
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  onScopeEnd(scope, async () => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return (server.address() as AddressInfo).port;
}

/** Sends a text again and again. */
function sendForever(socket: Socket, text: string, everyMs: number): void {
  const timer = setInterval(() => void (socket.destroyed ? clearInterval(timer) : socket.write(text)), everyMs);
  socket.once("close", () => clearInterval(timer));
}

const head = "HTTP/1.1 200 OK\r\nContent-Type: text/csv\r\n";

/** What each server does, how its source is described, and the error. */
const servers: Readonly<Record<string, readonly [answer: (socket: Socket) => void, kind: "https" | "ftp", RegExp]>> = {
  "drips a file": [
    (socket) => {
      socket.write(`${head}Content-Length: 1000000000\r\n\r\n`);
      sendForever(socket, "x".repeat(150_000), 1000);
    },
    "https",
    /expected (?:the file|an end)/,
  ],
  "sends chunk extensions without end": [
    (socket) => {
      socket.write(`${head}Transfer-Encoding: chunked\r\n\r\n5;`);
      sendForever(socket, "x".repeat(1000), 10);
    },
    "https",
    /stalled|expected (?:the file|an end)/,
  ],
  "sends headers without end": [
    (socket) => {
      socket.write(head);
      sendForever(socket, "X-A: b\r\n", 10);
    },
    "https",
    /stalled|overflow|expected (?:the file|an end)/i,
  ],
  "sends a reply line without end": [
    (socket) => sendForever(socket, "x".repeat(10_000), 10),
    "ftp",
    /reply too long: expected at most 65536 bytes/,
  ],
  "never replies": [() => undefined, "ftp", /Timeout|stalled|expected an end/],
};

const times = { sourceMs: 3000, fetchMs: 60_000, graceMs: 60_000 };

describe("a source is left in time, and another one and the day go on, if it", () => {
  for (const [name, [answer, kind, error]] of Object.entries(servers))
    test(name, async (t) => {
      const port = await startServer(t, answer);
      const { folder, queue, writeSources, fetch, filesIn } = await fetchingIn(t);
      const inbox = join(folder, "inbox");
      mkdirSync(inbox);
      writeFileSync(join(inbox, "stock.csv"), "vin\nV1\n");
      utimesSync(join(inbox, "stock.csv"), 1, 1);
      setVariables(t, { TEST_SECRET: "secret" });
      const ftp = { host: "127.0.0.1", port, tls: "none", username: "a", passwordVariable: "TEST_SECRET" };
      const alpha = kind === "ftp" ? { ftp, files: "*.csv" } : { https: { url: `http://127.0.0.1:${port}/a.csv` } };
      writeSources({ alpha, beta: { folder: { path: inbox }, files: "*.csv" } });
      const begunMs = performance.now();
      const { of, days } = await fetch("2026-11-18T15:00:00Z", times);
      assert.ok(performance.now() - begunMs < times.fetchMs);
      const reasons = [of.alpha?.error, ...Object.values(of.alpha?.quarantined ?? {})];
      assert.match(reasons.filter(Boolean).join(" "), error);
      assert.deepEqual([of.beta?.fetched, days], [1, ["2026-11-18"]]);
      assert.deepEqual(filesIn("waiting"), ["2026-11-18/beta/stock.csv"]);
      assert.ok((await readFetchStatus(queue))?.sources.alpha !== undefined);
      // What was being received is not at fault, and the fetch that is left does no more.
      await eventually("nothing is received", async () => filesIn("incoming").length === 0);
      await sleep(200);
      assert.deepEqual([filesIn("quarantine"), filesIn("incoming")], [[], []]);
    });
});

test("the deadline of a day does not wait for transfers, and a dozen slow sources delay no other and cause no warning", async (t) => {
  const warnings: Error[] = [];
  const onWarning = (warning: Error): void => void warnings.push(warning);
  process.on("warning", onWarning);
  onScopeEnd(t, async () => void process.off("warning", onWarning));
  const port = await startServer(t, (socket) => {
    socket.write(`${head}Content-Length: 1000000000\r\n\r\n`);
    sendForever(socket, "x".repeat(150_000), 1000);
  });
  const { folder, writeSources, fetch } = await fetchingIn(t);
  const inbox = join(folder, "inbox");
  mkdirSync(inbox);
  writeFileSync(join(inbox, "stock.csv"), "vin\nV1\n");
  utimesSync(join(inbox, "stock.csv"), 1, 1);
  const slow = Array.from({ length: 12 }, (_, index) => [
    `slow${index}`,
    { https: { url: `http://127.0.0.1:${port}/a.csv` } },
  ]);
  writeSources({ ...Object.fromEntries(slow), zeta: { folder: { path: inbox }, files: "*.csv" } });
  // The deadline is two seconds after the beginning.
  const { of, completed } = await fetch("2026-11-18T14:59:58Z", { sourceMs: 600_000, fetchMs: 600_000, graceMs: 6000 });
  assert.deepEqual([of.zeta?.fetched, completed.map(({ day }) => day)], [1, ["2026-11-18"]]);
  assert.deepEqual(Object.keys(completed[0]?.missing ?? {}).length, 12);
  assert.match(of.slow0?.error ?? "", /^not fetched in time/);
  assert.deepEqual(warnings, []);
});

test("no signal's time limit is one that a garbage collection can lose", () => {
  const paths = readdirSync(projectPath("src"), { recursive: true, encoding: "utf8" }).filter((path) =>
    /\.tsx?$/.test(path),
  );
  const users = paths.filter((path) => /AbortSignal\.timeout\(/.test(projectText(`src/${path}`)));
  assert.deepEqual(users, []);
});

test("a name that no file of a source has stops none of its files", async (t) => {
  const { folder, writeSources, fetch } = await fetchingIn(t);
  const inbox = join(folder, "inbox");
  mkdirSync(inbox);
  writeFileSync(join(inbox, "stock.csv"), "vin\nV1\n");
  utimesSync(join(inbox, "stock.csv"), 1, 1);
  writeFileSync(join(inbox, "new\nline.txt"), "x");
  writeFileSync(join(inbox, `${"n".repeat(240)}.txt`), "x");
  writeSources({ alpha: { folder: { path: inbox }, files: "*.csv" } });
  const { of } = await fetch("2026-11-18T14:00:00Z");
  assert.deepEqual([of.alpha?.fetched, of.alpha?.error], [1, undefined]);
});

test("a source with a public and a private address is redirected to public servers only", async (t) => {
  t.mock.method(dns, "lookup", async (host: string) =>
    (host === "feeds.dealer.example" ? ["93.184.216.34", "10.0.0.1"] : [host]).map((address) => ({ address })),
  );
  syncBuiltinESMExports();
  t.after(() => {
    t.mock.restoreAll();
    syncBuiltinESMExports();
  });
  const asked: string[] = [];
  t.mock.method(globalThis, "fetch", async (url: URL) => {
    asked.push(url.host);
    return new Response(null, { status: 302, headers: { Location: "http://127.0.0.1:1/internal.csv" } });
  });
  const connector = httpsFileConnector(new URL("http://feeds.dealer.example/stock.csv"), false, undefined);
  await assert.rejects(async () => connector.read("stock.csv", {}, new AbortController().signal), {
    message:
      "http://feeds.dealer.example/stock.csv: redirects to 127.0.0.1:1, which is not public: expected a public server.",
  });
  assert.deepEqual(asked, ["feeds.dealer.example"]);
});
