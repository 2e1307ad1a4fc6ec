/** Clients that send malformed requests, and clients that read their responses at a crawl. */
import { connect } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import type { Chance } from "../../chance.ts";

/** Requests that are no HTTP, break off, or claim another length than they have. */
const malformed: readonly string[] = [
  "\r\n\r\n",
  "\0\x01\x02\x03\xff",
  "GET\r\n\r\n",
  "GET /v1/listings\r\n\r\n",
  "GET /v1/listings HTTP/9.9\r\nHost: x\r\n\r\n",
  "GET /v1/listings HTTP/1.1\r\n\r\n",
  "GET /v1/listings HTTP/1.1\r\nHost: x\r\nno colon\r\n\r\n",
  "GET /v1/listings HTTP/1.1\r\nHost: x\r\nHost: y\r\nContent-Length: -1\r\n\r\n",
  "POST /v1/listings HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
  "POST /mcp HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 99999999\r\n\r\n{",
  "GET http://[::1/v1/listings HTTP/1.1\r\nHost: x\r\n\r\n",
  "GET //%00/../.. HTTP/1.1\r\nHost: \xff\r\n\r\n",
  "OPTIONS * HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n",
  "CONNECT x:1 HTTP/1.1\r\nHost: x:1\r\n\r\n",
  "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
  `GET /${"a".repeat(20_000)} HTTP/1.1\r\nHost: x\r\n\r\n`,
  `GET / HTTP/1.1\r\nHost: x\r\n${"A: b\r\n".repeat(5_000)}\r\n`,
  "GET /v1/listings HTTP/1.1\r\nHost: x\r\nAuthorization: Bear",
];

/** How long a malformed request is left open. */
const openMs = 5_000;

/** Sends a malformed request. Returns the status of the response, or how the connection ended without one. */
export async function sendMalformed(url: string, chance: Chance): Promise<string> {
  const { hostname, port } = new URL(url);
  const socket = connect({ host: hostname, port: Number(port) });
  let received = "";
  const closed = new Promise<void>((resolve) => {
    socket.on("data", (bytes) => {
      received += bytes.toString("latin1");
    });
    socket.on("error", () => resolve());
    socket.on("close", () => resolve());
  });
  socket.write(Buffer.from(chance.pick(malformed), "latin1"));
  await Promise.race([closed, sleep(openMs)]);
  socket.destroy();
  return /^HTTP\/1\.1 (\d{3})/.exec(received)?.[1] ?? "no response";
}

const crawlBytes = 1024;
const crawlMs = 1000;

/** Sends a request, and reads a KiB of its response each second until the connection closes or `isOver`. Returns the bytes read. */
export function readSlowly(
  url: string,
  path: string,
  headers: Readonly<Record<string, string>>,
  isOver: () => boolean,
): Promise<number> {
  const { hostname, port, host } = new URL(url);
  return new Promise((resolve) => {
    let bytes = 0;
    const next = (): void => void setTimeout(() => socket.resume(), crawlMs);
    const onread = {
      buffer: Buffer.alloc(crawlBytes),
      callback: (read: number): boolean => {
        bytes += read;
        next();
        return false;
      },
    };
    const socket = connect({ host: hostname, port: Number(port), onread });
    const end = setInterval(() => {
      if (isOver()) socket.destroy();
    }, crawlMs);
    socket.on("error", () => undefined);
    socket.on("close", () => {
      clearInterval(end);
      resolve(bytes);
    });
    const lines = Object.entries({ Host: host, ...headers }).map(([name, value]) => `${name}: ${value}\r\n`);
    socket.write(`GET ${path} HTTP/1.1\r\n${lines.join("")}\r\n`);
  });
}
