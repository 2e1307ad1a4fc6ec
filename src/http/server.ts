/**
 * The HTTP service over a lake: one Koa application, served until it is told to stop.
 *
 * It answers from the version that is published, whichever it is; it knows HTTP, and of cars only what the query floor tells.
 */
import { createServer, type RequestListener, type Server } from "node:http";
import { createServer as createTlsServer } from "node:https";
import type { AddressInfo } from "node:net";
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
import { reviewDaily } from "./daily-review.ts";
import { docs } from "./docs.ts";
import { health } from "./health.ts";
import { handleErrors } from "./middleware/handle-errors.ts";
import { logRequests } from "./middleware/log-requests.ts";
import { setSecurityHeaders } from "./middleware/security-headers.ts";
import { refuseOtherMethods, refuseUnknownPath, routes } from "./pipeline.ts";
import { ResponseCache } from "./response-cache.ts";
import { systemClock } from "./system-clock.ts";

export interface ServeOptions extends LakeVersionOptions {
  readonly lake: string;
  /** The accounts file; made when there is none. */
  readonly accounts: string;
  readonly host: string;
  /** 0 picks a free one. */
  readonly port: number;
  readonly logger: Logger;
  /** The certificate and its key, in PEM; without them, plain HTTP. */
  readonly tls?: Tls;
  /** How many proxies stand before the service; who asks is told by the first of them. None unless set. */
  readonly proxies?: number;
  readonly clock?: Clock;
  /** How the ledger waits for the disk: FULL, but where it is shown why. */
  readonly synchronous?: Synchronous;
  /** The module that the ledger's thread runs; a test runs one that ends it. */
  readonly ledgerThread?: URL;
  /** A request's headers must have arrived by then. */
  readonly headersMs?: number;
  /** How many bytes of answers are kept; 0 for none. */
  readonly answerBytes?: number;
}

export interface Tls {
  readonly cert: string;
  readonly key: string;
}

export interface RunningService {
  /** Where it listens, for example `http://127.0.0.1:8080`. */
  readonly url: string;
  /** Answers what is in flight, takes nothing new, and resolves when all is closed. */
  stop(): Promise<void>;
}

/** Starts the service; resolves when it listens and what is published is open. Fails when the port is taken. */
export async function serve(options: ServeOptions): Promise<RunningService> {
  const { lake, host, port, logger, tls, proxies = 0, answerBytes = bounds.responseCacheBytes } = options;
  const accounts = await openAccounts(options);
  const current = await CurrentVersion.watch(lake, {
    ...options,
    pollMs: bounds.publishedPollMs,
    onOpen: (version, served) => logger.info({ version, ...served }, "version in service"),
    onFallback: (message) => logger.warn({ message }, "serving file not in use"),
    onFailure: (version, message) =>
      logger.error({ version, message }, "version does not open; serving the one before"),
  });
  const answers = new ResponseCache(answerBytes);
  let isStopping = false;
  const app = new Koa<RequestState>({ proxy: proxies > 0, maxIpsCount: proxies });
  app.use(logRequests(logger));
  app.use(setSecurityHeaders);
  app.use(handleErrors);
  app.use(health(current, answers, () => isStopping));
  app.use(refuseOtherMethods);
  app.use(docs());
  app.use(routes({ current, answers, accounts }));
  app.use(refuseUnknownPath);
  app.on("error", (error: unknown) => logger.warn({ message: messageOf(error) }, "connection"));
  const handle = app.callback();
  const server = serverOf(options, (request, response) => {
    const hasBody = request.headers["content-length"] !== undefined || "transfer-encoding" in request.headers;
    if (isStopping || hasBody) response.setHeader("Connection", "close");
    response.once("close", () => isStopping && setImmediate(() => server.closeIdleConnections()));
    void handle(request, response);
  });
  const stopReviewing = reviewDaily(accounts, logger);
  const close = async (): Promise<void> => {
    await stopReviewing();
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
      isStopping = true;
      await drain(server);
      await close();
    },
  };
}

function openAccounts({
  accounts,
  logger,
  clock = systemClock,
  synchronous = "FULL",
  ledgerThread: thread,
}: ServeOptions): Promise<Accounts> {
  const onChange = (isDown: boolean, why: string): void =>
    isDown
      ? logger.error({ message: why }, "the ledger cannot be used; nothing is answered that has a price")
      : logger.info("the ledger can be used again");
  return Accounts.open(accounts, {
    clock,
    synchronous,
    onAvailabilityChange: onChange,
    ...(thread === undefined ? {} : { workerModule: thread }),
  });
}

function serverOf({ tls, headersMs = bounds.headersMs }: ServeOptions, listener: RequestListener): Server {
  const options = {
    headersTimeout: headersMs,
    requestTimeout: bounds.requestMs,
    connectionsCheckingInterval: Math.min(headersMs, 5_000),
    keepAliveTimeout: bounds.keepAliveMs,
    maxHeaderSize: bounds.headerBytes,
  };
  const server =
    tls === undefined
      ? createServer(options, listener)
      : createTlsServer({ ...options, ...tls, minVersion: "TLSv1.2" }, listener);
  server.maxHeadersCount = bounds.headers;
  server.maxConnections = bounds.connections;
  return server;
}

function listen(server: Server, host: string, port: number): Promise<void> {
  return new Promise((listening, failed) => {
    server.once("error", (error) => failed(new UserError(`cannot listen on ${host}:${port}: ${error.message}.`)));
    server.listen({ host, port }, listening);
  });
}

function portOf(server: Server): number {
  const address: AddressInfo | string | null = server.address();
  return typeof address === "object" && address !== null ? address.port : 0;
}

/** Closes a server when the requests in flight have been answered, or when they have had their time. */
function drain(server: Server): Promise<void> {
  return new Promise((drained) => {
    const timer = setTimeout(() => server.closeAllConnections(), bounds.drainMs);
    server.close(() => {
      clearTimeout(timer);
      drained();
    });
    server.closeIdleConnections();
  });
}
