/**
 * HTTP server: one Koa application over a lake and an accounts file, until it is stopped. It serves the published version and
 * switches to new ones as they appear. It never writes to the lake.
 */
import type { Server as PlainServer } from "node:net";
import Koa from "koa";
import type { Logger } from "pino";
import type { Accounts } from "../accounts/accounts.ts";
import type { Sessions } from "../accounts/sign-in/sign-in.ts";
import { clientNetwork } from "../base/client-network.ts";
import { orAborted, withTimeLimit } from "../base/time-limit.ts";
import { inShareOf } from "../base/turns.ts";
import { messageOf } from "../base/user-error.ts";
import type { Middleware, RequestState } from "./context.ts";
import { serveDocs } from "./docs/docs.ts";
import { requestSender } from "./inner-requests.ts";
import { operationCallerOf } from "./internal-calls.ts";
import { drainTimeoutMs } from "./limits.ts";
import { compressResponses } from "./middleware/compress-responses.ts";
import { handleErrors } from "./middleware/handle-errors.ts";
import { logRequests } from "./middleware/log-requests.ts";
import {
  endUnrouted,
  refuseCodings,
  refuseLongUri,
  refuseMalformedUrl,
  refuseOtherHost,
  refuseOtherSites,
} from "./middleware/refuse-requests.ts";
import { allowOrigins, setSecurityHeaders } from "./middleware/set-headers.ts";
import { routes } from "./pipeline.ts";
import { startMessages } from "./searches/deliver.ts";
import { refuseExcess } from "./service/connections.ts";
import { closeConnections, type DrainLimits, drainer } from "./service/drain.ts";
import { type Readiness, readinessOf, serveHealth } from "./service/health.ts";
import { createHttpServer, listen, listenWidely, replaceCertificate, type Tls, urlOf } from "./service/http-server.ts";
import { createMetricsServer } from "./service/metrics.ts";
import { type AppState, closeState, openState, type ServeOptions, webhooksOf } from "./service/service-state.ts";
import { systemClock } from "./service/system-clock.ts";

/** How often the service checks whether a review of tiers is due. */
const reviewPollMs = 60_000;

/** How long the lake and the accounts file may take to close; what still hangs is killed. */
export const closeMs = 5_000;

export interface RunningService {
  /** The URL of the listening socket, for example `http://127.0.0.1:8080`. */
  readonly url: string;
  readonly metricsUrl: string | undefined;
  readonly sessions: Sessions;
  /** Stops accepting requests, finishes those in flight, and resolves when everything is closed. Rejects if something hangs. */
  stop(): Promise<void>;
  /** Replaces the certificate of new connections. Throws an Error, and keeps the previous one, if it is invalid or the service uses plain HTTP. */
  replaceCertificate(tls: Tls): void;
}

/** Starts the service. Resolves when it listens and the published version is open. Throws a UserError if the port is taken. */
export async function serve(options: ServeOptions): Promise<RunningService> {
  const { host, port, metricsPort, tls } = options;
  const state = await openState(options);
  const readiness = readinessOf(state.current, state.responseCache, {
    freshness: state.freshness,
    isStopping: () => state.isStopping,
    ledgerFaults: () => state.accounts.faults,
  });
  const server = createHttpServer(options, createApp(options, state, readiness), state.connections);
  const metricsServer = createMetricsServer(state.metrics, serveHealth(readiness));
  const drain = drainer(server);
  const stopWork = startBackgroundWork(state, options);
  const close = async (): Promise<void> => {
    metricsServer.close().closeAllConnections();
    await stopWork();
    await closeState(state);
  };
  let listening: readonly PlainServer[] = [server];
  try {
    listening = await listenWidely(server, host, port);
    if (metricsPort !== undefined)
      await listen(metricsServer, { host, port: metricsPort }, "--metrics-port or CARQUET_METRICS_PORT");
  } catch (thrown) {
    for (const one of listening) one.close();
    await close();
    throw thrown;
  }
  const url = urlOf(server, host, tls === undefined ? "http" : "https");
  if (state.baseUrl === "") state.baseUrl = url;
  return {
    url,
    sessions: state.sessions,
    metricsUrl: metricsPort === undefined ? undefined : `${urlOf(metricsServer, host, "http")}/metrics`,
    async stop() {
      state.isStopping = true;
      await drain(listening, drainLimits(options, state));
      const error = new Error(`The accounts file or the lake could not be closed within ${closeMs / 1000} seconds.`);
      await withTimeLimit({ ms: closeMs, error }, (signal) => orAborted(signal, close()));
    },
    replaceCertificate: (renewed) => replaceCertificate(server, renewed),
  };
}

