/**
 * A bucket of Amazon S3 or of a compatible store, or a part of one. Credentials, region and endpoint come from the usual settings of AWS, environment
 * variables, profiles and roles, unless they are set. Loaded only when a bucket is used.
 */
import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { addAbortSignal, Readable } from "node:stream";
import {
  AbortMultipartUploadCommand,
  DeleteObjectCommand,
  GetObjectCommand,
  HeadObjectCommand,
  ListMultipartUploadsCommand,
  PutObjectCommand,
  paginateListObjectsV2,
  S3Client,
  S3ServiceException,
} from "@aws-sdk/client-s3";
import { Upload } from "@aws-sdk/lib-storage";
import { isNotFound } from "../base/files.ts";
import { orAborted, withTimeLimit } from "../base/time-limit.ts";
import { messageOf, printable, UserError } from "../base/user-error.ts";
import { type Connector, type RemoteFile, TransferFault, withCheckedName } from "./connector.ts";
import { type FilePattern, fitsPattern } from "./file-pattern.ts";

/** Files above this size are uploaded in parts of it, or of more if they were too many: stores accept 10,000, from 5 MiB on. */
export const uploadPartBytes = 32 * 2 ** 20;
const uploadPartsMax = 10_000;

/** How often a connection may be as slow as one that stalls until a request, a page of a listing or a part of an upload has ended. */
const requestStalls = 10;

export interface BucketSettings {
  /** `s3://<bucket>/<prefix>`. */
  readonly location: string;
  /** The URL of a store other than Amazon S3; its buckets are addressed by path. */
  readonly endpoint?: string | undefined;
}

export interface BucketCredentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
}

/** A file to upload, and its content. */
interface KnownContent {
  readonly path: string;
  readonly bytes: number;
  readonly sha256: string;
}

interface BucketObject extends RemoteFile {
  /** By the store's clock. */
  readonly modifiedMs: number;
}

const ignore = (): void => undefined;

/** The client would warn of each failed request, which is retried or becomes an error. */
const silent = { debug: ignore, info: ignore, warn: ignore, error: ignore };

export class Bucket implements Connector {
  readonly #client: S3Client;
  readonly #bucket: string;
  readonly #prefix: string;
  readonly #stallMs: number;

