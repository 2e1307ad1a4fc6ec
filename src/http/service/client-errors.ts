/**
 * Responses to requests that the HTTP parser rejects, before any middleware: JSON if the request line or the headers are too long, an
 * empty response otherwise.
 */
import { type Server, type ServerResponse, STATUS_CODES } from "node:http";
import type { Duplex } from "node:stream";
import { v7 as uuidV7 } from "uuid";
import { errorBody, errors, type Refusal, refuse } from "../../contract/errors.ts";
import { headerBytesMax, uriBytesMax } from "../limits.ts";
import { securityHeaders } from "../middleware/set-headers.ts";

/** How long a connection whose request is rejected stays open, for the client to read the response. */
const rejectedConnectionMs = 1000;

/** An error of a connection; one of the HTTP parser has the packet that it rejects, and how much of it is parsed. */
type ClientError = Error & { readonly code?: string; readonly rawPacket?: Buffer; readonly bytesParsed?: number };

/** Statuses of errors that are not 400, as Node.js has them. */
const statuses: Readonly<Record<string, number>> = {
  ERR_HTTP_REQUEST_TIMEOUT: 408,
  HPE_CHUNK_EXTENSIONS_OVERFLOW: 413,
};

/** Responds to the rejected requests of a server, after the responses in progress, and closes their connections. `responseOf` returns a connection's latest response. */
export function respondToClientErrors(
  server: Server,
  responseOf: (connection: Duplex) => ServerResponse | undefined,
): void {
  const closing = new WeakSet<Duplex>();
  server.on("clientError", (error: ClientError, connection) => {
    // The parser rejects each further packet of the connection as well.
    if (closing.has(connection)) return;
    closing.add(connection);
    const text = error.code === "HPE_HEADER_OVERFLOW" ? refusalText(overflowOf(error)) : emptyText(error);
    const before = responseOf(connection);
    // The body of the request in progress is malformed or late: this is its response, unless that has begun.
    const isOfBody = before?.socket === connection && !before.headersSent && !before.req.complete;
    if (before === undefined || before.closed || isOfBody) return endWith(connection, text);
    before.once("close", () => endWith(connection, text));
    // Its response may wait for the rest of the body.
    if (!before.req.complete) before.req.destroy();
  });
}

/** Sends a response and leaves it to the client to close: a connection that is closed with unread data is reset. */
function endWith(connection: Duplex, text: string): void {
  if (!connection.writable) {
    connection.destroy();
    return;
  }
  connection.end(text);
  connection.once("end", () => connection.destroy());
  setTimeout(() => connection.destroy(), rejectedConnectionMs).unref();
}

/** Returns the refusal of a request that is too large. A packet may begin in the middle of it: only a request line has no spaces. */
function overflowOf({ rawPacket = Buffer.of(), bytesParsed = rawPacket.length }: ClientError): Refusal {
  const parsed = rawPacket.toString("latin1", 0, bytesParsed).split("\r\n\r\n").at(-1) ?? "";
  const isRequestLine = !/\s/.test(parsed.replace(/^[A-Z]+ /, "").trimEnd());
  return isRequestLine
    ? refuse("uri_too_long", { limit: uriBytesMax })
    : refuse("headers_too_large", { limit: headerBytesMax });
}

function refusalText(refusal: Refusal): string {
  const body = JSON.stringify(errorBody(refusal));
  const headers = { "Content-Type": "application/json; charset=utf-8", "Cache-Control": "no-store" };
  return responseText(errors[refusal.code][0], { ...headers, "Content-Length": Buffer.byteLength(body) }, body);
}

const emptyText = ({ code = "" }: ClientError): string =>
  responseText(statuses[code] ?? 400, { "Content-Length": 0 }, "");

function responseText(status: number, headers: Readonly<Record<string, string | number>>, body: string): string {
  const all = { Connection: "close", "X-Request-Id": uuidV7(), ...securityHeaders, ...headers };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
  return `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines.join("")}\r\n${body}`;
}
