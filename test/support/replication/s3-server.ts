/** A server of one bucket that speaks the HTTP protocol of Amazon S3, and refuses requests whose signature (version 4) or checksum is wrong. */
import { createHash, createHmac } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";
import { onScopeEnd, type Scope } from "../scope.ts";

interface StoredObject {
  readonly bytes: Buffer;
  readonly sha256: string | undefined;
}

export interface S3Server {
  readonly url: string;
  readonly bucket: string;
  /** The settings of a client's environment. */
  readonly env: Readonly<Record<string, string>>;
  readonly objects: Map<string, StoredObject>;
  /** Methods and keys of the accepted requests, in order. */
  readonly requests: string[];
}

const credentials = { id: "AKIAEXAMPLE", secret: "secret/of+tests" };
const bucket = "cars";

/** Starts the server on a free port until the scope ends. */
export async function startS3Server(scope: Scope): Promise<S3Server> {
  const stored = { objects: new Map<string, StoredObject>(), requests: [] as string[] };
  const server = createServer((request, response) => {
    answerS3(request, response, stored).catch(() => response.destroy());
  });
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  onScopeEnd(scope, async () => {
    server.closeAllConnections();
    await new Promise((closed) => server.close(closed));
  });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const env = {
    AWS_ACCESS_KEY_ID: credentials.id,
    AWS_SECRET_ACCESS_KEY: credentials.secret,
    CARQUET_S3_ENDPOINT: url,
  };
  return { ...stored, url, bucket, env };
}

async function answerS3(
  request: IncomingMessage,
  response: ServerResponse,
  { objects, requests }: Pick<S3Server, "objects" | "requests">,
): Promise<void> {
  const body = await buffer(request);
  const refuse = (status: number, code: string): void => {
    response.writeHead(status, { "Content-Type": "application/xml" });
    response.end(request.method === "HEAD" ? "" : `<Error><Code>${code}</Code><Message>${code}</Message></Error>`);
  };
  if (!isSigned(request, body)) return refuse(403, "SignatureDoesNotMatch");
  const { pathname } = new URL(request.url ?? "", "http://host");
  const key = decodeURIComponent(pathname).slice(`/${bucket}/`.length);
  if (!pathname.startsWith(`/${bucket}/`)) return refuse(404, "NoSuchBucket");
  requests.push(`${request.method} ${key}`);
  if (request.method === "PUT") {
    const checksum = request.headers["x-amz-checksum-sha256"]?.toString();
    if (checksum !== undefined && checksum !== createHash("sha256").update(body).digest("base64"))
      return refuse(400, "BadDigest");
    objects.set(key, { bytes: body, sha256: checksum });
    response.writeHead(200, { ETag: tagOf(body) }).end();
    return;
  }
  const object = objects.get(key);
  if (object === undefined) return refuse(404, "NoSuchKey");
  sendObject(request, response, object);
}

const tagOf = (bytes: Buffer): string => `"${createHash("md5").update(bytes).digest("hex")}"`;

function sendObject({ headers, method }: IncomingMessage, response: ServerResponse, { bytes, sha256 }: StoredObject) {
  if (headers["if-match"] !== undefined && headers["if-match"] !== tagOf(bytes)) return response.writeHead(412).end();
  const [, start] = /^bytes=(\d+)-$/.exec(headers.range ?? "") ?? [];
  const part = bytes.subarray(Number(start ?? 0));
  response.writeHead(start === undefined ? 200 : 206, {
    ETag: tagOf(bytes),
    "Content-Length": part.length,
    ...(start === undefined ? {} : { "Content-Range": `bytes ${start}-${bytes.length - 1}/${bytes.length}` }),
    ...(sha256 === undefined ? {} : { "x-amz-checksum-sha256": sha256 }),
  });
  return response.end(method === "HEAD" ? undefined : part);
}

const hmac = (key: string | Buffer, text: string): Buffer => createHmac("sha256", key).update(text).digest();
const hexOf = (content: string | Buffer): string => createHash("sha256").update(content).digest("hex");

/** Computes the signature of a request anew, as the documentation of Amazon S3 defines it. */
function isSigned({ headers, method, url = "" }: IncomingMessage, body: Buffer): boolean {
  const pattern =
    /^AWS4-HMAC-SHA256 Credential=([^/]+)\/(\d{8}\/([^/]+)\/s3\/aws4_request), ?SignedHeaders=([^,]+), ?Signature=(\w+)$/;
  const [, id, scope = "", region = "", signed = "", signature] = pattern.exec(headers.authorization ?? "") ?? [];
  const payload = headers["x-amz-content-sha256"]?.toString() ?? "";
  if (id !== credentials.id || (payload !== "UNSIGNED-PAYLOAD" && payload !== hexOf(body))) return false;
  const { pathname, searchParams } = new URL(url, "http://host");
  const query = [...searchParams]
    .map(([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(value)}`)
    .sort()
    .join("&");
  const lines = signed.split(";").map((name) => `${name}:${headers[name]?.toString().trim()}\n`);
  const canonical = [method, pathname, query, lines.join(""), signed, payload].join("\n");
  const text = ["AWS4-HMAC-SHA256", headers["x-amz-date"], scope, hexOf(canonical)].join("\n");
  const day = scope.slice(0, 8);
  const key = [region, "s3", "aws4_request"].reduce<Buffer>(hmac, hmac(`AWS4${credentials.secret}`, day));
  return hmac(key, text).toString("hex") === signature;
}
