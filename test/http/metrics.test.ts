/** The metrics server: its counts, and the dashboard that shows them. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { projectText } from "../../src/base/project-files.ts";
import { metricsOfCommand } from "../../src/cli/scheduled.ts";
import { metricTable } from "../../src/http/service/metrics.ts";
import type { ServeOptions } from "../../src/http/service/service-state.ts";
import { mountAgents } from "../../src/mcp/mount-agents.ts";
import { mountSite } from "../../src/web/site.ts";
import { connectAgent } from "../support/agents.ts";
import { eventually } from "../support/eventually.ts";
import { startService } from "../support/http/service.ts";
import { createLake } from "../support/lakes/lakes.ts";
import { fileScope } from "../support/scope.ts";

const { lake } = await createLake(fileScope);
const mountAll: ServeOptions["mountSite"] = (app, services) => {
  mountSite(app, services);
  mountAgents(app, services);
};
const client = await startService(fileScope, lake, { metricsPort: 0, droppedLogLines: () => 3, mountSite: mountAll });

/** Returns the samples by name and labels, such as `up{job="x"}`. Fails if a line is not in the text format. */
async function readMetrics(): Promise<ReadonlyMap<string, number>> {
  const response = await fetch(client.metricsUrl ?? "");
  assert.deepEqual(
    [response.status, response.headers.get("Content-Type")],
    [200, "text/plain; version=0.0.4; charset=utf-8"],
  );
  const lines = (await response.text())
    .trim()
    .split("\n")
    .filter((line) => line !== "" && !line.startsWith("#"));
  return new Map(
    lines.map((line) => {
      const [, sample = "", value] = /^([a-z0-9_]+(?:\{.*\})?) (\S+)$/.exec(line) ?? assert.fail(line);
      return [sample, Number(value)];
    }),
  );
}

const requestsIn = (metrics: ReadonlyMap<string, number>, operation: string, status: string): number =>
  metrics.get(`carquet_request_duration_seconds_count{operation="${operation}",status="${status}"}`) ?? 0;

test("metrics count requests by operation and status, statements, charges and the cache", async () => {
  const path = "/v1/listings?min_price=1&limit=3";
  for (const request of [path, path, "/v1/listings?limit=none", "/v1/vins/1", "/nothing"]) await client.get(request);
  const isFlushed = async (): Promise<boolean> =>
    ((await readMetrics()).get("carquet_ledger_flush_seconds_count") ?? 0) > 0;
  await eventually("a flush of the charges", isFlushed);
  const metrics = await readMetrics();
  assert.deepEqual(
    [
      requestsIn(metrics, "searchListings", "200"),
      requestsIn(metrics, "searchListings", "400"),
      requestsIn(metrics, "other", "404"),
      metrics.get("carquet_response_cache_hits_total"),
      metrics.get("carquet_response_cache_misses_total"),
      metrics.get("carquet_log_lines_dropped_total"),
    ],
    [2, 1, 1, 1, 1, 3],
  );
  for (const name of ["engine_statement_seconds", "engine_wait_seconds", "ledger_flush_seconds"])
    assert.ok((metrics.get(`carquet_${name}_count`) ?? 0) > 0, name);
});

test("metrics count the operations that pages and tools call, apart from requests", async () => {
  const cookie = `carquet-session=${await client.sessions.create({ accountId: client.customer.accountId })}`;
  // A page searches again without what was refused.
  for (const path of ["/shop?make=Toyota", "/shop?sort=none"])
    await fetch(`${client.url}${path}`, { headers: { Cookie: cookie } });
  const agent = await connectAgent(fileScope, client.url, client.customer.bearer);
  await agent.call("search_listings", { limit: 3 });
  const metrics = await readMetrics();
  const internalCalls = (operation: string, status: number, caller: string): number | undefined =>
    metrics.get(
      `carquet_internal_operation_duration_seconds_count{operation="${operation}",caller="${caller}",status="${status}"}`,
    );
  assert.deepEqual(
    [
      ...[
        internalCalls("searchListings", 200, "page"),
        internalCalls("getFacets", 200, "page"),
        internalCalls("searchListings", 400, "page"),
      ],
      ...[internalCalls("searchListings", 200, "tool"), requestsIn(metrics, "searchListings", "200")],
    ],
    [2, 2, 1, 1, 2],
  );
});

test("metrics describe the version in service and the process", async () => {
  const metrics = await readMetrics();
  assert.equal(metrics.get('carquet_lake_version_info{version="2026-11-19.1"}'), 1);
  assert.equal(metrics.get("carquet_lake_as_of_timestamp_seconds"), Date.UTC(2026, 10, 19) / 1000);
  for (const name of ["search_index_in_use", "row_store_in_use", "ledger_available"])
    assert.equal(metrics.get(`carquet_${name}`), 1, name);
  for (const name of ["process_resident_memory_bytes", "nodejs_eventloop_lag_p99_seconds"])
    assert.ok(metrics.has(name), name);
});

test("health checks are answered on the metrics port, metrics are not on the port of the API", async () => {
  const origin = new URL(client.metricsUrl ?? "").origin;
  for (const path of ["/healthz", "/readyz"]) assert.equal((await fetch(`${origin}${path}`)).status, 200);
  assert.equal((await fetch(`${origin}/v1/listings`)).status, 404);
  assert.equal((await client.get("/metrics")).status, 404);
});

test("the dashboard and the alerts use metrics that exist", async () => {
  const text = projectText("deploy/grafana-dashboard.json");
  const dashboard: { readonly panels: readonly { readonly title: string }[] } = JSON.parse(text);
  assert.ok(dashboard.panels.length >= 10);
  const ofService = [...(await readMetrics()).keys()].map((sample) => sample.replace(/\{.*/, ""));
  const ofTables = [...metricTable, ...metricsOfCommand("verify")].map(([name]) => name);
  const names = new Set([...ofService, ...ofTables]);
  const shown = new Set(
    `${text}${projectText("deploy/prometheus/alerts.yml")}`.match(/\b(carquet|process|nodejs)_[a-z0-9_]+/g),
  );
  assert.ok(shown.size > 15);
  assert.deepEqual(
    [...shown].filter((name) => !names.has(name)),
    [],
  );
});
