/** What an operator notices within minutes when feeds break: for each fault, the metric, the reason in `/readyz`, the page and the alert. */
import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, readFileSync, renameSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { test } from "node:test";
import { applyChange } from "../../src/accounts/administration/changes.ts";
import { projectPath } from "../../src/base/project-files.ts";
import { inAccountsFile } from "../support/accounts.ts";
import { carquet, eventually } from "../support/command-line.ts";
import { fetchingIn, setVariables } from "../support/feed-servers/fetching.ts";
import { startFtpServer } from "../support/feed-servers/ftp-server.ts";
import { startSftpServer } from "../support/feed-servers/sftp-server.ts";
import { skipWithoutBrowser } from "../support/http/browser.ts";
import { startService } from "../support/http/service.ts";
import { temporaryFolder } from "../support/lakes/lakes.ts";
import { startS3Server } from "../support/replication/s3-server.ts";
import { onScopeEnd } from "../support/scope.ts";
import { assertAccessible, assertFitsPhone, signedInBrowser } from "../support/web/site.ts";

/** Returns the names of the alerts that fire after ten minutes with the gauges of a text. */
function firing(metrics: string, folder: string): readonly string[] {
  const series = [...metrics.matchAll(/^(carquet_(?:fetch|ingest|dealers)_\S+) (\S+)$/gm)].map(([, name, value]) => ({
    series: name,
    values: `${value}x20`,
  }));
  const expr = 'ALERTS{alertstate="firing"}';
  const failing = { expr, eval_time: "10m", exp_samples: [{ labels: '{none="none"}', value: 1 }] };
  const file = { rule_files: [projectPath("deploy/prometheus/alerts.yml")], evaluation_interval: "1m" };
  const path = join(folder, "test.yml");
  writeFileSync(
    path,
    JSON.stringify({ ...file, tests: [{ interval: "1m", input_series: series, promql_expr_test: [failing] }] }),
  );
  // The difference from the expected samples lists the alerts.
  const { stdout, stderr } = spawnSync("promtool", ["test", "rules", path], { encoding: "utf8" });
  const names = [...`${stdout}${stderr}`.matchAll(/alertname="(\w+)"/g)].map(([, name = ""]) => name);
  return [...new Set(names)].sort();
}

const hasPromtool = spawnSync("promtool", ["--version"]).status === 0;

