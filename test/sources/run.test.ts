/** `carquet run`: one process fetches, ingests and serves; and fetches that are killed at any moment lose nothing. */
import assert from "node:assert/strict";
import { once } from "node:events";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { type AddressInfo, createServer } from "node:net";
import { join } from "node:path";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { readIngestRecord } from "../../src/lake/ingest-record.ts";
import { Chance } from "../support/chance.ts";
import { eventually, spawnCarquet, startServing } from "../support/command-line.ts";
import { extentOf, skipInShortRun } from "../support/extent.ts";
import { fetchingIn } from "../support/feed-servers/fetching.ts";
import { startSftpServer } from "../support/feed-servers/sftp-server.ts";
import { csvOf, dealerIdOf, vinOf, writeFeeds } from "../support/lakes/feeds.ts";
import { childrenOf } from "../support/postgres.ts";
import { onScopeEnd } from "../support/scope.ts";

test("carquet run fetches a feed and ingests its day, which is served, and stops on SIGTERM", async (t) => {
  const { folder, queue, writeSources } = await fetchingIn(t);
  const inbox = join(folder, "inbox");
  mkdirSync(inbox);
  writeFileSync(join(inbox, "dealers.csv"), csvOf("dealers", [{ dealer_id: dealerIdOf(1), name: "North" }]));
  const cars = [1, 2].map((car) => ({ vin: vinOf(car), dealer_id: dealerIdOf(1), make: "Ford", price: 20_000 + car }));
  writeFileSync(join(inbox, "inventory.csv"), csvOf("inventory", cars));
  const north = { folder: { path: inbox }, files: "*.csv", preset: "carquet", settleSeconds: 0, requiredFiles: 2 };
  const sources = writeSources({ north }, { schedule: "0 0 1 1 *" });
  const lake = join(folder, "lake");
  const metrics = join(folder, "metrics");
  mkdirSync(metrics);
  const words = [
    "run",
    "--port",
    "0",
    "--lake",
    lake,
    "--sources",
    sources,
    "--queue",
    queue,
    "--drain-delay",
    "0",
    "--threads",
    "1",
  ];
  const node = await startServing(t, [...words, "--metrics-folder", metrics, "--ingest-memory", "1GiB"]);
  const answer = (path: string): Promise<Response> => fetch(`${node.url}${path}`, { headers: node.customer.bearer });
  await eventually("a version is served", async () => (await answer("/readyz")).status === 200);
  const { data } = await (await answer("/v1/listings?sort=price&fields=vin")).json();
  assert.deepEqual(
    data.map(({ vin }: { vin: string }) => vin),
    [vinOf(1), vinOf(2)],
  );
  const files = ["carquet_fetch.prom", "carquet_ingest.prom"].map((name) => join(metrics, name));
  await eventually("both commands leave metrics", async () => files.every((path) => existsSync(path)));
  node.terminate();
  const { code, out, err } = await node.ended;
  assert.equal(code, 0, err);
  assert.match(out, /^north: 2 files fetched .*^\d{4}-\d\d-\d\d: complete\n.*: 2 rows = 2 listed/ms);
});

test("carquet run serves on if its queue cannot be read, and reports the failure", async (t) => {
  const { folder, queue, writeSources } = await fetchingIn(t);
  const inbox = join(folder, "inbox");
  const lake = join(folder, "lake");
  for (const path of [inbox, queue]) mkdirSync(path);
  writeFileSync(join(queue, "waiting"), "");
  const sources = writeSources({ north: { folder: { path: inbox }, files: "*.csv" } }, { schedule: "0 0 1 1 *" });
  const words = ["--lake", lake, "--sources", sources, "--queue", queue, "--metrics-folder", folder];
  const node = await startServing(t, ["run", "--port", "0", "--drain-delay", "0", "--threads", "1", ...words]);
  const metrics = join(folder, "carquet_ingest.prom");
  await eventually("an ingest has failed", async () => existsSync(metrics));
  assert.match(readFileSync(metrics, "utf8"), /^carquet_ingest_success 0$/m);
  assert.equal((await fetch(`${node.url}/healthz`)).status, 200);
  node.terminate();
  const { code, err } = await node.ended;
  assert.equal(code, 0, err);
  assert.match(err, /a file where a folder is expected|EEXIST/);
});

