/** A server of one bucket that speaks the HTTP protocol of Amazon S3, and refuses requests whose signature (version 4) or checksum is wrong. */
import { createHash, createHmac } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";
import { onScopeEnd, type Scope } from "../scope.ts";

export interface StoredObject {
  readonly bytes: Buffer;
  /** The checksum of an upload, in base64; that of an upload in parts ends with their number. */
  readonly sha256: string | undefined;
  /** The headers of the upload that are sent again. */
  readonly headers: Readonly<Record<string, string>>;
  readonly modifiedMs: number;
}

/** An upload in parts that has not been completed. */
interface UnfinishedUpload extends Pick<StoredObject, "headers"> {
  readonly key: string;
  readonly parts: Map<number, Buffer>;
  readonly startedMs: number;
}

interface Bucket {
  readonly objects: Map<string, StoredObject>;
  readonly uploads: Map<string, UnfinishedUpload>;
  /** Methods and keys of the accepted requests, in order. */
  readonly requests: string[];
  /** Returns the error code that refuses a request; none is refused by default. */
  refusalOf: (method: string, key: string) => { readonly status: number; readonly code: string } | undefined;
}

export interface S3Server extends Bucket {
  readonly url: string;
  readonly bucket: string;
  /** The settings of a client's environment. */
  readonly env: Readonly<Record<string, string>>;
}

const credentials = { id: "AKIAEXAMPLE", secret: "secret/of+tests" };
const bucket = "cars";

/** Starts the server on a free port until the scope ends. */
export async function startS3Server(scope: Scope): Promise<S3Server> {
  const stored: Bucket = { objects: new Map(), uploads: new Map(), requests: [], refusalOf: () => undefined };
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
  return Object.assign(stored, { url, bucket, env });
}

type Refuse = (status: number, code: string) => void;

async function answerS3(request: IncomingMessage, response: ServerResponse, stored: Bucket): Promise<void> {
  const body = await buffer(request);
  const refuse: Refuse = (status, code) => {
    response.writeHead(status, { "Content-Type": "application/xml" });
    response.end(request.method === "HEAD" ? "" : `<Error><Code>${code}</Code><Message>${code}</Message></Error>`);
  };
  if (!isSigned(request, body)) return refuse(403, "SignatureDoesNotMatch");
  const { pathname, searchParams } = new URL(request.url ?? "", "http://host");
  if (!`${pathname}/`.startsWith(`/${bucket}/`)) return refuse(404, "NoSuchBucket");
  const key = decodeURIComponent(pathname).slice(`/${bucket}/`.length);
  const method = request.method ?? "";
  const refusal = stored.refusalOf(method, key);
  if (refusal !== undefined) return refuse(refusal.status, refusal.code);
  stored.requests.push(`${method} ${key}`);
  if (key === "") return void response.end(listing(stored, searchParams));
  if (method === "POST" || searchParams.has("uploadId"))
    return uploadInParts({ key, request, body }, response, stored, searchParams);
  if (method === "PUT") return putObject({ key, request, body }, response, stored, refuse);
  if (method === "DELETE") {
    stored.objects.delete(key);
    return void response.writeHead(204).end();
  }
  const object = stored.objects.get(key);
  if (object === undefined) return refuse(404, "NoSuchKey");
  sendObject(request, response, object);
}

interface Put {
  readonly key: string;
  readonly request: IncomingMessage;
  readonly body: Buffer;
}

const inBase64 = (bytes: Buffer): string => createHash("sha256").update(bytes).digest("base64");

const headersOf = ({ headers }: IncomingMessage): Readonly<Record<string, string>> => ({
  ...(headers["x-amz-meta-sha256"] === undefined
    ? {}
    : { "x-amz-meta-sha256": headers["x-amz-meta-sha256"].toString() }),
});

function putObject({ key, request, body }: Put, response: ServerResponse, { objects }: Bucket, refuse: Refuse): void {
  const { "if-match": tag, "if-none-match": none, "x-amz-checksum-sha256": checksum } = request.headers;
  const before = objects.get(key);
  const sha256 = checksum?.toString();
  const isChanged = (none === "*" && before !== undefined) || (tag !== undefined && tag !== tagOf(before?.bytes));
  if (isChanged || (sha256 !== undefined && sha256 !== inBase64(body))) {
    refuse(isChanged ? 412 : 400, isChanged ? "PreconditionFailed" : "BadDigest");
    return;
  }
  objects.set(key, { bytes: body, sha256, headers: headersOf(request), modifiedMs: Date.now() });
  response.writeHead(200, { ETag: tagOf(body) }).end();
}

