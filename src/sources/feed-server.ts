/** The interface of what feeds are fetched from, and the search of a pattern in its folders. Nothing here writes to a source. */
import { printable, UserError } from "../base/user-error.ts";
import { type FilePattern, fitsPart, isFileName } from "./file-pattern.ts";

export interface ServerFile {
  /** Its path below the source's folder. */
  readonly path: string;
  readonly bytes: number | undefined;
  readonly modifiedMs: number | undefined;
  /** Equal for equal content. */
  readonly tag: string | undefined;
}

export interface OpenedFeed extends ServerFile {
  readonly content: AsyncIterable<Uint8Array>;
}

/** A connection to a source. Its methods throw a TransferFault if a retry may help, else a UserError. A signal ends it. */
export interface FeedServer {
  /** Returns the files that fit the source's pattern. */
  list(): Promise<readonly ServerFile[]>;
  /** Opens a file; undefined if its tag is the known one. */
  open(file: ServerFile, known: string | undefined, signal: AbortSignal): Promise<OpenedFeed | undefined>;
}

/** Returns the secret of a key of a source, from the environment variable that the file names. */
export type SecretOf = (key: string, variable: string | undefined) => string | undefined;

/** What a connection needs beside its settings. */
export interface Connection {
  readonly pattern: FilePattern;
  readonly stallMs: number;
  readonly signal: AbortSignal;
}

/** An entry of a folder. */
export interface ServerEntry extends Pick<ServerFile, "bytes" | "modifiedMs"> {
  readonly name: string;
  readonly isFolder: boolean;
}

/** Lists a folder below the source's: of regular files and folders. Only names that fit are used. */
export type ListFolder = (folder: string, fits: (name: string) => boolean) => Promise<readonly ServerEntry[]>;

/** Returns the files that fit a pattern, in folders that are listed only where it has wildcards. */
export async function findFiles(
  pattern: FilePattern,
  listFolder: ListFolder,
  folder: readonly string[] = [],
): Promise<readonly ServerFile[]> {
  const { parts } = pattern;
  const part = parts[folder.length];
  const isLast = folder.length === parts.length - 1;
  if (typeof part === "string" && !isLast) return findFiles(pattern, listFolder, [...folder, part]);
  const found: ServerFile[] = [];
  const fits = (name: string): boolean => fitsPart(part, name);
  for (const { name, isFolder, bytes, modifiedMs } of await listFolder(folder.join("/"), fits)) {
    if (name === "." || name === "..") continue;
    requireName(name);
    if (isFolder === isLast || !fits(name)) continue;
    const path = [...folder, name];
    if (isLast) found.push({ path: path.join("/"), bytes, modifiedMs, tag: tagOf(bytes, modifiedMs) });
    else found.push(...(await findFiles(pattern, listFolder, path)));
  }
  return found;
}

/** Throws a UserError for a name that would lead out of a folder: the server is broken, or hostile. */
export function requireName(name: string): void {
  if (!isFileName(name))
    throw new UserError(`invalid name "${printable(name, 80)}" at the source: expected a name of a file.`);
}

/** A file with the same size and time of modification has the same content. */
export const tagOf = (bytes: number | undefined, modifiedMs: number | undefined): string | undefined =>
  bytes === undefined || modifiedMs === undefined ? undefined : `${bytes} ${modifiedMs}`;
