/**
 * Apache Iceberg metadata of the lake's tables over the same Parquet files: a snapshot for each version, so that other engines read the served
 * rows, also of earlier versions.
 *
 * A publish stages the metadata, replaces `CURRENT`, and then commits: renames what it staged. Iceberg's readers are never ahead of `CURRENT`. If
 * the publish is killed before it has committed, the next writer does. All of it derives from the lake's manifests, and can be removed and written
 * again.
 */
import { open, readFile, realpath, rename, stat } from "node:fs/promises";
import { join } from "node:path";
import { settleAll } from "../../base/concurrency.ts";
import { createFolder, isNotFound, replaceFile, syncToDisk } from "../../base/files.ts";
import { integerIn, type Row } from "../../base/json.ts";
import { type Manifest, manifestPath, readManifest, type TableFiles, versionsIn } from "../manifest.ts";
import {
  type MetadataFile,
  manifestList,
  manifestsOf,
  metadataLocation,
  snapshotIdOf,
  type TableChange,
  tableLocation,
} from "./manifests.ts";
import {
  hintName,
  metadataFolder,
  metadataName,
  newestNumber,
  nextLog,
  readManifestList,
  readTableHistory,
  snapshotRow,
  type TableHistory,
  tableMetadata,
  versionOf,
} from "./table-metadata.ts";
import { type IcebergTable, icebergTables } from "./table-schema.ts";

/** Files of a table's metadata that are written and synced at once. */
const filesAtOnceMax = 32;

/** Publishes staged metadata. */
export type Commit = () => Promise<void>;

export interface StageOptions {
  /** Versions whose snapshots leave. */
  readonly expired?: readonly string[];
  /** Whether to rewrite the whole history. */
  readonly isAnew?: boolean;
}

interface VersionFiles extends Pick<Manifest, "version" | "previous"> {
  readonly tables: TableFiles;
}

interface Publish {
  readonly lake: string;
  readonly location: string;
  readonly newest: VersionFiles;
  /** Names of the versions whose snapshots stay. */
  readonly retained: ReadonlySet<string>;
  readonly isAnew: boolean;
  /** Reads an earlier version, once for all tables. */
  readonly read: (version: string) => Promise<VersionFiles>;
}

/** Returns the path of the file with the URI of the lake's folder in Iceberg metadata. */
export const locationPath = (lake: string): string => join(lake, "ICEBERG_LOCATION");

/** Returns the URI of the lake's folder in Iceberg metadata: that in its file, else that of its path. */
export async function icebergLocation(lake: string): Promise<string> {
  try {
    return (await readFile(locationPath(lake), "utf8")).trim();
  } catch (thrown) {
    if (isNotFound(thrown)) return `file://${await realpath(lake)}`;
    throw thrown;
  }
}

/**
 * Stages the metadata of a version whose manifest is on the disk, without snapshots of expired versions. Continues the history of each table; where
 * the location differs or versions are missing, rewrites the history. Returns the commit.
 */
export async function stageIcebergMetadata(
  lake: string,
  manifest: Manifest,
  { expired = [], isAnew = false }: StageOptions = {},
): Promise<Commit> {
  const retained = new Set((await versionsIn(lake)).filter((version) => !expired.includes(version)));
  const location = await icebergLocation(lake);
  const newest = filesOfVersion(manifest);
  const publish: Publish = { lake, location, newest, retained, isAnew, read: versionReader(lake) };
  const commits = await settleAll(icebergTables.map((table) => stageTable(publish, table)));
  return async () => {
    await settleAll(commits.map((commit) => commit()));
  };
}

/** Returns what metadata needs of a version: a long history then takes little memory. */
const filesOfVersion = ({ version, previous, tables }: Manifest): VersionFiles => ({ version, previous, tables });

/** Returns a function that reads the manifest of a version, and caches its files. */
export function versionReader(lake: string): (version: string) => Promise<VersionFiles> {
  const known = new Map<string, Promise<VersionFiles>>();
  return (version) => {
    const read = known.get(version) ?? readManifest(lake, version).then(filesOfVersion);
    known.set(version, read);
    return read;
  };
}

async function stageTable(publish: Publish, table: IcebergTable): Promise<Commit> {
  const { lake, location, retained, isAnew } = publish;
  const folder = metadataFolder(lake, table);
  const number = await newestNumber(folder);
  const found = number === 0 ? undefined : await readTableHistory(join(folder, metadataName(number)));
  const isContinued = !isAnew && found?.location === tableLocation(location, table);
  const { history, before, pending } = await pendingVersions(publish, table, isContinued ? found : undefined);
  const kept = history?.snapshots.filter((snapshot) => retained.has(versionOf(snapshot))) ?? [];
  if (pending.length === 0 && kept.length === history?.snapshots.length) return async () => undefined;
  const publishedMs = publishTimes(found);
  const continuation = { kept, before, pending, publishedMs, number: number + 1 };
  const { snapshots, written } = await snapshotsOf(publish, table, continuation);
  const log = nextLog(history, number);
  const updatedMs = Math.max(history?.updatedMs ?? 0, integerIn(snapshots.at(-1), "timestamp-ms"));
  const metadata = tableMetadata(table, location, { snapshots, log, updatedMs });
  const staged = `${metadataName(number + 1)}.new`;
  await writeFiles(folder, [...written, { name: staged, content: Buffer.from(metadata) }]);
  return () => commitTable(folder, number + 1);
}