test("carquet run kills a fetch that does not end with it, and says so", async (t) => {
  const silent = createServer().listen(0, "127.0.0.1");
  onScopeEnd(t, async () => void silent.close());
  await once(silent, "listening");
  const connected = once(silent, "connection");
  const { folder, queue, writeSources } = await fetchingIn(t);
  const { port } = silent.address() as AddressInfo;
  const ftp = { host: "127.0.0.1", port, tls: "none", username: "carquet", passwordVariable: "TEST_SECRET" };
  const sources = writeSources({ north: { ftp, files: "*.csv" } }, { schedule: "0 0 1 1 *" });
  const words = ["--lake", join(folder, "lake"), "--sources", sources, "--queue", queue, "--drain-delay", "0"];
  const node = await startServing(t, ["run", "--port", "0", "--threads", "1", ...words], {
    env: { TEST_SECRET: "secret" },
  });
  const [socket] = await connected;
  onScopeEnd(t, async () => void socket.destroy());
  const [fetching = 0] = childrenOf(node.pid);
  process.kill(fetching, "SIGSTOP");
  node.terminate();
  const { code, err } = await node.ended;
  assert.equal(code, 0, err);
  assert.match(err, /"command":"fetch".*"error":"did not end within 5 seconds of SIGTERM; killed"/);
  await eventually("it is gone", async () => !existsSync(`/proc/${fetching}`));
});

test("an ingest that is killed leaves a record of it", async (t) => {
  const { folder, queue, writeSources } = await fetchingIn(t);
  const inbox = join(folder, "inbox");
  const lake = join(folder, "lake");
  mkdirSync(inbox);
  await writeFeeds(join(queue, "waiting"), "2026-11-18", { inventory: [{ vin: vinOf(1), dealer_id: dealerIdOf(1) }] });
  const sources = writeSources({ north: { folder: { path: inbox }, files: "*.csv" } }, { schedule: "0 0 1 1 *" });
  const words = ["--lake", lake, "--sources", sources, "--queue", queue, "--drain-delay", "0", "--threads", "1"];
  const node = await startServing(t, ["run", "--port", "0", ...words]);
  const isIngest = (pid: number): boolean =>
    readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0").includes("ingest");
  for (let ingesting: number | undefined; ingesting === undefined; await sleep(10)) {
    ingesting = childrenOf(node.pid).find(isIngest);
    if (ingesting !== undefined) process.kill(ingesting, "SIGKILL");
  }
  await eventually("the failure is recorded", async () => {
    const record = await readIngestRecord(lake);
    return record?.error === "ended by SIGKILL" && record.waiting === 1;
  });
  node.terminate();
  assert.equal((await node.ended).code, 0);
});

test("fetches that are killed at any moment lose nothing, and queue only whole files", {
  skip: skipInShortRun,
}, async (t) => {
  const server = await startSftpServer(t);
  const { queue, writeSources, filesIn, textOf } = await fetchingIn(t);
  const chance = new Chance(39);
  const contents = new Map(
    Array.from({ length: 60 }, (_, file) => [
      `${file}.csv`,
      `vin,price\n${"V1,100\n".repeat(chance.integer(1, 40_000))}`,
    ]),
  );
  for (const [name, text] of contents) server.files.set(name, { content: Buffer.from(text), modifiedMs: 0 });
  const sftp = {
    host: "127.0.0.1",
    port: server.port,
    username: "carquet",
    passwordVariable: "TEST_SECRET",
    hostKeys: [server.hostKey],
  };
  const sources = writeSources({ alpha: { sftp, files: "*.csv", requiredFiles: 60 } }, { deadline: "23:59" });
  const startFetch = () => spawnCarquet(["fetch", "--sources", sources, "--queue", queue], { TEST_SECRET: "secret" });
  const queued = () => [...filesIn("arriving"), ...filesIn("waiting")].map((path) => path.split("/").at(-1) ?? "");
  for (let kills = 0; kills < extentOf(8, 40); kills += 1) {
    const child = startFetch();
    const ended = once(child, "exit");
    await sleep(chance.integer(200, 1500));
    child.kill("SIGKILL");
    await ended;
    for (const folder of ["arriving", "waiting"])
      for (const path of filesIn(folder))
        assert.ok(textOf(`${folder}/${path}`) === contents.get(path.split("/").at(-1) ?? ""), path);
  }
  const [code] = await once(startFetch(), "exit");
  assert.deepEqual(
    [code, queued().sort(), filesIn("quarantine"), filesIn("superseded")],
    [0, [...contents.keys()].sort(), [], []],
  );
  assert.equal(filesIn("waiting").length, 60);
});
