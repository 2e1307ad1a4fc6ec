/**
 * Metrics of a service in the Prometheus text format. Events are observed when they happen; counts of other modules are read at each scrape.
 * Durations are in seconds, sizes in bytes.
 */
import { createServer, type Server } from "node:http";
import Koa from "koa";
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from "prom-client";
import type { Accounts } from "../../accounts/accounts.ts";
import { buildLabels, buildMetric } from "../../db/build-info.ts";
import type { FetchStatus, SourceStatus } from "../../ingest/fetch-status.ts";
import type { ResponseCache } from "../../operations/response-cache.ts";
import type { CurrentVersion } from "../../serving/current-version.ts";
import type { Middleware, RequestState, Routes } from "../context.ts";
import type { Connections } from "./connections.ts";
import type { Freshness } from "./freshness.ts";

interface MetricSources {
  readonly current: CurrentVersion;
  readonly responseCache: ResponseCache;
  readonly accounts: Accounts;
  readonly connections: Connections;
  readonly freshness: Freshness;
  readonly droppedLogLines: () => number;
}

type Reading = readonly [
  name: string,
  type: "counter" | "gauge",
  help: string,
  read: (sources: MetricSources) => number,
];

/** Values that are read when the metrics are scraped. */
// biome-ignore format: a table is read by its columns
const readings: readonly Reading[] = [
  ["carquet_connections",                  "gauge",   "Open connections.",                                                ({ connections }) => connections.count],
  ["carquet_engine_statements_waiting",    "gauge",   "Statements that wait for a session of the query engine.",          ({ current }) => current.inService?.statements.waiting ?? 0],
  ["carquet_engine_statements_running",    "gauge",   "Statements that the query engine runs.",                           ({ current }) => current.inService?.statements.running ?? 0],
  ["carquet_response_cache_hits_total",    "counter", "Requests answered from the response cache.",                       ({ responseCache }) => responseCache.counts.hits],
  ["carquet_response_cache_shared_total",  "counter", "Requests that shared the computation of an identical request.",    ({ responseCache }) => responseCache.counts.shared],
  ["carquet_response_cache_misses_total",  "counter", "Requests whose response was computed.",                            ({ responseCache }) => responseCache.counts.misses],
  ["carquet_column_cache_bytes",           "gauge",   "Size of the columns of search indexes in memory.",                 ({ current }) => current.columnBytes],
  ["carquet_response_cache_bytes",         "gauge",   "Size of the response cache.",                                      ({ responseCache }) => responseCache.counts.bytes],
  ["carquet_ledger_available",             "gauge",   "1 if charges can be written and keys be read, else 0.",            ({ accounts }) => Number(accounts.faults.length === 0)],
  ["carquet_lake_as_of_timestamp_seconds", "gauge",   "The as-of date of the version in service, as Unix time; 0 if none is in service.", ({ current }) => asOfSeconds(current.version)],
  ["carquet_lake_published_timestamp_seconds", "gauge", "When the version in service was published, as Unix time; 0 if none is in service.", ({ freshness }) => (freshness.report.publishedAtMs ?? 0) / 1000],
  ["carquet_dealers_expected",             "gauge",   "Dealers that delivered on the as-of date or in the 7 days before.", ({ freshness }) => freshness.report.dealers?.expected ?? 0],
  ["carquet_dealers_silent",               "gauge",   "Dealers among them without a feed on the as-of date.",             ({ freshness }) => freshness.report.dealers?.silent ?? 0],
  ["carquet_ingest_failed",                "gauge",   "1 if the last ingest failed, else 0.",                             ({ freshness }) => Number(freshness.hasFailed)],
  ["carquet_ingest_overdue",               "gauge",   "1 if the next delivery is overdue (see --overdue-after), else 0.", ({ freshness }) => Number(freshness.isOverdue)],
  ["carquet_ingest_end_timestamp_seconds", "gauge",   "When the last ingest ended, as Unix time; 0 if it left no record.", ({ freshness }) => Date.parse(freshness.lastIngest?.at ?? "1970-01-01") / 1000],
  ["carquet_ingest_deliveries_waiting",    "gauge",   "Deliveries that waited in the queue when the last ingest ended.",  ({ freshness }) => freshness.lastIngest?.waiting ?? 0],
  ["carquet_ingest_deliveries_refused",    "gauge",   "Deliveries in the queue that the lake could not take.",            ({ freshness }) => freshness.lastIngest?.refused ?? 0],
  ["carquet_fetch_failed",                 "gauge",   "1 if the last fetch beside the service failed as a whole, else 0.", ({ freshness }) => Number(freshness.lastFetch?.error != null)],
  ["carquet_fetch_last_timestamp_seconds", "gauge",   "When the last fetch beside the service began, as Unix time; 0 if there was none.", ({ freshness }) => Date.parse(freshness.lastFetch?.at ?? "1970-01-01") / 1000],
  ["carquet_fetch_days_waiting",           "gauge",   "Days that wait for files of sources, or for their deadline.",      ({ freshness }) => freshness.lastFetch?.waiting.length ?? 0],
  ["carquet_lake_faults",                  "gauge",   "Number of faults of the lake, its version and its serving files.",                   ({ current }) => current.faults.length],
  ["carquet_lake_files",                   "gauge",   "Files of the version in service.",                                 ({ current }) => current.fileCounts.files],
  ["carquet_lake_damages_total",           "counter", "How often a file has been found damaged.",                         ({ current }) => current.fileCounts.damages],
  ["carquet_search_index_in_use",          "gauge",   "1 if the search index is read from the lake, 0 if it was rebuilt.", ({ current }) => Number(current.inService?.served.index ?? false)],
  ["carquet_row_store_in_use",             "gauge",   "1 if the row store is read from the lake, 0 if it was rebuilt.",   ({ current }) => Number(current.inService?.served.rows ?? false)],
  ["carquet_log_lines_dropped_total",      "counter", "Log lines dropped because standard error did not accept them.",    ({ droppedLogLines }) => droppedLogLines()],
  ["carquet_serving_fallbacks_total",      "counter", "How often a search index or row store was rebuilt.",               ({ current }) => current.rebuilds],
];