/** The files of a table in a version, and the manifests that list them. */
type ListedFiles = Pick<TableChange, "filesBefore" | "manifestsBefore">;

const nothingListed: ListedFiles = { filesBefore: [], manifestsBefore: [] };

/** Versions that a table's history lacks, oldest first, and the files and manifests of the version before them. */
interface PendingVersions {
  readonly history: TableHistory | undefined;
  readonly before: ListedFiles;
  readonly pending: readonly VersionFiles[];
}

/**
 * Returns the versions that a history lacks: back to its newest snapshot, or, if that is not among them, all whose files have the current
 * schema, without the history.
 */
async function pendingVersions(
  { lake, newest, retained, read }: Publish,
  table: IcebergTable,
  history: TableHistory | undefined,
): Promise<PendingVersions> {
  const last = history?.snapshots.at(-1);
  const pending: VersionFiles[] = [];
  for (let at: VersionFiles | undefined = newest; at !== undefined; ) {
    if (last !== undefined && versionOf(last) === at.version) {
      const manifestsBefore = await readManifestList(lake, table, last);
      if (manifestsBefore !== undefined)
        return { history, before: { filesBefore: at.tables[table], manifestsBefore }, pending };
    }
    pending.unshift(at);
    const previous: string | null = at.previous;
    at = previous !== null && retained.has(previous) ? await read(previous) : undefined;
  }
  return { history: undefined, before: nothingListed, pending };
}

/** The snapshots to keep, and the versions to add. */
interface Continuation extends Omit<PendingVersions, "history"> {
  readonly kept: readonly Row[];
  /** The publish times in the previous metadata. */
  readonly publishedMs: ReadonlyMap<string, number>;
  readonly number: number;
}

/** Returns the kept snapshots and those of the pending versions, with the files to write. */
async function snapshotsOf(
  { lake, location }: Publish,
  table: IcebergTable,
  { kept, before, pending, publishedMs, number }: Continuation,
): Promise<{ readonly snapshots: readonly Row[]; readonly written: readonly MetadataFile[] }> {
  const snapshots = [...kept];
  const written: MetadataFile[] = [];
  let { filesBefore, manifestsBefore } = before;
  for (const { version, tables } of pending) {
    const files = tables[table];
    const change = { table, version, filesBefore, manifestsBefore, files, location, number };
    const { manifests, written: writtenManifests, entries } = manifestsOf(change);
    const parent = snapshots.at(-1);
    const [id, parentId] = [snapshotIdOf(version), parent === undefined ? null : integerIn(parent, "snapshot-id")];
    const name = `snap-${id}-${number}.avro`;
    written.push(...writtenManifests, { name, content: manifestList(version, parentId, manifests) });
    const timestampMs = Math.max(
      publishedMs.get(version) ?? (await writtenMs(lake, version)),
      parent === undefined ? 0 : 1 + integerIn(parent, "timestamp-ms"),
    );
    const list = `${metadataLocation(location, table)}/${name}`;
    snapshots.push(snapshotRow({ version, parentId, timestampMs, list, entries }));
    [manifestsBefore, filesBefore] = [manifests, files];
  }
  return { snapshots, written };
}

const publishTimes = (history: TableHistory | undefined): ReadonlyMap<string, number> =>
  new Map(history?.snapshots.map((snapshot) => [versionOf(snapshot), integerIn(snapshot, "timestamp-ms")] as const));

/** Returns when the manifest of a version was written, just before it was published. */
const writtenMs = async (lake: string, version: string): Promise<number> =>
  Math.trunc((await stat(manifestPath(lake, version))).mtimeMs);

/** Writes files to a folder and syncs them to disk, several at once: file systems then combine their syncs. */
async function writeFiles(folder: string, files: readonly MetadataFile[]): Promise<void> {
  await createFolder(folder);
  const write = async ({ name, content }: MetadataFile): Promise<void> => {
    const file = await open(join(folder, name), "w");
    try {
      await file.writeFile(content);
      await file.sync();
    } finally {
      await file.close();
    }
  };
  for (let at = 0; at < files.length; at += filesAtOnceMax)
    await settleAll(files.slice(at, at + filesAtOnceMax).map(write));
  await syncToDisk(folder);
}

export async function commitTable(folder: string, number: number): Promise<void> {
  const path = join(folder, metadataName(number));
  await rename(`${path}.new`, path);
  await replaceFile(join(folder, hintName), String(number));
}
