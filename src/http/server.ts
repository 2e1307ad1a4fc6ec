/**
 * The HTTP service over a lake: one Koa application, served until it is told to stop.
 *
 * It answers from the version that is published, whichever it is; it knows HTTP, and of cars only what the query floor tells.
 */
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import Koa from "koa";
import type { Logger } from "pino";
import { bounds } from "../base/bounds.ts";
import { Failure, messageOf } from "../base/failure.ts";
import type { MarketOptions } from "../lake/market.ts";
import { Published } from "../lake/published.ts";
import type { State } from "./exchange.ts";
import { explain } from "./explain.ts";
import { health } from "./health.ts";
import { logRequests } from "./log.ts";
import { refuseOtherMethods, refuseUnknownPath, routes } from "./pipeline.ts";

export interface ServeOptions extends MarketOptions {
  readonly lake: string;
  readonly host: string;
  /** 0 picks a free one. */
  readonly port: number;
  readonly logger: Logger;
}

export interface Service {
  /** Where it listens, for example `http://127.0.0.1:8080`. */
  readonly url: string;
  /** Answers what is in flight, takes nothing new, and resolves when all is closed. */
  stop(): Promise<void>;
}

/** Starts the service; resolves when it listens and what is published is open. Fails when the port is taken. */
export async function serve({ lake, host, port, logger, ...market }: ServeOptions): Promise<Service> {
  const published = await Published.watch(lake, {
    ...market,
    pollMs: bounds.publishedPollMs,
    onOpen: (version) => logger.info({ version }, "version in service"),
    onFailure: (version, message) =>
      logger.error({ version, message }, "version does not open; serving the one before"),
  });
  let isStopping = false;
  const app = new Koa<State>();
  app.use(logRequests(logger));
  app.use(explain);
  app.use(health(published, () => isStopping));
  app.use(refuseOtherMethods);
  app.use(routes(published));
  app.use(refuseUnknownPath);
  app.on("error", (error: unknown) => logger.warn({ message: messageOf(error) }, "connection"));
  const handle = app.callback();
  const server = createServer(
    { headersTimeout: bounds.headersMs, keepAliveTimeout: bounds.keepAliveMs },
    (request, response) => {
      if (isStopping) response.setHeader("Connection", "close");
      response.once("close", () => isStopping && setImmediate(() => server.closeIdleConnections()));
      void handle(request, response);
    },
  );
  try {
    await listen(server, host, port);
  } catch (thrown) {
    await published.close();
    throw thrown;
  }
  return {
    url: `http://${host.includes(":") ? `[${host}]` : host}:${portOf(server)}`,
    async stop() {
      isStopping = true;
      await drain(server);
      await published.close();
    },
  };
}

function listen(server: Server, host: string, port: number): Promise<void> {
  return new Promise((listening, failed) => {
    server.once("error", (error) => failed(new Failure(`cannot listen on ${host}:${port}: ${error.message}.`)));
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
