/** The listening socket: HTTP or HTTPS, timeouts of connections, and the certificate. */
import { createServer, IncomingMessage, type RequestListener, type Server, type ServerResponse } from "node:http";
import { createServer as createTlsServer, Server as TlsServer } from "node:https";
import { type AddressInfo, createServer as createPlainServer, type Server as PlainServer, type Socket } from "node:net";
import type { Duplex } from "node:stream";
import { createSecureContext } from "node:tls";
import type Koa from "koa";
import { messageOf, UserError } from "../../base/user-error.ts";
import type { RequestState } from "../context.ts";
import { headerBytesMax } from "../limits.ts";
import { respondToClientErrors } from "./client-errors.ts";
import type { Connections } from "./connections.ts";

/** Timeouts for receiving the headers of a request, and all of it. */
const headersMs = 10_000;
const requestMs = 30_000;

/** From the arrival of a request to the end of its response: closes the connections of clients that read too slowly. */
export const responseMs = 60_000;

/**
 * Connections that the system accepts before the event loop does, as far as it allows: after a restart all clients connect at once. Beyond it, connections
 * wait for seconds, and some are reset.
 */
const backlogMax = 4_096;

/** How long an idle connection stays open. */
const keepAliveMs = 65_000;

/** The parts in which a body arrives, such as its chunks: as many in all, and more while they have this size on average. Each takes the event loop some microseconds. */
export const bodyPartsMax = 256;
const bodyPartBytesMin = 256;

/** A request whose connection is closed if its body arrives in too many parts, also one that is not read. */
class PartLimitedRequest extends IncomingMessage {
  private parts = 0;
  private bytes = 0;

  override push(chunk: Buffer | null): boolean {
    if (chunk === null) return super.push(chunk);
    this.parts += 1;
    this.bytes += chunk.length;
    if (this.parts <= bodyPartsMax + this.bytes / bodyPartBytesMin) return super.push(chunk);
    this.destroy();
    return false;
  }
}

/** The number of a request's headers. */
export const headersMax = 100;

/** Certificate and private key, in PEM. */
export interface Tls {
  readonly cert: string;
  readonly key: string;
}

export interface HttpServerOptions {
  /** Plain HTTP if absent. */
  readonly tls?: Tls;
  /** Time limit for the arrival of a request's headers. */
  readonly headersTimeoutMs?: number;
  /** Time limit from the arrival of a request to the end of its response. */
  readonly responseTimeoutMs?: number;
}

const minTlsVersion = "TLSv1.2" as const;

/** Returns a server that does not listen yet. */
export function createHttpServer(
  { tls, headersTimeoutMs = headersMs, responseTimeoutMs = responseMs }: HttpServerOptions,
  app: Koa<RequestState>,
  connections: Connections,
): Server {
  const options = {
    headersTimeout: headersTimeoutMs,
    requestTimeout: requestMs,
    connectionsCheckingInterval: Math.min(headersTimeoutMs, 5_000),
    keepAliveTimeout: keepAliveMs,
    maxHeaderSize: headerBytesMax,
    // `refuseOtherHost` refuses a request without a host, in JSON.
    requireHostHeader: false,
    IncomingMessage: PartLimitedRequest,
  };
  const tlsOptions = { minVersion: minTlsVersion, handshakeTimeout: headersTimeoutMs };
  const server = tls === undefined ? createServer(options) : createTlsServer({ ...options, ...tls, ...tlsOptions });
  server.maxHeadersCount = headersMax;
  server.on("connection", (socket: Socket) => connections.add(socket));
  const responses = new WeakMap<Duplex, ServerResponse>();
  server.on("request", (_request, response) => responses.set(response.req.socket, response));
  server.on("request", createListener(server, app, { connections, responseTimeoutMs }));
  // Node.js would answer other expectations than 100-continue itself, without any step of the pipeline: they are ignored.
  server.on("checkExpectation", (request, response) => server.emit("request", request, response));
  respondToClientErrors(server, (connection) => responses.get(connection));
  return server;
}

/**
 * Closes a connection after its response if the request has a body, which is never read, or if the connection is beyond a limit. Ignores requests
 * pipelined behind such a response. Closes a connection whose response takes too long, and idle ones once the port is closed.
 */
