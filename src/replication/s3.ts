/**
 * A published lake in a bucket of Amazon S3 or of a compatible store. Credentials, region and endpoint come from the usual settings of AWS:
 * environment variables, profiles, roles. Loaded only when a location is an `s3://` URL.
 */
import { createReadStream } from "node:fs";
import { addAbortSignal, Readable } from "node:stream";
import {
  GetObjectCommand,
  HeadObjectCommand,
  PutObjectCommand,
  type PutObjectCommandInput,
  S3Client,
  S3ServiceException,
} from "@aws-sdk/client-s3";
import { messageOf, UserError } from "../base/user-error.ts";
import type { ListedFile } from "../serving/verified-files.ts";
import { type LakeSource, TransferFault } from "./source.ts";

export interface S3Settings {
  /** The URL of a store other than Amazon S3; its buckets are addressed by path. */
  readonly endpoint?: string | undefined;
  /** How long a connection may be idle during a request. */
  readonly stallMs: number;
}

/** A bucket, or a part of one, that holds a lake. */
export class S3Store implements LakeSource {
  readonly #client: S3Client;
  readonly #bucket: string;
  readonly #prefix: string;

  /** `location` is `s3://<bucket>/<prefix>`. */
  constructor(location: URL, { endpoint, stallMs }: S3Settings) {
    this.#bucket = location.hostname;
    this.#prefix = location.pathname.replace(/^\/|\/$/g, "");
    this.#client = new S3Client({
      // Stores other than Amazon's need no region, and some do not know its newer checksums.
      ...(endpoint === undefined ? {} : { endpoint, forcePathStyle: true, region: "us-east-1" }),
      requestHandler: { connectionTimeout: stallMs, socketTimeout: stallMs },
      requestChecksumCalculation: "WHEN_REQUIRED",
      responseChecksumValidation: "WHEN_REQUIRED",
    });
  }

  placeOf(path: string): string {
    return `s3://${this.#bucket}/${this.#keyOf(path)}`;
  }

  readonly open: LakeSource["open"] = async (path, { offset, tag }, signal) => {
    const range = offset === 0 ? {} : { Range: `bytes=${offset}-`, ...(tag === undefined ? {} : { IfMatch: tag }) };
    try {
      const command = new GetObjectCommand({ ...this.#objectAt(path), ...range });
      const { Body, ContentLength, ETag } = await this.#client.send(command, { abortSignal: signal });
      if (!(Body instanceof Readable)) throw new TransferFault(`${this.placeOf(path)}: no content: expected a file.`);
      // Without a listener, an abort before the first byte is read would end the process.
      const content = addAbortSignal(signal, Body).on("error", () => undefined);
      return { offset, bytes: ContentLength === undefined ? undefined : offset + ContentLength, tag: ETag, content };
    } catch (thrown) {
      const status = statusOf(thrown);
      // The object has changed, or is shorter than the offset.
      if (offset > 0 && (status === 412 || status === 416)) return this.open(path, { offset: 0 }, signal);
      if (status === 404) return undefined;
      throw this.#faultOf(path, thrown);
    }
  };

  /** Returns whether the bucket has a file with its size, and with its SHA-256 if the store has recorded it. */
  async has({ path, bytes, sha256 }: ListedFile): Promise<boolean> {
    try {
      const command = new HeadObjectCommand({ ...this.#objectAt(path), ChecksumMode: "ENABLED" });
      const { ContentLength, ChecksumSHA256 = inBase64(sha256) } = await this.#client.send(command);
      return ContentLength === bytes && ChecksumSHA256 === inBase64(sha256);
    } catch (thrown) {
      if (statusOf(thrown) === 404) return false;
      throw this.#faultOf(path, thrown);
    }
  }

  /** Uploads a local file. The store refuses it if it does not match its SHA-256. */
  async upload({ path, bytes, sha256 }: ListedFile, from: string): Promise<void> {
    await this.#put(path, {
      Body: createReadStream(from),
      ContentLength: bytes,
      ChecksumSHA256: inBase64(sha256),
      CacheControl: "public, max-age=31536000, immutable",
    });
  }

  /** Writes a text file that can be replaced. */
  async writeText(path: string, text: string): Promise<void> {
    await this.#put(path, { Body: text, CacheControl: "no-cache" });
  }

  async #put(path: string, input: Omit<PutObjectCommandInput, "Bucket" | "Key">): Promise<void> {
    try {
      await this.#client.send(new PutObjectCommand({ ...this.#objectAt(path), ...input }));
    } catch (thrown) {
      throw this.#faultOf(path, thrown);
    }
  }

  #keyOf(path: string): string {
    return this.#prefix === "" ? path : `${this.#prefix}/${path}`;
  }

  #objectAt(path: string): { readonly Bucket: string; readonly Key: string } {
    return { Bucket: this.#bucket, Key: this.#keyOf(path) };
  }

  /** Returns the error of a failed request: a TransferFault if it can succeed later. */
  #faultOf(path: string, thrown: unknown): Error {
    if (thrown instanceof TransferFault) return thrown;
    const status = statusOf(thrown);
    const name = thrown instanceof Error ? thrown.name : "";
    const message = `${this.placeOf(path)}: ${name === "" ? "" : `${name}: `}${messageOf(thrown)}`;
    const isRefused = status !== undefined && status < 500 && status !== 408 && status !== 429;
    return isRefused || name === "CredentialsProviderError" ? new UserError(message) : new TransferFault(message);
  }
}

const inBase64 = (sha256: string): string => Buffer.from(sha256, "hex").toString("base64");

/** Returns the HTTP status of a refused request. */
const statusOf = (thrown: unknown): number | undefined =>
  thrown instanceof S3ServiceException ? thrown.$metadata.httpStatusCode : undefined;