type SourceReading = readonly [
  name: string,
  help: string,
  read: (source: SourceStatus, name: string, fetch: FetchStatus) => number,
];

/** Values of each source that is fetched beside the service. */
// biome-ignore format: a table is read by its columns
const sourceReadings: readonly SourceReading[] = [
  ["carquet_fetch_source_success_timestamp_seconds", "When a fetch from a source succeeded last, as Unix time; 0 if none has.", ({ succeededAt }) => Date.parse(succeededAt ?? "1970-01-01") / 1000],
  ["carquet_fetch_source_failed",            "1 if the last fetch from a source failed, else 0.",                   ({ failedSince }) => Number(failedSince !== null)],
  ["carquet_fetch_source_files_waiting",     "Files of a source that are too young, or in days that are not complete.", ({ waiting }) => waiting],
  ["carquet_fetch_source_files_quarantined", "Files of a source that came on the day of the fetch, and are broken or late.", ({ quarantined }) => Object.keys(quarantined).length],
  ["carquet_fetch_source_files_changed",     "Files in the last fetch that lack columns of those before.",          ({ changed }) => changed.length],
  ["carquet_fetch_source_incomplete",        "1 if the day completed last lacks files of a source, else 0.",        (_, name, { completed }) => Number(Object.keys(completed?.missing ?? {}).includes(name))],
];

type Observation = readonly [name: string, type: "histogram" | "gauge", help: string, labels?: readonly string[]];

/** Values that are recorded when something happens. */
// biome-ignore format: a table is read by its columns
const observations = {
  requests:   ["carquet_request_duration_seconds", "histogram", "Time from the arrival of a request to the end of its response.", ["operation", "status"]],
  internal:   ["carquet_internal_operation_duration_seconds", "histogram", "Time of an operation that a page or a tool calls within the process.", ["operation", "status", "caller"]],
  inFlight:   ["carquet_requests_in_flight",       "gauge",     "Requests in progress."],
  waits:      ["carquet_engine_wait_seconds",      "histogram", "Time that a statement waits for a session of the query engine."],
  statements: ["carquet_engine_statement_seconds", "histogram", "Time that a statement runs."],
  flushes:    ["carquet_ledger_flush_seconds",     "histogram", "Time to write to disk what the ledger has committed."],
  version:    ["carquet_lake_version_info",        "gauge",     "1, labelled with the version in service.",                        ["version"]],
  build:      [buildMetric.name,                   "gauge",     buildMetric.help,                                                  buildMetric.labelNames],
} as const satisfies Record<string, Observation>;