function createListener(
  server: Server,
  app: Koa<RequestState>,
  { connections, responseTimeoutMs }: { readonly connections: Connections; readonly responseTimeoutMs: number },
): RequestListener {
  const handle = app.callback();
  const closing = new WeakSet<Socket>();
  return (request, response) => {
    const { headers, socket } = request;
    if (closing.has(socket)) return;
    const hasBody = headers["content-length"] !== undefined || "transfer-encoding" in headers;
    if (hasBody || connections.isExcess(socket)) response.setHeader("Connection", "close");
    limitResponseTime(response, responseTimeoutMs);
    response.once("close", () => {
      endResponseTime(response);
      if (!server.listening) setImmediate(() => server.closeIdleConnections());
    });
    void handle(request, response);
    if (response.getHeader("Connection") === "close") closing.add(socket);
  };
}

/** Time limits of the responses in progress. */
const timers = new WeakMap<ServerResponse, NodeJS.Timeout>();

/** Closes the connection of a response that has not ended after a time. Replaces an earlier limit. Ignores a response that is closed already. */
export function limitResponseTime(response: ServerResponse, timeoutMs: number): void {
  const { socket } = response.req;
  endResponseTime(response);
  if (response.closed) return;
  timers.set(
    response,
    setTimeout(() => socket.destroy(), timeoutMs),
  );
}

/** Removes the limit of a response that has ended. */
function endResponseTime(response: ServerResponse): void {
  clearTimeout(timers.get(response));
}

/** Sockets that listen on the port of the service. */
const listenerCount = 8;

/** Several sockets listen on one port where the system divides connections among them, from Node.js 22.12 on. */
const shared = { reusePort: process.platform === "linux" };

/** Resolves when a server listens. Throws a UserError, which names the settings of the port, if it cannot. */
export function listen(
  server: PlainServer,
  where: { readonly host: string; readonly port: number; readonly reusePort?: boolean },
  settings = "--port or CARQUET_PORT",
): Promise<void> {
  const { host, port } = where;
  return new Promise((resolve, reject) => {
    server.once("error", (error: NodeJS.ErrnoException) => {
      const other = `choose another port with ${settings}, for example ${port + 1}.`;
      const isOfPort = error.code === "EADDRINUSE" || error.code === "EACCES";
      const reason = error.code === "EADDRINUSE" ? `Port ${port} of ${host} is in use` : messageOf(error);
      reject(new UserError(`${reason}: ${isOfPort ? other : `expected an address of this machine as --host.`}`));
    });
    server.listen({ ...where, backlog: backlogMax }, resolve);
  });
}

/**
 * Listens on a port with several sockets, if it is free and the system divides connections among them. In a pass of the event loop each accepts one
 * connection: with one socket, clients that connect to a busy service at once would wait for seconds. Returns the servers to close.
 */
export async function listenWidely(server: Server, host: string, port: number): Promise<readonly PlainServer[]> {
  await requireFreePort(host, port);
  await listen(server, { host, port, ...shared });
  const where = { host, port: portOf(server), ...shared };
  const options = { allowHalfOpen: !(server instanceof TlsServer), noDelay: true };
  const others = Array.from({ length: listenerCount - 1 }, () =>
    createPlainServer(options, (socket) => server.emit("connection", socket)),
  );
  const opened = await Promise.allSettled(others.map((other) => listen(other, where)));
  return [server, ...others.filter((_, n) => opened[n]?.status === "fulfilled")];
}

/** Listens on a port and closes it again. Throws a UserError if the port is taken. */
export async function requireFreePort(host: string, port: number): Promise<void> {
  const server = createServer();
  await listen(server, { host, port });
  await new Promise((resolve) => server.close(resolve));
}

export const urlOf = (server: Server, host: string, scheme: "http" | "https"): string =>
  `${scheme}://${host.includes(":") ? `[${host}]` : host}:${portOf(server)}`;

function portOf(server: Server): number {
  const address: AddressInfo | string | null = server.address();
  return typeof address === "object" && address !== null ? address.port : 0;
}

/** Replaces the certificate of a TLS server. Throws an Error, and keeps the previous one, if it is invalid or the server uses plain HTTP. */
export function replaceCertificate(server: Server, tls: Tls): void {
  if (!(server instanceof TlsServer))
    throw new Error("No TLS: expected a service that was started with a certificate.");
  const context = { ...tls, minVersion: minTlsVersion };
  createSecureContext(context);
  server.setSecureContext(context);
}
