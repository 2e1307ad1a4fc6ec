/**
 * Replication of a published lake. This module defines the interface of its sources: a folder, a web server or a bucket. Nothing here writes to a
 * source.
 */
import { UserError } from "../base/user-error.ts";

export interface OpenedFile {
  /** The offset of the first byte of `content`: the requested one, or 0 if the file is read from its start. */
  readonly offset: number;
  /** The size of the whole file; undefined if the source does not state it. */
  readonly bytes: number | undefined;
  /** Identifies the content of the file at the source. */
  readonly tag: string | undefined;
  readonly content: AsyncIterable<Uint8Array>;
}

/** The start of a read: `offset` if the content still has the tag, else 0. */
export interface ReadFrom {
  readonly offset: number;
  readonly tag?: string | undefined;
}

export interface LakeSource {
  /** The path or URL of a file, for messages. */
  placeOf(path: string): string;
  /** Opens a file by its path below the lake's folder; undefined if it does not exist. Throws a TransferFault if a retry may help. */
  open(path: string, from: ReadFrom, signal: AbortSignal): Promise<OpenedFile | undefined>;
}

/** A failure that a retry may repair: a lost connection, an overloaded server, a file that does not match the manifest. */
export class TransferFault extends Error {
  override readonly name = "TransferFault";
}

/** A file that the source lacks. It may have been removed because a newer version is published. */
export class MissingFile extends UserError {}
