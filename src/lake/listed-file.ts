/** The files of a version, and their comparison with its manifest, which lists the size and SHA-256 of each. */
import { createHash } from "node:crypto";
import { stat } from "node:fs/promises";
import { join } from "node:path";
import { isNotFound, sha256Of } from "../base/files.ts";
import { messageOf, UserError } from "../base/user-error.ts";
import type { TableName } from "./tables.ts";

/** One immutable Parquet file. */
export interface LakeFile {
  /** Path relative to the lake's folder. */
  readonly path: string;
  /** Value of the table's partition key; null for tables without partitions. */
  readonly partition: string | null;
  readonly rows: number;
  readonly bytes: number;
  readonly sha256: string;
  /** Minimum and maximum of the table's first sort column. */
  readonly min: string | null;
  readonly max: string | null;
}

export type TableFiles = Readonly<Record<TableName, readonly LakeFile[]>>;

/** A file as a manifest lists it. */
export type ListedFile = Pick<LakeFile, "path" | "bytes" | "sha256">;

/** Returns a hash of the content of files, and of further texts that they are read with. */
export const hashOfFiles = (files: readonly LakeFile[], texts: readonly string[] = []): string =>
  createHash("sha256")
    .update([...texts, ...files.map(({ sha256 }) => sha256)].join("\n"))
    .digest("hex");

interface FileContent {
  readonly bytes?: number | undefined;
  readonly sha256?: string | undefined;
}

/** Returns how content differs from its entry in the manifest; undefined if every known property agrees. */
export function mismatchOf(listed: ListedFile, { bytes, sha256 }: FileContent): string | undefined {
  if (bytes !== undefined && bytes !== listed.bytes)
    return `invalid size: expected ${listed.bytes} bytes, found ${bytes}.`;
  if (sha256 !== undefined && sha256 !== listed.sha256)
    return `invalid content: expected SHA-256 ${listed.sha256}, as the manifest lists, found ${sha256}.`;
  return undefined;
}

/**
 * Compares a file below a folder with its manifest: the size, and with `content` the SHA-256 that `hash` returns. Returns the fault as a message;
 * undefined for an intact file. Rejects if the file cannot be read, which proves no damage, and if `hash` is aborted.
 */
export async function fileFault(
  folder: string,
  listed: ListedFile,
  check: "size" | "content",
  hash: (path: string) => Promise<string> = sha256Of,
): Promise<string | undefined> {
  const target = join(folder, listed.path);
  try {
    const fault =
      mismatchOf(listed, { bytes: (await stat(target)).size }) ??
      (check === "content" ? mismatchOf(listed, { sha256: await hash(target) }) : undefined);
    return fault && `${listed.path}: ${fault}`;
  } catch (thrown) {
    if (thrown instanceof Error && thrown.name === "AbortError") throw thrown;
    if (isNotFound(thrown)) return `${listed.path}: not found: expected the file, as the manifest lists it.`;
    throw new UserError(`${listed.path}: cannot be read: ${messageOf(thrown)}.`, { cause: thrown });
  }
}
