/**
 * Shutdown of an HTTP server without failed requests: it continues to answer for a while, so that load balancers and keep-alive clients
 * learn that it stops, then closes its port, its idle connections and, after the requests in flight, the others.
 *
 * A port that clients still connect to cannot be closed without losing some: the system resets connections that it has accepted and the process has
 * not. So behind a proxy the service first refuses requests, until the proxy sends none. Without one, the requests that arrive wait for their responses
 * until the port is closed: clients that send one request after the other open no further connections meanwhile.
 */
import type { Server } from "node:http";
import type { Server as PlainServer, Socket } from "node:net";
import { setImmediate as nextTurn, setTimeout as sleep } from "node:timers/promises";
import type { Middleware } from "../context.ts";
import { peerOf } from "./connections.ts";

/** Behind a proxy: the time without a request after which the port is closed. */
const quietMs = 300;

/** Behind a proxy: the longest wait for it, below the time that proxies avoid a failed server (nginx: `fail_timeout`). */
const refusingMs = 1_500;

/** Without a proxy: the time without a new connection after which the port is closed, and the longest wait for it. */
const unconnectedMs = 150;
const holdingMs = 1_000;

/** How long the service waits for the first request of a connection. */
const unusedConnectionMs = 500;

export interface DrainLimits {
  /** How long the server continues to accept connections and requests. */
  readonly delayMs: number;
  /** Called before the port is closed if a proxy is in front: from now on, requests are refused. */
  readonly refuse?: () => void;
  /** Called before the port is closed if no proxy is in front: from now on, requests wait until the returned function is called. */
  readonly hold?: () => () => void;
  /** How long it then waits for requests in flight. */
  readonly timeoutMs: number;
}

/**
 * Returns a function that stops a server, and the sockets that listen for it. Call it before the server listens. The function resolves when all
 * connections are closed.
 */
export function drainer(server: Server): (listening: readonly PlainServer[], limits: DrainLimits) => Promise<void> {
  /** Open connections by their remote address, and whether a request has arrived on each. */
  const open = new Map<string, { readonly socket: Socket; isUsed: boolean }>();
  let lastConnectionMs = Number.NEGATIVE_INFINITY;
  server.on("connection", (socket: Socket) => {
    lastConnectionMs = performance.now();
    const address = peerOf(socket);
    open.set(address, { socket, isUsed: false });
    socket.once("close", () => open.delete(address));
  });
  // With TLS, a request's socket is not that of the connection; the addresses are equal.
  let lastRequestMs = Number.NEGATIVE_INFINITY;
  server.on("request", ({ socket }) => {
    lastRequestMs = performance.now();
    const connection = open.get(peerOf(socket));
    if (connection !== undefined) connection.isUsed = true;
  });
  const destroy = (isEvery: boolean): void => {
    for (const { socket, isUsed } of open.values()) if (isEvery || !isUsed) socket.destroy();
  };
  return async (listening, { delayMs, refuse, hold, timeoutMs }) => {
    await sleep(delayMs);
    if (refuse !== undefined) {
      refuse();
      await untilQuiet(() => lastRequestMs, quietMs, refusingMs);
    }
    const release = hold?.();
    if (release !== undefined) await untilQuiet(() => lastConnectionMs, unconnectedMs, holdingMs);
    const timers = [
      // Node.js does not count a connection without any request as idle.
      setTimeout(() => destroy(false), unusedConnectionMs),
      setTimeout(() => destroy(true), timeoutMs),
    ];
    const closed = Promise.all(listening.map((one) => new Promise((resolve) => one.close(resolve))));
    release?.();
    await closed;
    for (const timer of timers) clearTimeout(timer);
  };
}

/** Resolves when nothing has arrived for a while, right after the event loop has accepted what has. */
async function untilQuiet(lastArrivalMs: () => number, pauseMs: number, maxMs: number): Promise<void> {
  const startedMs = performance.now();
  do {
    await sleep(pauseMs / 10);
    // Timers run before the event loop accepts connections, immediates after it.
    await nextTurn();
  } while (performance.now() < Math.min(startedMs + maxMs, Math.max(startedMs, lastArrivalMs()) + pauseMs));
}

interface StopState {
  readonly isStopping: boolean;
  readonly isRefusing: boolean;
  /** Settles when the requests that arrive may be answered; undefined if they may. */
  readonly held: Promise<void> | undefined;
}

/**
 * Closes the connections of a stopping service: `Connection: close` on every response that is sent after the signal. Before the port is closed,
 * refuses requests with 502, a status that no operation has: a proxy can repeat them on another replica, with any method.
 */
export const closeConnections =
  (state: StopState): Middleware =>
  async (context, next) => {
    if (state.isRefusing) {
      context.status = 502;
      context.body = "This service is stopping.\n";
    } else {
      if (state.held !== undefined) await state.held;
      await next();
    }
    if (state.isStopping && !context.res.headersSent) context.res.setHeader("Connection", "close");
  };
