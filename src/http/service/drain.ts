/**
 * Shutdown of an HTTP server without failed requests: it continues to answer for a while, so that load balancers and keep-alive clients
 * learn that it stops, then closes its port, its idle connections and, after the requests in flight, the others.
 *
 * The port of a service that a proxy still sends requests to cannot be closed without losing some: the system resets connections that it has
 * accepted and the process has not. So the service first refuses requests, until the proxy sends none.
 */
import type { Server } from "node:http";
import type { Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import type { Middleware } from "../context.ts";
import { peerOf } from "./connections.ts";

/** Behind a proxy: the time without a request after which the port is closed. */
const quietMs = 300;

/** Behind a proxy: the longest wait for it, below the time that proxies avoid a failed server (nginx: `fail_timeout`). */
const refusingMs = 1_500;

/** How long the service waits for the first request of a connection. */
const unusedConnectionMs = 500;

export interface DrainLimits {
  /** How long the server continues to accept connections and requests. */
  readonly delayMs: number;
  /** Called before the port is closed if a proxy is in front: from now on, requests are refused. */
  readonly refuse?: () => void;
  /** How long it then waits for requests in flight. */
  readonly timeoutMs: number;
}

/** Returns a function that stops a server. Call it before the server listens. The function resolves when all connections are closed. */
export function drainer(server: Server): (limits: DrainLimits) => Promise<void> {
  /** Open connections by their remote address, and whether a request has arrived on each. */
  const open = new Map<string, { readonly socket: Socket; isUsed: boolean }>();
  server.on("connection", (socket: Socket) => {
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
  return async ({ delayMs, refuse, timeoutMs }) => {
    await sleep(delayMs);
    if (refuse !== undefined) {
      refuse();
      await untilQuiet(() => lastRequestMs);
    }
    const timers = [
      // Node.js does not count a connection without any request as idle.
      setTimeout(() => destroy(false), unusedConnectionMs),
      setTimeout(() => destroy(true), timeoutMs),
    ];
    await new Promise((resolve) => server.close(resolve));
    for (const timer of timers) clearTimeout(timer);
  };
}

/** Resolves when no request has arrived for a while. */
async function untilQuiet(lastRequestMs: () => number): Promise<void> {
  const startedMs = performance.now();
  for (let nowMs = startedMs; nowMs < startedMs + refusingMs; nowMs = performance.now()) {
    if (nowMs - Math.max(startedMs, lastRequestMs()) >= quietMs) return;
    await sleep(quietMs / 10);
  }
}

interface StopState {
  readonly isStopping: boolean;
  readonly isRefusing: boolean;
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
    } else await next();
    if (state.isStopping && !context.res.headersSent) context.res.setHeader("Connection", "close");
  };
