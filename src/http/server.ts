/**
 * HTTP server: one Koa application over a lake and an accounts file, until it is stopped. It serves the published version and
 * switches to new ones as they appear. It never writes to the lake.
 */
import { createServer, type RequestListener, type Server } from "node:http";
import { createServer as createTlsServer, Server as TlsServer } from "node:https";
import type { AddressInfo } from "node:net";
import { createSecureContext } from "node:tls";
import Koa from "koa";
import type { Logger } from "pino";
import { Accounts } from "../accounts/accounts.ts";
import type { Clock } from "../accounts/clock.ts";
import { bounds } from "../base/bounds.ts";
import { messageOf, UserError } from "../base/user-error.ts";
import type { Synchronous } from "../db/sqlite.ts";
import { CurrentVersion } from "../serving/current-version.ts";
import type { LakeVersionOptions } from "../serving/lake-version.ts";
import type { RequestState } from "./context.ts";
import { startDailyReviews } from "./daily-review.ts";
import { serveDocs } from "./docs.ts";
import { drainer } from "./drain.ts";
import { serveHealth } from "./health.ts";
import { closeConnections } from "./middleware/close-connections.ts";
import { compressResponses } from "./middleware/compress-responses.ts";
import { handleErrors } from "./middleware/handle-errors.ts";
import { logRequests } from "./middleware/log-requests.ts";
import { setSecurityHeaders } from "./middleware/security-headers.ts";
import { type PipelineServices, refuseOtherMethods, refuseUnknownPath, routes } from "./pipeline.ts";
import { ResponseCache } from "./response-cache.ts";
import { systemClock } from "./system-clock.ts";

export interface ServeOptions extends LakeVersionOptions {
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
  /** How long a stopping service continues to accept requests. 0 by default. */
  readonly drainDelayMs?: number;
  /** How long it then waits for requests in flight. */
  readonly drainTimeoutMs?: number;
  /** Size of the response cache; 0 disables it. */
  readonly responseCacheBytes?: number;
}

/** Certificate and private key, in PEM. */
export interface Tls {
  readonly cert: string;
  readonly key: string;
}

export interface RunningService {
  /** The URL of the listening socket, for example `http://127.0.0.1:8080`. */
  readonly url: string;
  /** Stops accepting requests, finishes those in flight, and resolves when everything is closed. */
  stop(): Promise<void>;
  /** Replaces the certificate of new connections. Throws an Error, and keeps the previous one, if it is invalid or the service uses plain HTTP. */
  replaceCertificate(tls: Tls): void;
}

const minTlsVersion = "TLSv1.2" as const;

/** Services of the application, and whether it is shutting down. */
interface AppState extends PipelineServices {
  isStopping: boolean;
}

/** Starts the service. Resolves when it listens and the published version is open. Throws a UserError if the port is taken. */
export async function serve(options: ServeOptions): Promise<RunningService> {
  const { host, port, logger, tls, responseCacheBytes = bounds.responseCacheBytes } = options;
  const { drainDelayMs: delayMs = 0, drainTimeoutMs: timeoutMs = bounds.drainMs } = options;
  const accounts = await openAccounts(options);
  const current = await watchLake(options);
  const responseCache = new ResponseCache(responseCacheBytes);
  const state: AppState = { current, responseCache, accounts, isStopping: false };
  const closeIdle = (): void => {
    if (!server.listening) server.closeIdleConnections();
  };
  const server = createHttpServer(options, createListener(createApp(options, state), state, closeIdle));
  const drain = drainer(server);
  const stopReviews = startDailyReviews(accounts, logger);
  const close = async (): Promise<void> => {
    await stopReviews();
    await Promise.all([current.close(), accounts.close()]);
  };
  try {
    await listen(server, host, port);
  } catch (thrown) {
    await close();
    throw thrown;
  }
  return {
    url: `${tls === undefined ? "http" : "https"}://${host.includes(":") ? `[${host}]` : host}:${portOf(server)}`,
    async stop() {
      state.isStopping = true;
      await drain({ delayMs, timeoutMs });
      await close();
    },
    replaceCertificate: (renewed) => replaceCertificate(server, renewed),
  };
}