/** Returns the names of a service: the address that it listens on, and the host of its public URL. */
const namesOf = (host: string, publicUrl: string | undefined): readonly string[] => [
  host.includes(":") ? `[${host}]` : host,
  ...(publicUrl === undefined ? [] : [new URL(publicUrl).hostname]),
];

/** Starts the tier reviews and the messages. Returns a function that stops both. */
function startBackgroundWork(state: AppState, options: ServeOptions): () => Promise<unknown> {
  const { logger, clock = systemClock } = options;
  const callOperation = operationCallerOf(state, state.metrics);
  const stopReviews = startDailyReviews(state.accounts, logger);
  const stopMessages = startMessages({ ...state, callOperation, logger, clock, webhooks: webhooksOf(options) });
  return () => Promise.all([stopReviews(), stopMessages()]);
}

/**
 * Starts the daily tier reviews, and the purge of expired rows of the accounts file: polls the ledger, which reviews each UTC day once. Returns a
 * function that stops that and resolves when no review is running.
 */
function startDailyReviews(accounts: Accounts, logger: Logger): () => Promise<void> {
  let running = Promise.resolve();
  const review = (): void => {
    running = accounts
      .review()
      .then((results) => {
        for (const { accountId, from, to, outcome } of results)
          logger.info({ account: accountId, from, to, outcome }, "tier review");
        return accounts.purgeExpired();
      })
      .catch((thrown: unknown) => logger.warn({ error: messageOf(thrown) }, "tier review failed; retrying later"));
  };
  review();
  const timer = setInterval(review, reviewPollMs);
  return () => {
    clearInterval(timer);
    return running;
  };
}

const drainLimits = (
  { drainDelayMs: delayMs = 0, drainTimeoutMs: timeoutMs = drainTimeoutMs, trustedProxies = 0 }: ServeOptions,
  state: AppState,
): DrainLimits => ({
  delayMs,
  timeoutMs,
  pause() {
    let release = (): void => undefined;
    if (trustedProxies > 0) state.isRefusing = true;
    else
      state.held = new Promise((resolve) => {
        release = resolve;
      });
    return () => release();
  },
});

/** Counts what a request takes for its account; before that is known, for the address of its client. */
const shareByAccount: Middleware = (context, next) =>
  inShareOf(() => context.state.identity?.key.accountId ?? clientNetwork(context.ip), next);

function createApp(options: ServeOptions, state: AppState, readiness: () => Readiness): Koa<RequestState> {
  const { logger, host, trustedProxies = 0, publicUrl, corsOrigins = [], mountSite = () => undefined } = options;
  const app = new Koa<RequestState>({ proxy: trustedProxies > 0, maxIpsCount: trustedProxies });
  app.use(shareByAccount);
  app.use(logRequests(logger));
  app.use(state.metrics.measureRequests());
  app.use(closeConnections(state));
  app.use(setSecurityHeaders);
  app.use(compressResponses);
  app.use(handleErrors);
  if (corsOrigins.length > 0) app.use(allowOrigins(corsOrigins));
  app.use(refuseMalformedUrl);
  app.use(refuseOtherHost);
  app.use(refuseCodings);
  app.use(serveHealth(readiness));
  app.use(refuseExcess(state.connections));
  app.use(refuseLongUri);
  if (state.accounts.isOpen) app.use(refuseOtherSites(namesOf(host, publicUrl), corsOrigins));
  const api = routes(state);
  // Behind a proxy, all browsers seem to be on this machine.
  const hasDemo = publicUrl === undefined && trustedProxies === 0;
  mountSite(app, {
    ...state,
    publicUrl,
    host,
    corsOrigins,
    readiness,
    demoAccountId: hasDemo ? options.demoAccountId : undefined,
    demoKey: hasDemo ? options.demoKey : undefined,
    queue: options.queue,
    isExplorerFree: options.isExplorerFree ?? false,
    photos: options.photos ?? "off",
    sourceMappings: options.sourceMappings,
    callOperation: operationCallerOf(state, state.metrics),
    sendRequest: requestSender(app, api, state.metrics),
  });
  app.use(serveDocs());
  app.use(api);
  app.use(endUnrouted);
  app.on("error", (error: unknown) => logger.warn({ error: messageOf(error) }, "connection error"));
  return app;
}
