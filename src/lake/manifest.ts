/**
 * What a published version of the lake consists of.
 *
 * `CURRENT` names the published version; `versions/<version>.json` lists its files. Readers open exactly those
 * files, never a glob, so that an answer comes from one version, whole.
 */
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { isNotFound } from "../base/files.ts";
import { isObject } from "../base/json.ts";
import { UserError } from "../base/user-error.ts";
import { checker } from "../contract/schema.ts";
import { type TableName, tableNames } from "./tables.ts";

/** One immutable Parquet file. */
export interface LakeFile {
  /** Relative to the lake's folder. */
  readonly path: string;
  readonly partition: string | null;
  readonly rows: number;
  readonly bytes: number;
  readonly sha256: string;
  readonly min: string | null;
  readonly max: string | null;
  /** Fingerprint of the columns that it was written with; files of format 1 have none. */
  readonly schema?: string;
}

/** The dimensions whose rows are known by a key. */
export type DimensionTable = "builds" | "dealers" | "tokens" | "options";

export type TableFiles = Readonly<Record<TableName, readonly LakeFile[]>>;

/** A file that answers are served from, built from others; where it is absent or damaged, the Parquet files answer. */
export interface ServingFile {
  readonly kind: "index" | "rows";
  /** Relative to the lake's folder. */
  readonly path: string;
  /** What it was built from, by content. */
  readonly source: string;
  /** Names its layout and what reads it. */
  readonly format: string;
  readonly bytes: number;
  readonly sha256: string;
}

/** The format that is written. Readers accept it and every one before it. */
export const lakeFormat = 2;

export interface Manifest {
  readonly format: number;
  readonly version: string;
  readonly as_of: string;
  readonly sequence: number;
  readonly previous: string | null;
  readonly engine: string;
  readonly keys: Readonly<Record<DimensionTable, number>>;
  readonly tables: TableFiles;
  readonly serving: readonly ServingFile[];
}

const check = checker<
  Omit<Manifest, "tables" | "serving"> & { tables: Partial<TableFiles>; serving?: readonly ServingFile[] }
>("manifest");

/** A lake's tables without any file. */
export const noFiles: TableFiles = filesOf({});

/** All tables, those that are not named without files. */
function filesOf(some: Partial<TableFiles>): TableFiles {
  return Object.fromEntries(tableNames.map((table) => [table, some[table] ?? []])) as unknown as TableFiles;
}

/** Where a lake keeps the name of its published version. */
export const currentPath = (lake: string): string => join(lake, "CURRENT");

/** Where a lake keeps the manifest of a version. */
export const manifestPath = (lake: string, version: string): string => join(lake, "versions", `${version}.json`);

/** The name of the published version; undefined where nothing has been published. */
export async function currentVersion(lake: string): Promise<string | undefined> {
  try {
    return (await readFile(currentPath(lake), "utf8")).trim();
  } catch (thrown) {
    if (isNotFound(thrown)) return undefined;
    throw thrown;
  }
}

/** The manifest of a version; fails when the file does not have a manifest's shape, or is of a newer release. */
export async function readManifest(lake: string, version: string): Promise<Manifest> {
  const path = manifestPath(lake, version);
  const content: unknown = JSON.parse(await readFile(path, "utf8"));
  const format = isObject(content) ? content.format : undefined;
  if (typeof format === "number" && format > lakeFormat)
    throw new UserError(
      `${path}: lake format ${format}; this release reads formats 1 to ${lakeFormat}. Use a newer release.`,
    );
  const manifest = check(content, path);
  return { ...manifest, tables: filesOf(manifest.tables), serving: manifest.serving ?? [] };
}

/** The published manifest; undefined where nothing has been published. */
export async function currentManifest(lake: string): Promise<Manifest | undefined> {
  const version = await currentVersion(lake);
  return version === undefined ? undefined : readManifest(lake, version);
}

/** The names of all versions that a lake has a manifest of. */
export async function versionsIn(lake: string): Promise<readonly string[]> {
  try {
    const names = await readdir(join(lake, "versions"));
    return names.filter((file) => file.endsWith(".json")).map((file) => file.slice(0, -".json".length));
  } catch (thrown) {
    if (isNotFound(thrown)) return [];
    throw thrown;
  }
}