  /** `stallMs` is how long a connection may be idle during a request. */
  constructor({ location, endpoint }: BucketSettings, stallMs: number, credentials?: BucketCredentials) {
    this.#stallMs = stallMs;
    const { hostname, pathname } = new URL(location);
    this.#bucket = hostname;
    this.#prefix = pathname.replace(/^\/|\/$/g, "");
    // The client's versions of this minor release support Node.js 20.
    Object.assign(process.env, { AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED: "true" });
    this.#client = new S3Client({
      // Stores other than Amazon's need no region, and some do not know its newer checksums.
      ...(endpoint === undefined ? {} : { endpoint, forcePathStyle: true, region: "us-east-1" }),
      ...(credentials === undefined ? {} : { credentials }),
      requestHandler: { connectionTimeout: stallMs, socketTimeout: stallMs },
      logger: silent,
      requestChecksumCalculation: "WHEN_REQUIRED",
      responseChecksumValidation: "WHEN_REQUIRED",
    });
  }

  locationOf(path: string): string {
    return `s3://${this.#bucket}/${this.#keyOf(path)}`;
  }

  async list(pattern: FilePattern): Promise<readonly RemoteFile[]> {
    return (await this.objects(""))
      .filter(({ path }) => fitsPattern(pattern, path))
      .map((file) => withCheckedName(file));
  }

  readonly read: Connector["read"] = async (path, { offset = 0, tag }, signal) => {
    const range = offset === 0 ? {} : { Range: `bytes=${offset}-`, ...(tag === undefined ? {} : { IfMatch: tag }) };
    try {
      const command = new GetObjectCommand({ ...this.#objectAt(path), ...range });
      const { Body, ContentLength, ContentRange, ETag } = await this.#client.send(command, { abortSignal: signal });
      if (!(Body instanceof Readable))
        throw new TransferFault(`${this.locationOf(path)}: no content: expected a file.`);
      // Without a listener, an abort before the first byte is read would end the process.
      const content = addAbortSignal(signal, Body).on("error", () => undefined);
      // A store without ranges sends the whole object.
      const start = ContentRange === undefined ? 0 : offset;
      return {
        offset: start,
        bytes: ContentLength === undefined ? undefined : start + ContentLength,
        tag: ETag,
        content,
      };
    } catch (thrown) {
      const status = statusOf(thrown);
      // The object has changed, or is shorter than the offset.
      if (offset > 0 && (status === 412 || status === 416)) return this.read(path, { offset: 0 }, signal);
      if (status === 404 && nameOf(thrown) !== "NoSuchBucket") return undefined;
      throw this.#faultOf(path, thrown);
    }
  };

  /** Returns whether the bucket has a file with this size, and with this SHA-256 if that is recorded. */
  async has({ path, bytes, sha256 }: KnownContent): Promise<boolean> {
    const command = new HeadObjectCommand({ ...this.#objectAt(path), ChecksumMode: "ENABLED" });
    return this.#call(path, async (abortSignal) => {
      try {
        const { ContentLength, ChecksumSHA256, Metadata } = await this.#client.send(command, { abortSignal });
        // The checksum of an upload in parts, such as "...-3", is not the file's.
        const recorded = Metadata?.sha256 ?? (ChecksumSHA256?.includes("-") ? undefined : inHex(ChecksumSHA256));
        return ContentLength === bytes && (recorded ?? sha256) === sha256;
      } catch (thrown) {
        if (statusOf(thrown) === 404) return false;
        throw thrown;
      }
    });
  }

  /**
   * Uploads a local file, a large one in parts. The store refuses content, or parts, that do not match their SHA-256. A failed upload leaves no
   * parts. Calls `onPart` with the bytes sent after each part. Throws a UserError if the file does not match its SHA-256.
   */
  async upload(file: KnownContent, from: string, onPart: (sent: number) => void): Promise<void> {
    const upload = new Upload({
      client: this.#client,
      params: {
        ...this.#objectAt(file.path),
        CacheControl: "public, max-age=31536000, immutable",
        Metadata: { sha256: file.sha256 },
        Body: Readable.from(verifiedContent(file, from)),
        ContentLength: file.bytes,
        ChecksumAlgorithm: "SHA256",
      },
      partSize: Math.max(uploadPartBytes, Math.ceil(file.bytes / uploadPartsMax)),
      queueSize: 1,
    });
    await this.#call(file.path, (signal, restart) => {
      upload.on("httpUploadProgress", ({ loaded = 0 }) => {
        restart();
        onPart(loaded);
      });
      signal.addEventListener("abort", () => void upload.abort().catch(ignore), { once: true });
      return upload.done();
    });
  }

  /**
   * Writes a replaceable text file. With `tag`, writes only if the file has this tag or, for null, does not exist; returns false otherwise. Stores
   * without conditional writes always write.
   */
  async writeText(path: string, text: string, tag?: string | null): Promise<boolean> {
    const input = { ...this.#objectAt(path), Body: text, CacheControl: "no-cache" };
    const condition = tag === undefined ? {} : tag === null ? { IfNoneMatch: "*" } : { IfMatch: tag };
    return this.#call(path, async (abortSignal) => {
      const put = (more: object): Promise<unknown> =>
        this.#client.send(new PutObjectCommand({ ...input, ...more }), { abortSignal });
      try {
        await put(condition);
      } catch (thrown) {
        const status = statusOf(thrown) ?? 0;
        if (tag === undefined || ![404, 409, 412, 501].includes(status) || nameOf(thrown) === "NoSuchBucket")
          throw thrown;
        if (status !== 501) return false;
        await put({});
      }
      return true;
    });
  }

  /** Returns the paths of the objects whose path begins with a prefix, and when they were written, by the store's clock. */
  async objects(prefix: string): Promise<readonly BucketObject[]> {
    const request = { Bucket: this.#bucket, Prefix: this.#keyOf(prefix) };
    return this.#call(prefix, async (abortSignal, restart) => {
      const objects: BucketObject[] = [];
      const pages = paginateListObjectsV2({ client: this.#client }, request, { abortSignal });
      for await (const { Contents = [] } of pages) {
        restart();
        for (const { Key, LastModified, Size, ETag } of Contents)
          if (Key !== undefined && LastModified !== undefined)
            objects.push({ path: this.#pathOf(Key), modifiedMs: LastModified.getTime(), bytes: Size, tag: ETag });
      }
      return objects;
    });
  }

  async remove(path: string): Promise<void> {
    const command = new DeleteObjectCommand(this.#objectAt(path));
    await this.#call(path, (abortSignal) => this.#client.send(command, { abortSignal }));
  }

  /** Aborts the uploads in parts of files with some paths that began before a time, by the store's clock. */
  async abortUploads(isExpected: (path: string) => boolean, beforeMs: number): Promise<void> {
    const request = { Bucket: this.#bucket, Prefix: this.#keyOf("") };
    await this.#call("", async (abortSignal, restart) => {
      const { Uploads = [] } = await this.#client.send(new ListMultipartUploadsCommand(request), { abortSignal });
      for (const { Key = "", UploadId, Initiated } of Uploads) {
        if (Initiated === undefined || Initiated.getTime() >= beforeMs || !isExpected(this.#pathOf(Key))) continue;
        restart();
        await this.#client.send(new AbortMultipartUploadCommand({ Bucket: this.#bucket, Key, UploadId }), {
          abortSignal,
        });
      }
    });
  }

  /** Does work that a store which drips its answers cannot hold: `restart` starts its time again. */
  async #call<T>(path: string, work: (signal: AbortSignal, restart: () => void) => Promise<T>): Promise<T> {
    const ms = requestStalls * this.#stallMs;
    const error = new TransferFault(`${this.locationOf(path)}: no answer: expected one within ${ms / 1000} seconds.`);
    try {
      return await withTimeLimit({ ms, error }, (signal, restart) => orAborted(signal, work(signal, restart)));
    } catch (thrown) {
      throw this.#faultOf(path, thrown);
    }
  }

  #keyOf(path: string): string {
    return this.#prefix === "" ? path : `${this.#prefix}/${path}`;
  }

  #pathOf(key: string): string {
    return key.slice(this.#keyOf("").length);
  }

  #objectAt(path: string): { readonly Bucket: string; readonly Key: string } {
    return { Bucket: this.#bucket, Key: this.#keyOf(path) };
  }

  /** Returns the error of a failed request: a TransferFault if it can succeed later. Keeps the error of a lost local file. */
  #faultOf(path: string, thrown: unknown): unknown {
    if (thrown instanceof TransferFault || thrown instanceof UserError || isNotFound(thrown)) return thrown;
    const status = statusOf(thrown);
    const name = nameOf(thrown);
    const text = printable(`${name === "" ? "" : `${name}: `}${messageOf(thrown)}`, 500);
    const message = `${this.locationOf(path)}: ${text}`;
    const isRefused = status !== undefined && status < 500 && status !== 408 && status !== 429;
    return isRefused || name === "CredentialsProviderError" ? new UserError(message) : new TransferFault(message);
  }
}

/** Reads a file; throws a UserError at its end unless its hash is the expected one, so that an upload is not completed. */
async function* verifiedContent({ sha256 }: KnownContent, from: string): AsyncGenerator<Buffer, void, undefined> {
  const hash = createHash("sha256");
  const chunks: AsyncIterable<Buffer> = createReadStream(from, { highWaterMark: 1 << 20 });
  for await (const chunk of chunks) {
    hash.update(chunk);
    yield chunk;
  }
  const found = hash.digest("hex");
  if (found !== sha256)
    throw new UserError(`${from}: invalid content: expected SHA-256 ${sha256}, as the manifest lists, found ${found}.`);
}

const inHex = (base64: string | undefined): string | undefined =>
  base64 === undefined ? undefined : Buffer.from(base64, "base64").toString("hex");

const nameOf = (thrown: unknown): string => (thrown instanceof Error ? thrown.name : "");

/** Returns the HTTP status of a refused request. */
const statusOf = (thrown: unknown): number | undefined =>
  thrown instanceof S3ServiceException ? thrown.$metadata.httpStatusCode : undefined;