function createApp({ logger, trustedProxies = 0 }: ServeOptions, state: AppState): Koa<RequestState> {
  const app = new Koa<RequestState>({ proxy: trustedProxies > 0, maxIpsCount: trustedProxies });
  app.use(logRequests(logger));
  app.use(closeConnections(() => state.isStopping));
  app.use(setSecurityHeaders);
  app.use(compressResponses);
  app.use(handleErrors);
  app.use(serveHealth(state.current, state.responseCache, () => state.isStopping));
  app.use(refuseOtherMethods);
  app.use(serveDocs());
  app.use(routes(state));
  app.use(refuseUnknownPath);
  app.on("error", (error: unknown) => logger.warn({ message: messageOf(error) }, "connection error"));
  return app;
}

/** Closes a connection after its response if the request has a body, which is never read; closes idle ones once the port is closed. */
function createListener(app: Koa<RequestState>, state: AppState, closeIdle: () => void): RequestListener {
  const handle = app.callback();
  return (request, response) => {
    const hasBody = request.headers["content-length"] !== undefined || "transfer-encoding" in request.headers;
    if (hasBody) response.setHeader("Connection", "close");
    response.once("close", () => state.isStopping && setImmediate(closeIdle));
    void handle(request, response);
  };
}

function watchLake(options: ServeOptions): Promise<CurrentVersion> {
  const { lake, logger } = options;
  return CurrentVersion.watch(lake, {
    ...options,
    pollMs: bounds.publishedPollMs,
    onOpen: (version, served) => logger.info({ version, ...served }, "version in service"),
    onFallback: (message) => logger.warn({ message }, "serving file not in use"),
    onFailure: (version, message) =>
      logger.error({ version, message }, "version cannot be opened; still serving the previous one"),
  });
}

function openAccounts({
  accounts,
  logger,
  clock = systemClock,
  synchronous = "FULL",
  ledgerThread: thread,
}: ServeOptions): Promise<Accounts> {
  const onChange = (isDown: boolean, reason: string): void =>
    isDown
      ? logger.error({ message: reason }, "ledger unavailable; metered requests are refused")
      : logger.info("ledger available again");
  return Accounts.open(accounts, {
    clock,
    synchronous,
    onAvailabilityChange: onChange,
    ...(thread === undefined ? {} : { workerModule: thread }),
  });
}

function createHttpServer(
  { tls, headersTimeoutMs = bounds.headersMs }: ServeOptions,
  listener: RequestListener,
): Server {
  const options = {
    headersTimeout: headersTimeoutMs,
    requestTimeout: bounds.requestMs,
    connectionsCheckingInterval: Math.min(headersTimeoutMs, 5_000),
    keepAliveTimeout: bounds.keepAliveMs,
    maxHeaderSize: bounds.headerBytes,
  };
  const server =
    tls === undefined
      ? createServer(options, listener)
      : createTlsServer({ ...options, ...tls, minVersion: minTlsVersion }, listener);
  server.maxHeadersCount = bounds.headers;
  server.maxConnections = bounds.connections;
  return server;
}

function listen(server: Server, host: string, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once("error", (error) => reject(new UserError(`cannot listen on ${host}:${port}: ${error.message}.`)));
    server.listen({ host, port }, resolve);
  });
}

function portOf(server: Server): number {
  const address: AddressInfo | string | null = server.address();
  return typeof address === "object" && address !== null ? address.port : 0;
}

/** Replaces the certificate of a TLS server, after a check that throws. */
function replaceCertificate(server: Server, tls: Tls): void {
  if (!(server instanceof TlsServer))
    throw new Error("No TLS: expected a service that was started with a certificate.");
  const context = { ...tls, minVersion: minTlsVersion };
  createSecureContext(context);
  server.setSecureContext(context);
}
