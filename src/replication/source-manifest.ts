/**
 * Reads the published version of a source: `CURRENT`, and the manifest that it names. A source is trusted for the content of its lake, never for
 * paths, sizes, or the order of its versions.
 */
import { printable, UserError } from "../base/user-error.ts";
import type { Connector } from "../connectors/connector.ts";
import { readText, type TransferOptions } from "../connectors/transfer.ts";
import { type LakeFile, type Manifest, manifestKey, parseManifest, tableFilesOf, versionIn } from "../lake/manifest.ts";
import { pathInTable, type TableName, tableNames, tableOf } from "../lake/tables.ts";

/** The largest manifest that is fetched: one of a thousand days has some 3 MB. And the largest `CURRENT`. */
const manifestBytesMax = 16 * 2 ** 20;
const currentBytesMax = 1024;

/** The name of a published version, and the tag of the `CURRENT` that holds it. */
export interface SourceVersion {
  readonly version: string;
  readonly tag: string | undefined;
}

/** Reads `CURRENT`; undefined if it does not exist. Throws a UserError if it names no version. */
export async function readSourceVersion(
  source: Connector,
  options: TransferOptions,
): Promise<SourceVersion | undefined> {
  const read = await readText(source, "CURRENT", currentBytesMax, options);
  if (read === undefined) return undefined;
  return { version: versionIn(read.text, source.locationOf("CURRENT")), tag: read.tag };
}

/** Reads the manifest of a version; undefined if it does not exist. Throws a UserError if it is not one that a lake can have. */
export async function readSourceManifest(
  source: Connector,
  version: string,
  options: TransferOptions,
): Promise<Manifest | undefined> {
  const path = manifestKey(version);
  const location = source.locationOf(path);
  const read = await readText(source, path, manifestBytesMax, options);
  if (read === undefined) return undefined;
  const manifest = parseManifest(read.text, location, version);
  requireLakeFiles(manifest, location);
  return manifest;
}

/** Throws a UserError unless a manifest has the day of its version, and lists each file once, under a path that a writer creates. */
function requireLakeFiles(manifest: Manifest, location: string): void {
  const { version, as_of, sequence, tables, serving } = manifest;
  if (version !== `${as_of}.${sequence}`)
    throw new UserError(
      `${location}: invalid as_of ${as_of} and sequence ${sequence}: expected those of version ${version}.`,
    );
  const paths = new Set<string>();
  const requirePath = (path: string, isExpected: boolean): void => {
    const name = JSON.stringify(printable(path));
    if (!isExpected) throw new UserError(`${location}: invalid path ${name}: expected a file of a lake.`);
    if (paths.has(path)) throw new UserError(`${location}: the path ${name} is listed twice: expected each file once.`);
    paths.add(path);
  };
  for (const table of tableNames) for (const file of tables[table]) requirePath(file.path, isTableFile(table, file));
  for (const { path } of serving) requirePath(path, /^serving\/\d{4}-\d{2}-\d{2}\.\d+-\d+\.(duckdb|db)$/.test(path));
}

/** Returns true if a file has a path of its table and partition. */
function isTableFile(table: TableName, { path, partition }: LakeFile): boolean {
  const isPartitioned = tableOf(table).partition !== undefined;
  if (isPartitioned ? !/^(\d{4}-\d{2}|open)$/.test(partition ?? "") : partition !== null) return false;
  const folder = `files/${pathInTable(table, partition, "")}`;
  return path.startsWith(folder) && /^\d{4}-\d{2}-\d{2}\.\d+(-\d+)?\.parquet$/.test(path.slice(folder.length));
}

/**
 * Throws a UserError unless a manifest can belong to a lake with the known ones: a path has the same content in all of them, and a version the same
 * files. `location` and `lake` name them in messages. Serving files can be rebuilt under the same name.
 */
export function requireSameLake(manifest: Manifest, location: string, known: readonly Manifest[], lake: string): void {
  const files = new Map(known.flatMap(tableFilesOf).map((file) => [file.path, file]));
  for (const { path, sha256 } of tableFilesOf(manifest)) {
    const listed = files.get(path);
    if (listed !== undefined && listed.sha256 !== sha256)
      throw new UserError(
        `${location}: ${path} has SHA-256 ${sha256}: expected ${listed.sha256}, as in ${lake}. Is it another lake?`,
      );
  }
  const same = known.find(({ version }) => version === manifest.version);
  const pathsOf = (one: Manifest): string => JSON.stringify(tableFilesOf(one).map(({ path }) => path));
  if (same !== undefined && pathsOf(same) !== pathsOf(manifest))
    throw new UserError(`${location}: lists other files than ${lake} in the same version. Is it another lake?`);
}