/** All metrics but those of the process and Node.js, for the documentation: name, type, labels and help. */
export const metricTable: readonly (readonly [name: string, type: string, labels: readonly string[], help: string])[] =
  [
    ...Object.values<Observation>(observations).map(
      ([name, type, help, labels = []]) => [name, type, labels, help] as const,
    ),
    ...readings.map(([name, type, help]) => [name, type, [], help] as const),
    ...sourceReadings.map(([name, help]) => [name, "gauge", ["source"], help] as const),
  ];

/** Upper bounds of histogram buckets. */
const latencyBuckets = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

export class Metrics {
  private readonly registry = new Registry();
  private readonly requests = this.histogram(observations.requests);
  private readonly internal = this.histogram(observations.internal);
  private readonly inFlight = this.gauge(observations.inFlight);
  private readonly waits = this.histogram(observations.waits);
  private readonly statements = this.histogram(observations.statements);
  private readonly flushes = this.histogram(observations.flushes);

  constructor() {
    collectDefaultMetrics({ register: this.registry });
    this.gauge(observations.build).set(buildLabels(), 1);
  }

  readFrom(sources: MetricSources): void {
    for (const [name, type, help, read] of readings) {
      const registers = [this.registry];
      if (type === "gauge")
        new Gauge({
          name,
          help,
          registers,
          collect() {
            this.set(read(sources));
          },
        });
      else
        new Counter({
          name,
          help,
          registers,
          collect() {
            this.reset();
            this.inc(read(sources));
          },
        });
    }
    for (const [name, help, read] of sourceReadings)
      new Gauge({
        name,
        help,
        labelNames: ["source"],
        registers: [this.registry],
        collect() {
          this.reset();
          const fetch = sources.freshness.lastFetch;
          if (fetch === undefined) return;
          for (const [source, status] of Object.entries(fetch.sources))
            this.set({ source }, read(status, source, fetch));
        },
      });
    const [name, , help, labelNames] = observations.version;
    new Gauge({
      name,
      help,
      labelNames,
      registers: [this.registry],
      collect() {
        this.reset();
        const { version } = sources.current;
        if (version !== undefined) this.set({ version }, 1);
      },
    });
  }

  /** Records a statement of the query engine: how long it waited for a session, and ran. */
  readonly addStatement = (waitMs: number, runMs: number): void => {
    this.waits.observe(waitMs / 1000);
    this.statements.observe(runMs / 1000);
  };

  readonly addFlush = (ms: number): void => this.flushes.observe(ms / 1000);

  /**
   * Starts to measure an operation that is called within the process. Returns a function that ends it with the status that the API would answer, or
   * `abandoned`.
   */
  startInternal(operation: string, caller: "page" | "tool"): (status: string) => void {
    const end = this.internal.startTimer({ operation, caller });
    return (status) => {
      end({ status });
    };
  }

  /** Returns a middleware that measures requests. Those that are no operation of the document count as `other`. */
  measureRequests(): Middleware {
    return (context, next) => {
      const end = this.requests.startTimer();
      this.inFlight.inc();
      context.res.once("close", () => {
        this.inFlight.dec();
        const status = context.res.writableFinished ? String(context.status) : "abandoned";
        end({ operation: context.state.operation ?? "other", status });
      });
      return next();
    };
  }

  text(): Promise<string> {
    return this.registry.metrics();
  }

  private histogram([name, , help, labelNames = []]: Observation): Histogram {
    return new Histogram({ name, help, labelNames, buckets: latencyBuckets, registers: [this.registry] });
  }

  private gauge([name, , help, labelNames = []]: Observation): Gauge {
    return new Gauge({ name, help, labelNames, registers: [this.registry] });
  }
}

/** Returns the Unix time of the day in a version's name, such as `2026-11-20.1`; 0 without a version. */
const asOfSeconds = (version: string | undefined): number =>
  version === undefined ? 0 : Date.parse(`${version.slice(0, 10)}T00:00:00Z`) / 1000;

/**
 * Returns a server that does not listen yet: it answers `/metrics` and the health checks on a separate port, where no client can lock it out, and
 * other paths with 404.
 */
export function createMetricsServer(metrics: Metrics, health: Routes): Server {
  const app = new Koa<RequestState>();
  app.use(health);
  app.use(async (context, next) => {
    if (context.path !== "/metrics") return next();
    context.type = "text/plain; version=0.0.4; charset=utf-8";
    context.body = await metrics.text();
  });
  return createServer(app.callback());
}
