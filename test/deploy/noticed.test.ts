/** Would an operator notice within minutes? Breaks a service in each way, and reads what it reports: its metrics, `/readyz`, and the alerts that follow. */
import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { cpSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { describe, test } from "node:test";
import { projectPath } from "../../src/base/project-files.ts";
import { carquet, eventually, startServing } from "../support/command-line.ts";
import { skipInShortRun } from "../support/extent.ts";
import { freePort } from "../support/http/free-port.ts";
import { createLake, samplePath, smallDisk, temporaryFolder } from "../support/lakes/lakes.ts";
import { fileScope, type Scope } from "../support/scope.ts";

const noPromtool = spawnSync("promtool", ["--version"]).status === 0 ? false : "promtool is not installed";

/** How long Prometheus waits for an answer, as in deploy/prometheus, less here. */
const scrapeMs = 2000;

interface Observed {
  /** The metrics; undefined if the service did not answer. */
  readonly metrics: string | undefined;
  /** The answer of `/readyz`. */
  readonly status: number | undefined;
  readonly ready: { readonly status?: string; readonly reasons?: readonly string[] };
}

/** Reads what a service reports to Prometheus and to a load balancer, on the port of its metrics. */
async function observe(metricsUrl: string): Promise<Observed> {
  try {
    const signal = AbortSignal.timeout(scrapeMs);
    const metrics = await (await fetch(metricsUrl, { signal })).text();
    const ready = await fetch(metricsUrl.replace("/metrics", "/readyz"), { signal });
    return { metrics, status: ready.status, ready: await ready.json() };
  } catch {
    return { metrics: undefined, status: undefined, ready: {} };
  }
}

/** Fails unless these alerts fire, beside that of the silent dealer, and no others, after the metrics have been unchanged for 20 minutes. */
async function assertFires({ metrics }: Observed, alerts: readonly string[]): Promise<void> {
  const gauges = [...(metrics ?? "").matchAll(/^(carquet_\w+(?:\{[^}]*\})?) (\S+)$/gm)];
  const series = gauges.flatMap(([, name = "", value]) =>
    Number.isFinite(Number(value)) ? [{ series: name, values: `${Number(value)}x60` }] : [],
  );
  const up = { series: 'up{job="carquet", instance="a"}', values: `${metrics === undefined ? 0 : 1}x60` };
  const sample = (alert: string) => ({ labels: `{alertname="${alert}"}`, value: 1 });
  // A dealer of the sample is silent on its last day.
  const silent = metrics === undefined ? [] : ["CarquetDealersSilent"];
  const expected = {
    expr: 'sort(count by (alertname) (ALERTS{alertstate="firing"}))',
    eval_time: "20m",
    exp_samples: [...silent, ...alerts].map(sample),
  };
  const file = {
    rule_files: [projectPath("deploy/prometheus/alerts.yml")],
    evaluation_interval: "1m",
    tests: [{ interval: "1m", input_series: [up, ...series], promql_expr_test: [expected] }],
  };
  const path = join(await temporaryFolder(fileScope), "alerts.test.yml");
  writeFileSync(path, JSON.stringify(file));
  const { status, stdout, stderr } = spawnSync("promtool", ["test", "rules", path], { encoding: "utf8" });
  assert.equal(status, 0, `${alerts.join() || "no alert"}: ${stdout}${stderr}`);
}

/** Starts a service with metrics; returns it with the URL of these. */
async function startObserved(scope: Scope, lake: string, env: Readonly<Record<string, string>> = {}) {
  const port = await freePort();
  const words = ["serve", "--port", "0", "--metrics-port", String(port), "--lake", lake, "--threads", "1"];
  const service = await startServing(scope, [...words, "--overdue-after", "0", "--drain-delay", "0"], { env });
  return { ...service, metricsUrl: `http://127.0.0.1:${port}/metrics` };
}

