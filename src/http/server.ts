/**
 * HTTP server: one Koa application over a lake and an accounts file, until it is stopped. It serves the published version and
 * switches to new ones as they appear. It never writes to the lake.
 */
import { setTimeout as pause } from "node:timers/promises";
import Koa from "koa";
import type { Logger } from "pino";
import { Accounts } from "../accounts/accounts.ts";
import type { Clock } from "../accounts/clock.ts";
import { Sessions } from "../accounts/sessions.ts";
import { SignIn } from "../accounts/sign-in/sign-in.ts";
import { bounds } from "../base/bounds.ts";
import { messageOf } from "../base/user-error.ts";
import type { Synchronous } from "../db/sqlite.ts";
import { TableEncoder } from "../formats/table-formats.ts";
import { CurrentVersion } from "../serving/current-version.ts";
import type { LakeVersionOptions } from "../serving/lake-version.ts";
import type { ScrubOptions } from "../serving/scrub.ts";
import { type AskOperation, operationsThrough } from "./ask.ts";
import { type ConnectionLimits, Connections, connectionsWithin, descriptorLimit, refuseExcess } from "./connections.ts";
import type { RequestState } from "./context.ts";
import { startDailyReviews } from "./daily-review.ts";
import { serveDocs } from "./docs.ts";
import { drainer } from "./drain.ts";
import { type Readiness, readinessOf, serveHealth } from "./health.ts";
import { createHttpServer, listen, replaceCertificate, type Tls, urlOf } from "./http-server.ts";
import { Metrics } from "./metrics.ts";
import { createMetricsServer } from "./metrics-server.ts";
import type { AdmissionBounds } from "./middleware/admit.ts";
import { closeConnections } from "./middleware/close-connections.ts";
import { compressResponses } from "./middleware/compress-responses.ts";
import { handleErrors } from "./middleware/handle-errors.ts";
import { logRequests } from "./middleware/log-requests.ts";
import { refuseLongUri } from "./middleware/refuse-long-uri.ts";
import { setSecurityHeaders } from "./middleware/security-headers.ts";
import { meteredPipelines, type PipelineServices, refuseOtherMethods, refuseUnknownPath, routes } from "./pipeline.ts";
import { ResponseCache } from "./response-cache.ts";
import { systemClock } from "./system-clock.ts";

export interface ServeOptions
  extends LakeVersionOptions,
    Partial<AdmissionBounds>,
    Partial<Pick<ConnectionLimits, "connectionsMost">> {
  readonly lake: string;
  /** The accounts file; created if it does not exist. */
  readonly accounts: string;
  readonly host: string;
  /** 0 for any free port. */
  readonly port: number;
  readonly logger: Logger;
  /** Plain HTTP if absent. */
  readonly tls?: Tls;
  /** Number of reverse proxies whose `X-Forwarded-*` headers are trusted. 0 by default. */
  readonly trustedProxies?: number;
  readonly clock?: Clock;
  /** The ledger's `PRAGMA synchronous`. FULL by default; anything less can lose charges. */
  readonly synchronous?: Synchronous;
  /** The module of the ledger worker, for tests that end it. */
  readonly ledgerThread?: URL;
  /** Time limit for the arrival of a request's headers. */
  readonly headersTimeoutMs?: number;
  /** Time limit from the arrival of a request to the end of its response. */
  readonly responseTimeoutMs?: number;
  /** The most open connections of one client address; 0 for no limit. Does not apply behind a trusted proxy. */
  readonly connectionsPerAddress?: number;
  /** How long a stopping service continues to accept requests. 0 by default. */
  readonly drainDelayMs?: number;
  /** How long it then waits for requests in flight. */
  readonly drainTimeoutMs?: number;
  /** Size of the response cache; 0 disables it. */
  readonly responseCacheBytes?: number;
  /** Port of the metrics server; 0 for any free port. Without it, no metrics are served. */
  readonly metricsPort?: number | undefined;
  /** Returns the number of log lines that were dropped, for the metrics. */
  readonly droppedLogLines?: () => number;
  /** How the files of the lake are read again in the background. */
  readonly scrub?: ScrubOptions | undefined;
  /** Adds the middleware of the web application; none by default. */
  readonly mountSite?: (app: Koa<RequestState>, services: SiteServices) => void;
}

/** What the web application needs of the service. */
export interface SiteServices {
  readonly accounts: Accounts;
  readonly sessions: Sessions;
  readonly signIn: SignIn;
  readonly current: CurrentVersion;
  readonly ask: AskOperation;
  readonly readiness: () => Readiness;
}

export interface RunningService {
  /** The URL of the listening socket, for example `http://127.0.0.1:8080`. */
  readonly url: string;
  /** The URL of the metrics; undefined if they are not served. */
  readonly metricsUrl: string | undefined;
  /** The signed-in browsers. */
  readonly sessions: Sessions;
  /** Stops accepting requests, finishes those in flight, and resolves when everything is closed. Rejects if something hangs. */
  stop(): Promise<void>;
  /** Replaces the certificate of new connections. Throws an Error, and keeps the previous one, if it is invalid or the service uses plain HTTP. */
  replaceCertificate(tls: Tls): void;
}

/** Services of the application, its connections, and whether it is shutting down. */
interface AppState extends PipelineServices {
  readonly connections: Connections;
  readonly metrics: Metrics;
  readonly sessions: Sessions;
  readonly signIn: SignIn;
  isStopping: boolean;
}