test("each fault of feeds is a metric, a reason in /readyz, a line on the page of sources, and an alert", async (t) => {
  const { folder, queue, writeSources, fetch: fetchFeeds } = await fetchingIn(t);
  const lake = join(await temporaryFolder(t), "lake");
  mkdirSync(lake);
  mkdirSync(queue);
  const client = await startService(t, lake, { queue, metricsPort: 0 });
  const inbox = join(folder, "inbox");
  const deliver = (name: string, text: string): void => {
    mkdirSync(inbox, { recursive: true });
    writeFileSync(join(inbox, name), text);
    utimesSync(join(inbox, name), 1, 1);
  };
  const source = { folder: { path: inbox }, files: "*_%Y%m%d.csv" };
  writeSources({ north: source });
  const state = async () => ({
    reasons: (await (await fetch(`${client.url}/readyz`)).json()).reasons,
    metrics: await (await fetch(client.metricsUrl ?? "")).text(),
  });
  const assertNoticed = async (reason: string, metric: RegExp, alert: string): Promise<void> => {
    await eventually(reason, async () => (await state()).reasons.includes(reason));
    const { metrics } = await state();
    assert.match(metrics, metric);
    if (hasPromtool) assert.ok(firing(metrics, folder).includes(alert), `${alert}: ${firing(metrics, folder)}`);
  };
  const assertQuiet = async (): Promise<void> => {
    await eventually("nothing is reported", async () => (await state()).reasons.length === 0);
    if (hasPromtool) assert.deepEqual(firing((await state()).metrics, folder), []);
  };

  await fetchFeeds("2026-11-18T13:00:00Z");
  await assertNoticed(
    "source north fails",
    /^carquet_fetch_source_failed\{source="north"\} 1$/m,
    "CarquetSourceFailed",
  );

  deliver("a_20261118.csv", "vin,price\nV1,1\n");
  await fetchFeeds("2026-11-18T13:15:00Z");
  await assertQuiet();
  const success = /^carquet_fetch_source_success_timestamp_seconds\{source="north"\} 1795007700$/m;
  assert.match((await state()).metrics, success);

  deliver("a_20261119.csv", "vin,preis\nV1,1\n");
  await fetchFeeds("2026-11-19T13:00:00Z");
  const changed = /^carquet_fetch_source_files_changed\{source="north"\} 1$/m;
  await assertNoticed("source north has other columns than before", changed, "CarquetFilesFaulty");
  await fetchFeeds("2026-11-19T13:15:00Z");
  await assertQuiet();

  mkdirSync(join(queue, "ingested"), { recursive: true });
  for (const day of ["2026-11-18", "2026-11-19"]) renameSync(join(queue, "waiting", day), join(queue, "ingested", day));
  deliver("late_20261119.csv", "vin,preis\nV2,1\n");
  await fetchFeeds("2026-11-19T13:30:00Z");
  const late = /^carquet_fetch_source_files_quarantined\{source="north"\} 1$/m;
  await assertNoticed("source north has files in quarantine", late, "CarquetFilesFaulty");

  writeSources({ north: { ...source, requiredFiles: 2 } });
  deliver("a_20261120.csv", "vin,preis\nV1,1\n");
  await fetchFeeds("2026-11-20T16:00:00Z");
  const incomplete = "2026-11-20 was completed without all files of north";
  await assertNoticed(incomplete, /^carquet_fetch_source_incomplete\{source="north"\} 1$/m, "CarquetDayIncomplete");

  rmSync(join(folder, "sources.yaml"));
  const words = ["fetch", "--sources", join(folder, "sources.yaml"), "--queue", queue];
  assert.equal((await carquet(words)).code, 1);
  await assertNoticed("the last fetch failed", /^carquet_fetch_failed 1$/m, "CarquetFetchFailed");

  rmSync(join(queue, "waiting"), { recursive: true });
  mkdirSync(join(queue, "waiting/20261121"), { recursive: true });
  const { code, err } = await carquet(["ingest", "--queue", queue, "--lake", lake]);
  assert.equal(code, 1);
  assert.match(err, /20261121.*: expected folders named by their days, YYYY-MM-DD/);
  await assertNoticed("the last ingest failed", /^carquet_ingest_failed 1$/m, "CarquetIngestFailed");
});

