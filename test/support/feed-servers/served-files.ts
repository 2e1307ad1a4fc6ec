/** The files of a test's server, and how it misbehaves. */
export interface ServedFile {
  readonly content: Buffer;
  readonly modifiedMs: number;
}

export interface ServedFiles {
  /** By their paths without a leading slash. */
  readonly files: Map<string, ServedFile>;
  /** Names that are listed in the root folder as well. */
  readonly moreNames: string[];
  /** How often the server ends the connection in the middle of a file that is not small, from now on. */
  cutOffs: number;
  /** Paths of files that were sent whole. */
  readonly sent: string[];
}

/** Files up to this size are sent whole. */
export const smallBytes = 1000;

export const servedFiles = (): ServedFiles => ({ files: new Map(), moreNames: [], cutOffs: 0, sent: [] });

/** A name in a folder: of a file, or of a folder of files. */
export interface ListedName {
  readonly name: string;
  readonly file: ServedFile | undefined;
}

/** Returns the names in a folder; undefined if it does not exist. */
export function namesInFolder({ files, moreNames }: ServedFiles, folder: string): readonly ListedName[] | undefined {
  const prefix = folder === "" ? "" : `${folder}/`;
  const names = new Map<string, ServedFile | undefined>();
  for (const [path, file] of files) {
    if (!path.startsWith(prefix)) continue;
    const [name = "", ...rest] = path.slice(prefix.length).split("/");
    names.set(name, rest.length === 0 ? file : undefined);
  }
  if (names.size === 0 && folder !== "") return undefined;
  const more: ServedFile = { content: Buffer.alloc(0), modifiedMs: 0 };
  if (folder === "") for (const name of moreNames) names.set(name, more);
  return [...names].map(([name, file]) => ({ name, file }));
}

/** Returns a path as the files have it: without a leading slash and dots. */
export const plainPath = (path: string): string =>
  path
    .split("/")
    .filter((part) => part !== "" && part !== ".")
    .join("/");