/** Starts the service. Resolves when it listens and the published version is open. Throws a UserError if the port is taken. */
export async function serve(options: ServeOptions): Promise<RunningService> {
  const { host, port, metricsPort, logger, tls } = options;
  const { drainDelayMs: delayMs = 0, drainTimeoutMs: timeoutMs = bounds.drainMs } = options;
  const state = await openState(options);
  const readiness = readinessOf(state.current, state.responseCache, {
    isStopping: () => state.isStopping,
    isLedgerAvailable: () => state.accounts.isAvailable,
  });
  const server = createHttpServer(options, createApp(options, state, readiness), state.connections);
  const metricsServer = createMetricsServer(state.metrics, serveHealth(readiness));
  const drain = drainer(server);
  const stopReviews = startDailyReviews(state.accounts, logger);
  const close = async (): Promise<void> => {
    metricsServer.close().closeAllConnections();
    await stopReviews();
    await Promise.all([state.current.close(), state.accounts.close(), state.encoder.close()]);
  };
  try {
    await listen(server, host, port);
    if (metricsPort !== undefined) await listen(metricsServer, host, metricsPort);
  } catch (thrown) {
    server.close();
    await close();
    throw thrown;
  }
  return {
    url: urlOf(server, host, tls === undefined ? "http" : "https"),
    sessions: state.sessions,
    metricsUrl: metricsPort === undefined ? undefined : `${urlOf(metricsServer, host, "http")}/metrics`,
    async stop() {
      state.isStopping = true;
      await drain({ delayMs, timeoutMs });
      await within(bounds.closeMs, close(), "The accounts file or the lake");
    },
    replaceCertificate: (renewed) => replaceCertificate(server, renewed),
  };
}

/** Opens the accounts file and the lake. */
async function openState(options: ServeOptions): Promise<AppState> {
  const { responseCacheBytes = bounds.responseCacheBytes, droppedLogLines = () => 0 } = options;
  const metrics = new Metrics();
  const accounts = await openAccounts(options, metrics);
  const responseCache = new ResponseCache(responseCacheBytes);
  const current = await watchLake({ ...options, onStatement: metrics.addStatement }, responseCache);
  const connections = new Connections(connectionLimits(options));
  metrics.readFrom({ current, responseCache, accounts, connections, droppedLogLines });
  const admission = { ...bounds, ...options };
  return {
    current,
    responseCache,
    encoder: new TableEncoder(),
    accounts,
    sessions: new Sessions(accounts.administration),
    signIn: new SignIn(accounts.administration, options.clock ?? systemClock),
    metrics,
    admission,
    connections,
    isStopping: false,
  };
}

function createApp(
  { logger, trustedProxies = 0, mountSite = () => undefined }: ServeOptions,
  state: AppState,
  readiness: () => Readiness,
): Koa<RequestState> {
  const app = new Koa<RequestState>({ proxy: trustedProxies > 0, maxIpsCount: trustedProxies });
  app.use(logRequests(logger));
  app.use(state.metrics.measureRequests());
  app.use(closeConnections(() => state.isStopping));
  app.use(setSecurityHeaders);
  app.use(compressResponses);
  app.use(handleErrors);
  app.use(serveHealth(readiness));
  app.use(refuseExcess(state.connections));
  app.use(refuseLongUri);
  const metered = meteredPipelines(state);
  mountSite(app, { ...state, ask: operationsThrough(metered), readiness });
  app.use(refuseOtherMethods);
  app.use(serveDocs());
  app.use(routes(state.accounts, metered));
  app.use(refuseUnknownPath);
  app.on("error", (error: unknown) => logger.warn({ message: messageOf(error) }, "connection error"));
  return app;
}

/** The total is derived from the limit of file descriptors. Connections of a trusted proxy are not those of one client. */
function connectionLimits({
  connectionsMost = connectionsWithin(descriptorLimit()),
  connectionsPerAddress: perAddressMost = bounds.connectionsPerAddress,
  trustedProxies = 0,
}: ServeOptions): ConnectionLimits {
  const limits = { connectionsMost, healthMost: bounds.healthConnections };
  return trustedProxies > 0 || perAddressMost === 0 ? limits : { ...limits, perAddressMost };
}

function watchLake(options: ServeOptions, responseCache: ResponseCache): Promise<CurrentVersion> {
  const { lake, logger } = options;
  return CurrentVersion.watch(lake, {
    ...options,
    pollMs: bounds.publishedPollMs,
    onOpen: (version, served) => logger.info({ version, ...served }, "version in service"),
    onFallback: (message) => logger.warn({ message }, "serving file not in use"),
    onDamage: (fault) => {
      logger.error({ message: fault }, "damaged file");
      // A response may have been computed from the file after it was damaged.
      responseCache.clear();
    },
    onFailure: (version, message) =>
      logger.error({ version, message }, "version cannot be opened; still serving the previous one"),
  });
}

function openAccounts(
  { accounts, logger, clock = systemClock, synchronous = "FULL", ledgerThread: thread }: ServeOptions,
  metrics: Metrics,
): Promise<Accounts> {
  const onChange = (isDown: boolean, reason: string): void =>
    isDown
      ? logger.error({ message: reason }, "ledger unavailable; metered requests are refused")
      : logger.info("ledger available again");
  return Accounts.open(accounts, {
    clock,
    synchronous,
    onAvailabilityChange: onChange,
    onBatch: metrics.addBatch,
    ...(thread === undefined ? {} : { workerModule: thread }),
  });
}

/** Waits for work. Throws if it takes longer. */
async function within(timeoutMs: number, work: Promise<unknown>, what: string): Promise<void> {
  const timer = new AbortController();
  const late = pause(timeoutMs, undefined, { signal: timer.signal }).then(() => {
    throw new Error(`${what} could not be closed within ${timeoutMs / 1000} seconds.`);
  });
  try {
    await Promise.race([work, late]);
  } finally {
    timer.abort();
    late.catch(() => undefined);
  }
}
