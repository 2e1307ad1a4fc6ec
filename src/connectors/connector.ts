/**
 * Connectors: where feeds are fetched from, and where a published lake is read from or pushed to. One interface, and a module for each kind: a
 * folder, HTTPS, SFTP, FTP, a bucket. Only a bucket is written to.
 */
import { UserError } from "../base/user-error.ts";
import type { FilePattern } from "./file-pattern.ts";

/** A file that a connector lists. */
export interface RemoteFile {
  /** Its path below the connector's folder. */
  readonly path: string;
  readonly bytes: number | undefined;
  readonly modifiedMs: number | undefined;
  /** Equal for equal content. */
  readonly tag: string | undefined;
}

export interface OpenedFile {
  /** The offset of the first byte of `content`: the requested one, or 0 if the file is read from its start. */
  readonly offset: number;
  /** The size of the whole file; undefined if the connector does not know it. */
  readonly bytes: number | undefined;
  readonly modifiedMs?: number | undefined;
  readonly tag: string | undefined;
  readonly content: AsyncIterable<Uint8Array>;
}

export interface ReadOptions {
  /** Where to start, if the connector can and the content still has the tag `tag`. Default: 0. */
  readonly offset?: number;
  readonly tag?: string | undefined;
  /** The tag of content that need not be read again. */
  readonly knownTag?: string | undefined;
  /** Whether caches on the way have to ask the server. */
  readonly isFresh?: boolean;
}

/** The methods throw a TransferFault if a retry, over a new connection, may help, else a UserError. */
export interface Connector {
  /** The path or URL of a file, for messages: without secrets. */
  placeOf(path: string): string;
  /** Returns the files that fit a pattern. */
  list(pattern: FilePattern): Promise<readonly RemoteFile[]>;
  /** Opens a file; undefined if it does not exist, "unchanged" if its tag is the known one. */
  read(path: string, options: ReadOptions, signal: AbortSignal): Promise<OpenedFile | "unchanged" | undefined>;
}

/** A failure that a retry may repair: a lost connection, an overloaded server, a file that does not match its hash. */
export class TransferFault extends Error {
  override readonly name = "TransferFault";
}

/** A file that does not exist. It may have been removed because a newer version is published. */
export class MissingFile extends UserError {}

/** A file with the same size and time of modification has the same content. */
export const tagOf = (bytes: number | undefined, modifiedMs: number | undefined): string | undefined =>
  bytes === undefined || modifiedMs === undefined ? undefined : `${bytes} ${modifiedMs}`;