describe("an operator notices", { skip: skipInShortRun || noPromtool }, () => {
  test("a service that is down, and one that hangs: no answer", async (t) => {
    const { lake } = await createLake(t);
    const service = await startObserved(t, lake);
    const healthy = await observe(service.metricsUrl);
    assert.deepEqual([healthy.status, healthy.ready.status, healthy.ready.reasons], [200, "ready", []]);
    assert.match(healthy.metrics ?? "", /^carquet_dealers_silent 1$/m);
    await assertFires(healthy, []);
    process.kill(service.pid ?? 0, "SIGSTOP");
    await assertFires(await observe(service.metricsUrl), ["CarquetDown"]);
    service.kill();
    await service.ended;
    await assertFires(await observe(service.metricsUrl), ["CarquetDown"]);
  });

  test("a service that hangs at its start: it ends with code 1, which systemd and Compose report", async (t) => {
    const { lake } = await createLake(t);
    const silent = createServer();
    await new Promise<void>((listening) => silent.listen(0, "127.0.0.1", listening));
    const address = silent.address();
    assert.ok(typeof address === "object" && address !== null);
    const accounts = `postgres://x@127.0.0.1:${address.port}/x`;
    const { code, err } = await carquet(["serve", "--port", "0", "--lake", lake, "--accounts", accounts]);
    silent.close();
    assert.equal(code, 1, err);
    assert.match(err, /^carquet: postgres:.*(timeout|terminated)/m);
  });

  test("an ingest that refuses a delivery, or fails: the reason, and an alert", async (t) => {
    const { lake } = await createLake(t);
    const queue = await temporaryFolder(t);
    const service = await startObserved(t, lake);
    const ingest = () => carquet(["ingest", "--queue", queue, "--lake", lake]);
    cpSync(join(samplePath, "2026-11-18"), join(queue, "waiting/2026-11-17"), { recursive: true });
    assert.equal((await ingest()).code, 0);
    await eventually("the refused delivery is counted", async () =>
      /^carquet_ingest_deliveries_refused 1$/m.test((await observe(service.metricsUrl)).metrics ?? ""),
    );
    await assertFires(await observe(service.metricsUrl), ["CarquetDeliveriesRefused"]);
    rmSync(join(queue, "refused"), { recursive: true });
    mkdirSync(join(queue, "waiting/2026-11-21"), { recursive: true });
    assert.equal((await ingest()).code, 1);
    await eventually("the failure is reported", async () =>
      /^carquet_ingest_failed 1$/m.test((await observe(service.metricsUrl)).metrics ?? ""),
    );
    const failed = await observe(service.metricsUrl);
    assert.deepEqual([failed.status, failed.ready.status], [200, "degraded"]);
    assert.deepEqual(failed.ready.reasons, ["the last ingest failed"]);
    await assertFires(failed, ["CarquetIngestFailed"]);
  });

  test("a full disk of accounts: 503 and an alert, until there is space again", async (t) => {
    const disk = await smallDisk(t, "1m");
    if (disk === undefined) return t.skip("mounting a tmpfs needs root");
    const { lake } = await createLake(t);
    const accounts = join(disk, "accounts.db");
    assert.equal((await carquet(["accounts", "create", "--email", "a@b.example", "--accounts", accounts])).code, 0);
    const service = await startObserved(t, lake, { CARQUET_ACCOUNTS: accounts });
    const search = async (): Promise<number> =>
      (await fetch(`${service.url}/v1/listings?limit=1`, { headers: service.customer.bearer })).status;
    assert.equal(await search(), 200);
    execFileSync("sh", ["-c", `head -c 10M /dev/zero > ${join(disk, "ballast")} || true`], { stdio: "ignore" });
    await eventually("requests are refused", async () =>
      (await Promise.all(Array.from({ length: 32 }, search))).includes(503),
    );
    const full = await observe(service.metricsUrl);
    assert.deepEqual([full.status, full.ready.status], [503, "ledger unavailable"]);
    assert.match(full.metrics ?? "", /^carquet_ledger_available 0$/m);
    await assertFires(full, ["CarquetLedgerUnavailable"]);
    rmSync(join(disk, "ballast"));
    await eventually("requests are answered again", async () => (await search()) === 200);
    await assertFires(await observe(service.metricsUrl), []);
  });
});
