/** A static file server with ranges, whose answers can fail. */
import { open, stat } from "node:fs/promises";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { onScopeEnd, type Scope } from "../scope.ts";

/**
 * How an answer fails: its connection is cut or stalls after half of the content, a byte is changed, a page of a proxy is sent instead, the file
 * is missing, the server is overloaded, or it ignores ranges.
 */
export const serverFaults = ["cut", "stall", "change", "page", "missing", "overload", "no ranges"] as const;
export type ServerFault = (typeof serverFaults)[number];

export interface ServedRequest {
  readonly path: string;
  readonly range: string | undefined;
  readonly ifRange: string | undefined;
  status: number;
  bytes: number;
}

export interface StaticServer {
  readonly url: string;
  readonly requests: ServedRequest[];
  /** Decides about each request; none fails by default. */
  faultOf: (path: string) => ServerFault | undefined;
  /** Answers instead of files. */
  readonly answers: Map<string, (request: IncomingMessage, response: ServerResponse) => void>;
  /** Texts that are served instead of files, such as stale content of a cache. */
  readonly texts: Map<string, string>;
}

/** Serves a folder on a free port until the scope ends. */
export async function startStaticServer(scope: Scope, folder: string): Promise<StaticServer> {
  const served: Omit<StaticServer, "url"> = {
    requests: [],
    faultOf: () => undefined,
    texts: new Map(),
    answers: new Map(),
  };
  const server = createServer((request, response) => {
    answer(request, response, folder, served).catch(() => response.destroy());
  });
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  onScopeEnd(scope, async () => {
    server.closeAllConnections();
    await new Promise((closed) => server.close(closed));
  });
  return Object.assign(served, { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` });
}

async function answer(
  request: IncomingMessage,
  response: ServerResponse,
  folder: string,
  served: Omit<StaticServer, "url">,
): Promise<void> {
  const path = decodeURIComponent(new URL(request.url ?? "", "http://host").pathname).slice(1);
  const { range, "if-range": ifRange } = request.headers;
  const record: ServedRequest = { path, range, ifRange: ifRange?.toString(), status: 0, bytes: 0 };
  served.requests.push(record);
  const special = served.answers.get(path);
  if (special !== undefined) return special(request, response);
  const send = (status: number, headers: Readonly<Record<string, string | number>>, body: Buffer | string): void => {
    record.status = status;
    record.bytes = body.length;
    response.writeHead(status, { "Content-Length": body.length, ...headers });
    response.end(body);
  };
  const fault = served.faultOf(path);
  const text = served.texts.get(path);
  const content =
    text === undefined ? await contentOf(join(folder, path)) : { tag: '"text"', bytes: Buffer.from(text) };
  if (fault === "missing" || content === undefined) return send(404, {}, "not found");
  if (fault === "overload") return send(503, { "Retry-After": 1 }, "overloaded");
  if (fault === "page") return send(200, { "Content-Type": "text/html" }, "<!doctype html>");
  const [, start] = /^bytes=(\d+)-$/.exec(range ?? "") ?? [];
  const isPart = start !== undefined && fault !== "no ranges" && (ifRange === undefined || ifRange === content.tag);
  const offset = isPart ? Number(start) : 0;
  const total = content.bytes.length;
  if (offset >= total && total > 0 && isPart) return send(416, { "Content-Range": `bytes */${total}` }, "");
  const body = Buffer.from(content.bytes.subarray(offset));
  if (fault === "change") body[body.length >> 1] = (body[body.length >> 1] ?? 0) ^ 255;
  const headers = {
    ETag: content.tag,
    ...(isPart ? { "Content-Range": `bytes ${offset}-${total - 1}/${total}` } : {}),
  };
  if (fault !== "cut" && fault !== "stall") return send(isPart ? 206 : 200, headers, body);
  record.status = isPart ? 206 : 200;
  record.bytes = body.length >> 1;
  response.writeHead(record.status, { ...headers, "Content-Length": body.length });
  response.write(body.subarray(0, record.bytes), () => {
    if (fault === "cut") request.socket.destroy();
  });
}

async function contentOf(path: string): Promise<{ readonly tag: string; readonly bytes: Buffer } | undefined> {
  try {
    if (!(await stat(path)).isFile()) return undefined;
    const file = await open(path);
    try {
      const { mtimeMs, size } = await file.stat();
      return { tag: `"${mtimeMs}-${size}"`, bytes: await file.readFile() };
    } finally {
      await file.close();
    }
  } catch {
    return undefined;
  }
}
