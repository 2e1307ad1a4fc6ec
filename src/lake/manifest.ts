/**
 * Manifests: each lists the files of one version of the lake.
 *
 * `CURRENT` names the published version; `versions/<version>.json` is its manifest. Readers open exactly the listed files, never a glob, so every
 * response comes from one consistent version.
 */
import { createHash } from "node:crypto";
import { readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { folderEntries, isNotFound } from "../base/files.ts";
import { isObject } from "../base/json.ts";
import { messageOf, printable, UserError } from "../base/user-error.ts";
import { checker } from "../contract/schema.ts";
import type { LakeFile, TableFiles } from "./listed-file.ts";
import { tableNames } from "./tables.ts";

export type { LakeFile, TableFiles } from "./listed-file.ts";

/** The dimensions: tables whose rows are identified by an integer key. */
export type DimensionTable = "builds" | "dealers" | "tokens" | "options";

/** A search index or row store, derived from Parquet files. If it is missing or damaged, the service builds the index in memory, or reads rows from Parquet files. */
export interface ServingFile {
  readonly kind: "index" | "rows";
  /** Path relative to the lake's folder. */
  readonly path: string;
  /** Content hash of the Parquet files that it was built from. */
  readonly source: string;
  /** Fingerprint of its layout. The server ignores a file of another format. */
  readonly format: string;
  readonly bytes: number;
  readonly sha256: string;
}

/** The lake format, of the manifest and of the tables: it changes with either. A lake of another format is refused. */
export const lakeFormat = 1;

export interface Manifest {
  readonly format: number;
  readonly version: string;
  readonly as_of: string;
  readonly sequence: number;
  readonly previous: string | null;
  /** The first day that was ingested again, of a version that replays days, or that a follower published after one that it skipped. */
  readonly replayed_from?: string;
  readonly engine: string;
  /** ISO 4217 code of the currency of all prices; that of the lake's first ingest. */
  readonly currency: string;
  readonly keys: Readonly<Record<DimensionTable, number>>;
  readonly tables: TableFiles;
  /** The number of active listings of each day that was published, in the order of days. */
  readonly days: Readonly<Record<string, number>>;
  readonly serving: readonly ServingFile[];
}

const check = checker<Manifest & { readonly sha256: string }>("manifest");

/** The currency of a lake whose first ingest names none. */
export const defaultCurrency = "USD";

/** The tables of a lake without rows. */
export const noFiles = Object.fromEntries(tableNames.map((table) => [table, []])) as unknown as TableFiles;

/** The keys of a lake without rows. */
export const firstKeys: Manifest["keys"] = { builds: 0, dealers: 0, tokens: 0, options: 0 };

/** Returns the path of `CURRENT`, which holds the name of the published version. */
export const currentPath = (lake: string): string => join(lake, "CURRENT");

export const versionKey = (version: string): string => `versions/${version}`;

export const manifestKey = (version: string): string => `versions/${version}.json`;

export const manifestPath = (lake: string, version: string): string => join(lake, manifestKey(version));

/** Returns when a version was published, which is when its manifest was written, as Unix time in whole milliseconds. */
export async function publishedAtMs(lake: string, version: string): Promise<number> {
  return (await stat(manifestPath(lake, version))).mtime.getTime();
}

export const tableFilesOf = ({ tables }: Pick<Manifest, "tables">): readonly LakeFile[] => Object.values(tables).flat();

export const filesOf = (manifest: Pick<Manifest, "tables" | "serving">): readonly (LakeFile | ServingFile)[] => [
  ...tableFilesOf(manifest),
  ...manifest.serving,
];

/** The form of the name of a version. */
export const versionPattern = /^\d{4}-\d{2}-\d{2}\.\d{1,9}$/;

/** Returns the version whose manifest has a path; undefined for other files. */
export function versionOfKey(path: string): string | undefined {
  const [, version = ""] = /^versions\/(.+)\.json$/.exec(path) ?? [];
  return versionPattern.test(version) ? version : undefined;
}

/** Orders versions as a lake publishes them: by day, then by sequence. */
export function compareVersions(left: string, right: string): number {
  const [leftDay = "", leftSequence] = left.split(".");
  const [rightDay = "", rightSequence] = right.split(".");
  if (leftDay !== rightDay) return leftDay < rightDay ? -1 : 1;
  return Number(leftSequence) - Number(rightSequence);
}

/** Returns the version that the text of a `CURRENT` names; `location` is that of the file. Throws a UserError if it names none. */
export function versionIn(text: string, location: string): string {
  const version = text.trim();
  if (versionPattern.test(version)) return version;
  const found = JSON.stringify(printable(version, 40));
  throw new UserError(`${location}: invalid version ${found}: expected one such as 2026-11-19.1.`);
}

/** Returns the name of the published version; undefined if nothing has been published. Throws a UserError if `CURRENT` names none. */
export async function currentVersion(lake: string): Promise<string | undefined> {
  const path = currentPath(lake);
  try {
    return versionIn(await readFile(path, "utf8"), path);
  } catch (thrown) {
    if (isNotFound(thrown)) return undefined;
    throw thrown;
  }
}

/** Returns the text of a manifest's file, with a checksum of its content. */
export const manifestText = (manifest: Manifest): string =>
  `${JSON.stringify({ ...manifest, sha256: contentHash(manifest) }, null, 1)}\n`;

const contentHash = (content: object): string => createHash("sha256").update(JSON.stringify(content)).digest("hex");

/** Reads the manifest of a version. Throws a UserError as `parseManifest` does. */
export async function readManifest(lake: string, version: string): Promise<Manifest> {
  const path = manifestPath(lake, version);
  return parseManifest(await readFile(path, "utf8"), path, version);
}

/**
 * Parses the manifest of a version; `location` names its file in messages. Throws a UserError if it has another lake format, does not match its
 * checksum or the schema, or is that of another version.
 */
export function parseManifest(text: string, location: string, version: string): Manifest {
  const content = parsedJson(text, location);
  const format = isObject(content) ? content.format : undefined;
  if (typeof format === "number" && format !== lakeFormat)
    throw new UserError(
      `${location}: unsupported lake format ${format}: expected ${lakeFormat}. ` +
        "Use the release of Carquet that wrote the lake, or ingest its feeds again into an empty folder.",
    );
  const { sha256, ...manifest } = check(content, location);
  if (sha256 !== contentHash(manifest))
    throw new UserError(`${location}: invalid content: expected SHA-256 ${sha256}, as in the manifest.`);
  if (manifest.version !== version)
    throw new UserError(`${location}: invalid version ${manifest.version}: expected ${version}.`);
  return manifest;
}

function parsedJson(text: string, location: string): unknown {
  try {
    return JSON.parse(text);
  } catch (thrown) {
    throw new UserError(`${location}: ${printable(messageOf(thrown), 200)}: expected a manifest in JSON.`);
  }
}

/** Reads the published manifest; undefined if nothing has been published. */
export async function currentManifest(lake: string): Promise<Manifest | undefined> {
  const version = await currentVersion(lake);
  return version === undefined ? undefined : readManifest(lake, version);
}

/** Returns the names of all versions whose manifest exists, in no particular order. */
export const versionsIn = async (lake: string): Promise<readonly string[]> =>
  (await folderEntries(join(lake, "versions"))).flatMap((name) => versionOfKey(`versions/${name}`) ?? []);
