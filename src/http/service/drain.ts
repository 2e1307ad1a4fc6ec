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

/** The time without a connection, a request or a response after which the port is closed. */
const quietMs = 300;

/** The longest wait for it, below the time that proxies avoid a failed server (nginx: `fail_timeout`). */
const pauseMs = 1_500;

/** How long the service waits for the first request of a connection. */
const unusedConnectionMs = 500;

export interface DrainLimits {
  /** How long the server continues to accept connections and requests. */
  readonly delayMs: number;
  /** Called before the port is closed: from now on, requests are refused, or wait until the returned function is called. */
  readonly pause: () => () => void;
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
  let isPaused = false;
  /** Requests that are answered regardless of a pause. Their clients may connect again as soon as they have their responses. */
  let answering = 0;
  let lastEventMs = Number.NEGATIVE_INFINITY;
  server.on("connection", (socket: Socket) => {
    lastEventMs = performance.now();
    const address = peerOf(socket);
    open.set(address, { socket, isUsed: false });
    socket.once("close", () => open.delete(address));
  });
  server.on("request", ({ socket }, response) => {
    lastEventMs = performance.now();
    // With TLS, a request's socket is not that of the connection; the addresses are equal.
    const connection = open.get(peerOf(socket));
    if (connection !== undefined) connection.isUsed = true;
    if (isPaused) return;
    answering += 1;
    response.once("close", () => {
      answering -= 1;
      lastEventMs = performance.now();
    });
  });
  const destroy = (isEvery: boolean): void => {
    for (const { socket, isUsed } of open.values()) if (isEvery || !isUsed) socket.destroy();
  };
  return async (listening, { delayMs, pause, timeoutMs }) => {
    await sleep(delayMs);
    const release = pause();
    isPaused = true;
    await untilQuiet(() => (answering > 0 ? performance.now() : lastEventMs));
    const timers = [
      // Node.js does not count a connection without any request as idle.
      setTimeout(() => destroy(false), unusedConnectionMs),
      setTimeout(() => destroy(true), timeoutMs),
    ];
    const closed = Promise.all(listening.map((one) => new Promise((resolve) => one.close(resolve))));
    release();
    await closed;
    for (const timer of timers) clearTimeout(timer);
  };
}

/** Resolves when nothing has happened for a while, right after the event loop has accepted what has arrived. */
async function untilQuiet(lastEventMs: () => number): Promise<void> {
  const endMs = performance.now() + pauseMs;
  do {
    await sleep(quietMs / 10);
    // Timers run before the event loop accepts connections, immediates after it.
    await nextTurn();
  } while (performance.now() < Math.min(endMs, lastEventMs() + quietMs));
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