/** Answers the requests of an upload in parts: to begin it, to send a part, to complete and to abort it. */
function uploadInParts(
  { key, request, body }: Put,
  response: ServerResponse,
  { objects, uploads }: Bucket,
  query: URLSearchParams,
): void {
  const id = query.get("uploadId") ?? `upload-${uploads.size + 1}`;
  const upload = uploads.get(id);
  if (query.has("uploads")) {
    uploads.set(id, { key, parts: new Map(), startedMs: Date.now(), headers: headersOf(request) });
    const result = `<Bucket>${bucket}</Bucket><Key>${key}</Key><UploadId>${id}</UploadId>`;
    return void response.end(`<InitiateMultipartUploadResult>${result}</InitiateMultipartUploadResult>`);
  }
  if (upload === undefined) return void response.writeHead(404).end("<Error><Code>NoSuchUpload</Code></Error>");
  if (request.method === "PUT") {
    const sha256 = inBase64(body);
    if (request.headers["x-amz-checksum-sha256"] !== sha256)
      return void response.writeHead(400).end("<Error><Code>BadDigest</Code></Error>");
    upload.parts.set(Number(query.get("partNumber")), body);
    return void response.writeHead(200, { ETag: tagOf(body), "x-amz-checksum-sha256": sha256 }).end();
  }
  uploads.delete(id);
  if (request.method === "DELETE") return void response.writeHead(204).end();
  const bytes = Buffer.concat([...upload.parts].sort(([left], [right]) => left - right).map(([, part]) => part));
  const sha256 = `${inBase64(bytes)}-${upload.parts.size}`;
  objects.set(key, { bytes, sha256, headers: upload.headers, modifiedMs: Date.now() });
  const result = `<Bucket>${bucket}</Bucket><Key>${key}</Key><ETag>${tagOf(bytes)}</ETag>`;
  response.end(`<CompleteMultipartUploadResult>${result}</CompleteMultipartUploadResult>`);
}

/** Returns the list of objects, or of uploads that have not been completed, whose key begins with a prefix. */
function listing({ objects, uploads }: Bucket, query: URLSearchParams): string {
  const prefix = query.get("prefix") ?? "";
  const time = (ms: number): string => new Date(ms).toISOString();
  if (query.has("uploads")) {
    const items = [...uploads]
      .filter(([, { key }]) => key.startsWith(prefix))
      .map(
        ([id, { key, startedMs }]) =>
          `<Upload><Key>${key}</Key><UploadId>${id}</UploadId><Initiated>${time(startedMs)}</Initiated></Upload>`,
      );
    return `<ListMultipartUploadsResult>${items.join("")}</ListMultipartUploadsResult>`;
  }
  const items = [...objects]
    .filter(([key]) => key.startsWith(prefix))
    .map(
      ([key, { modifiedMs, bytes }]) =>
        `<Contents><Key>${key}</Key><LastModified>${time(modifiedMs)}</LastModified><Size>${bytes.length}</Size></Contents>`,
    );
  return `<ListBucketResult>${items.join("")}<IsTruncated>false</IsTruncated></ListBucketResult>`;
}

const tagOf = (bytes: Buffer = Buffer.of()): string => `"${createHash("md5").update(bytes).digest("hex")}"`;

function sendObject({ headers, method }: IncomingMessage, response: ServerResponse, object: StoredObject) {
  const { bytes, sha256 } = object;
  if (headers["if-match"] !== undefined && headers["if-match"] !== tagOf(bytes)) return response.writeHead(412).end();
  const [, start] = /^bytes=(\d+)-$/.exec(headers.range ?? "") ?? [];
  if (start !== undefined && Number(start) >= bytes.length)
    return response.writeHead(416, { "Content-Range": `bytes */${bytes.length}` }).end();
  const part = bytes.subarray(Number(start ?? 0));
  response.writeHead(start === undefined ? 200 : 206, {
    ETag: tagOf(bytes),
    "Content-Length": part.length,
    ...object.headers,
    ...(start === undefined ? {} : { "Content-Range": `bytes ${start}-${bytes.length - 1}/${bytes.length}` }),
    ...(sha256 === undefined ? {} : { "x-amz-checksum-sha256": sha256 }),
  });
  return response.end(method === "HEAD" ? undefined : part);
}

const hmac = (key: string | Buffer, text: string): Buffer => createHmac("sha256", key).update(text).digest();
const hexOf = (content: string | Buffer): string => createHash("sha256").update(content).digest("hex");

/** Computes the signature of a request, as the documentation of Amazon S3 defines it. */
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
