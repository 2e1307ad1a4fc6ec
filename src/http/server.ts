/**
 * HTTP server: one Koa application over a lake and an accounts file, until it is stopped. It serves the published version and
 * switches to new ones as they appear. It never writes to the lake.
 */
import { createServer, type RequestListener, type Server } from "node:http";
import { createServer as createTlsServer } from "node:https";
import type { AddressInfo, Socket } from "node:net";
import { setTimeout as pause } from "node:timers/promises";
import Koa from "koa";
import type { Logger } from "pino";
import { Accounts } from "../accounts/accounts.ts";
import type { Clock } from "../accounts/clock.ts";
import { bounds } from "../base/bounds.ts";
import { messageOf, UserError } from "../base/user-error.ts";
import type { Synchronous } from "../db/sqlite.ts";
import { CurrentVersion } from "../serving/current-version.ts";
import type { LakeVersionOptions } from "../serving/lake-version.ts";
import type { ScrubOptions } from "../serving/scrub.ts";
import { type ConnectionLimits, Connections, connectionsWithin, descriptorLimit, refuseExcess } from "./connections.ts";
import type { RequestState } from "./context.ts";
import { startDailyReviews } from "./daily-review.ts";
import { serveDocs } from "./docs.ts";
import { serveHealth } from "./health.ts";
import type { AdmissionBounds } from "./middleware/admit.ts";
import { handleErrors } from "./middleware/handle-errors.ts";
import { logRequests } from "./middleware/log-requests.ts";
import { setSecurityHeaders } from "./middleware/security-headers.ts";
import { type PipelineServices, refuseOtherMethods, refuseUnknownPath, routes } from "./pipeline.ts";
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
  /** Size of the response cache; 0 disables it. */
  readonly responseCacheBytes?: number;
  /** How the files of the lake are read again in the background. */
  readonly scrub?: ScrubOptions | undefined;
}

/** Certificate and private key, in PEM. */
export interface Tls {
  readonly cert: string;
  readonly key: string;
}

export interface RunningService {
  /** The URL of the listening socket, for example `http://127.0.0.1:8080`. */
  readonly url: string;
  /** Stops accepting requests, finishes those in flight, and resolves when everything is closed. Rejects if something hangs. */
  stop(): Promise<void>;
}

/** Services of the application, its connections, and whether it is shutting down. */
interface AppState extends PipelineServices {
  readonly connections: Connections;
  isStopping: boolean;
}

/** Starts the service. Resolves when it listens and the published version is open. Throws a UserError if the port is taken. */
export async function serve(options: ServeOptions): Promise<RunningService> {
  const { host, port, logger, tls, responseCacheBytes = bounds.responseCacheBytes } = options;
  const accounts = await openAccounts(options);
  const responseCache = new ResponseCache(responseCacheBytes);
  const current = await watchLake(options, responseCache);
  const state: AppState = {
    current,
    responseCache,
    accounts,
    admission: { ...bounds, ...options },
    connections: new Connections(connectionLimits(options)),
    isStopping: false,
  };
  const closeIdle = (): void => server.closeIdleConnections();
  const listener = createListener(createApp(options, state), state, { ...bounds, ...options, closeIdle });
  const server = createHttpServer(options, listener, state.connections);
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
      await drain(server);
      await within(bounds.closeMs, close(), "The accounts file or the lake");
    },
  };
}

function createApp({ logger, trustedProxies = 0 }: ServeOptions, state: AppState): Koa<RequestState> {
  const app = new Koa<RequestState>({ proxy: trustedProxies > 0, maxIpsCount: trustedProxies });
  app.use(logRequests(logger));
  app.use(setSecurityHeaders);
  app.use(handleErrors);
  const isLedgerAvailable = (): boolean => state.accounts.isAvailable;
  app.use(serveHealth(state.current, state.responseCache, { isStopping: () => state.isStopping, isLedgerAvailable }));
  app.use(refuseExcess(state.connections));
  app.use(refuseOtherMethods);
  app.use(serveDocs());
  app.use(routes(state));
  app.use(refuseUnknownPath);
  app.on("error", (error: unknown) => logger.warn({ message: messageOf(error) }, "connection error"));
  return app;
}

interface ListenerOptions {
  readonly responseTimeoutMs?: number;
  readonly closeIdle: () => void;
}

/**
 * Closes a connection after its response if the request has a body, which is never read, if the connection is beyond a limit, and if the
 * service is stopping. Ignores what is pipelined behind such a response. Closes a connection whose response takes too long.
 */
function createListener(
  app: Koa<RequestState>,
  state: AppState,
  { responseTimeoutMs = bounds.responseMs, closeIdle }: ListenerOptions,
): RequestListener {
  const handle = app.callback();
  const closing = new WeakSet<Socket>();
  return (request, response) => {
    const { headers, socket } = request;
    if (closing.has(socket)) return;
    const hasBody = headers["content-length"] !== undefined || "transfer-encoding" in headers;
    if (state.isStopping || hasBody || state.connections.isExcess(socket)) response.setHeader("Connection", "close");
    const timer = setTimeout(() => socket.destroy(), responseTimeoutMs);
    response.once("close", () => {
      clearTimeout(timer);
      if (state.isStopping) setImmediate(closeIdle);
    });
    void handle(request, response);
    if (response.getHeader("Connection") === "close") closing.add(socket);
  };
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
  connections: Connections,
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
      : createTlsServer({ ...options, ...tls, minVersion: "TLSv1.2", handshakeTimeout: headersTimeoutMs }, listener);
  server.maxHeadersCount = bounds.headers;
  server.on("connection", (socket: Socket) => connections.add(socket));
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

/** Closes a server. Resolves when the requests in flight have finished; cuts connections in time for the rest of `bounds.drainMs`. */
function drain(server: Server): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => server.closeAllConnections(), bounds.drainMs - bounds.closeMs);
    server.close(() => {
      clearTimeout(timer);
      resolve();
    });
    server.closeIdleConnections();
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
