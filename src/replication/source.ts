/**
 * Replication: keeps a lake equal to a published one. This module defines what a published lake is read from: a folder, a web server or a
 * bucket. Nothing here writes to a source.
 */
import { UserError } from "../base/user-error.ts";

/** A file that is being read. */
export interface OpenedFile {
  /** The offset of the first byte of `content`: the requested one, or 0 if the file is read from its start. */
  readonly offset: number;
  /** The size of the whole file; undefined if the source does not say. */
  readonly bytes: number | undefined;
  /** Identifies the content of the file at the source. */
  readonly tag: string | undefined;
  readonly content: AsyncIterable<Uint8Array>;
}

/** Where a file is read from: from `offset` on if its content still has the tag, else from the start. */
export interface ReadFrom {
  readonly offset: number;
  readonly tag?: string | undefined;
}

/** A published lake. */
export interface LakeSource {
  /** The path or URL of a file, for messages. */
  placeOf(path: string): string;
  /** Opens a file by its path below the lake's folder; undefined if it does not exist. Throws a TransferFault if a retry may help. */
  open(path: string, from: ReadFrom, signal: AbortSignal): Promise<OpenedFile | undefined>;
}

/** A failure that a retry may repair: a lost connection, an overloaded server, a file that is not what the manifest says. */
export class TransferFault extends Error {
  override readonly name = "TransferFault";
}

/** A file that the source lacks. It may have been removed because a newer version is published. */
export class MissingFile extends UserError {}
