/**
 * Connectors: where feeds are fetched from, and where a published lake is read from or pushed to. One interface, and a module for each kind: a
 * folder, HTTPS, SFTP, FTP, a bucket. Only a bucket is written to.
 */
import { printable } from "../base/user-error.ts";
import { type FilePattern, fitsPart, isFileName } from "./file-pattern.ts";

/** A file that a connector lists. */
export interface RemoteFile {
  /** Its path below the connector's folder. */
  readonly path: string;
  readonly bytes: number | undefined;
  readonly modifiedMs: number | undefined;
  /** Equal for equal content. */
  readonly tag: string | undefined;
  /** Why its name cannot be that of a file. Its path is then for messages only. */
  readonly fault?: string;
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

export interface ReadFrom {
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
  locationOf(path: string): string;
  /** Returns the files that fit a pattern. */
  list(pattern: FilePattern): Promise<readonly RemoteFile[]>;
  /** Opens a file; undefined if it does not exist, "unchanged" if its tag is the known one. */
  read(path: string, options: ReadFrom, signal: AbortSignal): Promise<OpenedFile | "unchanged" | undefined>;
}

/** A failure that a retry may repair: a lost connection, an overloaded server, a file that does not match its hash. */
export class TransferFault extends Error {
  override readonly name = "TransferFault";
}

/** Returns the path on a server of a path below a folder; "." is where a session begins. */
export function serverPath(folder: string, path: string): string {
  if (path === "" || folder === ".") return path || folder;
  return `${folder.replace(/\/$/, "")}/${path}`;
}

/** Returns a file, refused if a name of its path would lead out of a folder, or is too long: the server is broken, or hostile. */
export function withCheckedName(file: RemoteFile, names: readonly string[] = file.path.split("/")): RemoteFile {
  const invalid = names.find((name) => !isFileName(name));
  if (invalid === undefined) return file;
  const shown = `"${printable(invalid, 80)}"`;
  return { ...file, path: shown, fault: `invalid name ${shown} at the source: expected a name of a file.` };
}

/** An entry of a folder. */
export interface FolderEntry extends Pick<RemoteFile, "bytes" | "modifiedMs"> {
  readonly name: string;
  readonly isFolder: boolean;
}

/** Lists the regular files and folders of a folder. Only names that fit are used. */
export type ListFolder = (folder: string, fits: (name: string) => boolean) => Promise<readonly FolderEntry[]>;

/** Returns the files that fit a pattern, in folders that are listed only where it has wildcards. */
export async function findFiles(
  pattern: FilePattern,
  listFolder: ListFolder,
  folder: readonly string[] = [],
): Promise<readonly RemoteFile[]> {
  const { parts } = pattern;
  const part = parts[folder.length];
  const isLast = folder.length === parts.length - 1;
  if (typeof part === "string" && !isLast) return findFiles(pattern, listFolder, [...folder, part]);
  const found: RemoteFile[] = [];
  const fits = (name: string): boolean => fitsPart(part, name);
  for (const { name, isFolder, bytes, modifiedMs } of await listFolder(folder.join("/"), fits)) {
    if (name === "." || name === "..") continue;
    // A path is the name of a server that is broken, or hostile; other names count only if they fit.
    const isPath = name.includes("/");
    if (!isPath && (isFolder === isLast || !fits(name))) continue;
    const path = [...folder, name];
    // A file with the same size and time of modification has the same content.
    const tag = bytes === undefined || modifiedMs === undefined ? undefined : `${bytes} ${modifiedMs}`;
    const file = withCheckedName({ path: path.join("/"), bytes, modifiedMs, tag }, path);
    if (isLast || file.fault !== undefined) found.push(file);
    else found.push(...(await findFiles(pattern, listFolder, path)));
  }
  return found;
}