test("each way in which a source breaks is a metric, a reason in /readyz, and an alert", async (t) => {
  const { folder, queue, writeSources, fetch: fetchFeeds } = await fetchingIn(t);
  const lake = join(await temporaryFolder(t), "lake");
  for (const created of [lake, queue]) mkdirSync(created);
  const client = await startService(t, lake, { queue, metricsPort: 0 });
  setVariables(t, { TEST_SECRET: "no secret", TEST_KEY: "no key" });
  const { port, hostKey } = await startSftpServer(t);
  const sftp = { host: "127.0.0.1", port, username: "carquet", passwordVariable: "TEST_SECRET", path: "/out" };
  const key = join(folder, "key.pem");
  const cert = join(folder, "cert.pem");
  const request = `req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=localhost`;
  execFileSync("openssl", [...request.split(" "), "-keyout", key, "-out", cert], { stdio: "ignore" });
  const certificate = { key: readFileSync(key, "utf8"), cert: readFileSync(cert, "utf8") };
  const { port: ftpPort } = await startFtpServer(t, certificate);
  const ftp = { host: "localhost", port: ftpPort, username: "carquet", passwordVariable: "TEST_SECRET" };
  const { url: endpoint } = await startS3Server(t);
  const keys = { accessKeyVariable: "TEST_KEY", secretKeyVariable: "TEST_SECRET" };
  const failing = createServer((_, response) => response.writeHead(500).end()).listen(0, "127.0.0.1");
  onScopeEnd(t, async () => void failing.close());
  await once(failing, "listening");
  const { port: httpPort } = failing.address() as AddressInfo;
  const files = "*.csv";
  const broken = {
    password: { sftp: { ...sftp, hostKeys: [hostKey] }, files },
    host_key: { sftp: { ...sftp, hostKeys: [`SHA256:${"A".repeat(43)}`] }, files },
    certificate: { ftp, files },
    status: { https: { url: `http://127.0.0.1:${httpPort}/a.csv` } },
    bucket: { s3: { location: "s3://none/out", endpoint, ...keys }, files },
  };
  writeSources(broken);
  await fetchFeeds();
  const names = Object.keys(broken).sort();
  const reasons = async (): Promise<readonly string[]> => (await (await fetch(`${client.url}/readyz`)).json()).reasons;
  await eventually("each is a reason", async () => (await reasons()).length === names.length);
  assert.deepEqual(
    (await reasons()).toSorted(),
    names.map((name) => `source ${name} fails`),
  );
  const metrics = await (await fetch(client.metricsUrl ?? "")).text();
  const gauges = [...metrics.matchAll(/^carquet_fetch_source_failed\{source="(\w+)"\} 1$/gm)].map(([, name]) => name);
  assert.deepEqual(gauges.sort(), names);
  if (hasPromtool) assert.deepEqual(firing(metrics, folder), ["CarquetSourceFailed"]);
});

test("a mistyped queue is not created by an ingest, and by a fetch only with a message", async (t) => {
  const { folder, queue, writeSources } = await fetchingIn(t);
  const typed = join(folder, "fedes");
  const { code, err } = await carquet(["ingest", "--queue", typed, "--lake", join(folder, "lake")]);
  assert.deepEqual([code, err.includes(`${typed}: not found: expected the folder of a queue`)], [1, true]);
  assert.throws(() => execFileSync("ls", [typed], { stdio: "ignore" }));
  mkdirSync(join(folder, "inbox"));
  const sources = writeSources({ north: { folder: { path: join(folder, "inbox") }, files: "*.csv" } });
  const { out } = await carquet(["fetch", "--sources", sources, "--queue", queue]);
  assert.ok(out.startsWith(`${queue}: new queue\n`), out);
});

test("the page of sources says which fail and why, and what days wait for and lack", {
  skip: skipWithoutBrowser,
}, async (t) => {
  const { folder, queue, writeSources, fetch: fetchFeeds } = await fetchingIn(t);
  const lake = join(await temporaryFolder(t), "lake");
  mkdirSync(lake);
  const inbox = join(folder, "inbox");
  mkdirSync(inbox);
  const missing = { folder: { path: join(folder, "gone") }, files: "*.csv" };
  writeSources({ north: { folder: { path: inbox }, files: "*.csv", requiredFiles: 2 }, south: missing });
  writeFileSync(join(inbox, "a.csv"), "vin\nV1\n");
  utimesSync(join(inbox, "a.csv"), 1, 1);
  await fetchFeeds();
  const client = await startService(t, lake, { queue });
  const site = await signedInBrowser(t, client);
  const { accountId } = client.customer;
  await inAccountsFile(client.accounts, (database) =>
    applyChange(database, "accounts operator", { accountId, isOperator: true }, { actor: "test", atMs: Date.now() }),
  );
  const page = await site.open("/operate/service");
  const text = (await page.locator("main").textContent()) ?? "";
  assert.match(text, /north.*works/);
  assert.match(text, /south.*fails since 2026-11-18.*ENOENT/);
  assert.match(text, /waits.*missing north: 1 of 2 files; missing south: 0 of 1 files/);
  await assertAccessible(page);
  await assertFitsPhone(page);
  await page.close();
});
