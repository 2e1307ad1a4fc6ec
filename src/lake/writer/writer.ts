/**
 * The writer: takes the lake's lock, writes Parquet files, and publishes versions. Files are never overwritten.
 *
 * A publish writes and syncs the files under new names, then the manifest, then replaces `CURRENT` by an atomic rename. A process killed
 * at any point leaves either the old version or the new one; the next writer removes orphaned files, one that fails its own.
 */
import { existsSync } from "node:fs";
import { readdir, rm } from "node:fs/promises";
import { join as joinPath, relative, resolve } from "node:path";
import { createFolder, replaceFile } from "../../base/files.ts";
import { messageOf, printable, UserError } from "../../base/user-error.ts";
import { type DatabaseOptions, DuckDatabase, engineVersion, type Session } from "../../db/duckdb.ts";
import { classifyFault, lockHolderOf } from "../../db/engine-faults.ts";
import { fileLiteral, ident, sql } from "../../db/sql.ts";
import { viewsOf } from "../analyst/analyst-views.ts";
import {
  currentManifest,
  currentPath,
  currentVersion,
  defaultCurrency,
  firstKeys,
  lakeFormat,
  type Manifest,
  manifestKey,
  manifestPath,
  manifestText,
  noFiles,
  readManifest,
  tableFilesOf,
  versionsIn,
} from "../manifest.ts";
import { tableNames } from "../tables.ts";
import {
  currentLink,
  openedVersion,
  openVersionFolder,
  recoverVersionFolder,
  removeVersionFolders,
  writeVersionFolder,
} from "./version-folder.ts";

export interface Writer {
  readonly lake: string;
  readonly database: DuckDatabase;
  readonly session: Session;
  /** The greatest version sequence of each day that occurs in a file name. Names of files and of versions are never reused. */
  readonly sequences: ReadonlyMap<string, number>;
}

/** The folder below the lake's for files on their way to a follower. No other writer changes it. */
export const incomingFolder = "incoming";

/** Lakes that this process is writing. The kernel's lock excludes only other processes. */
const lakesBeingWritten = new Set<string>();

/**
 * Runs `work` while holding the lake's lock, with a DuckDB session that spills into the lake's folder. Throws a UserError if another
 * writer holds the lock or the disk is full.
 */
export async function withWriter<T>(
  lake: string,
  options: DatabaseOptions,
  work: (writer: Writer) => Promise<T>,
): Promise<T> {
  const folder = resolve(lake);
  if (/\?|\\/.test(folder))
    throw new UserError(`Invalid lake folder ${printable(lake)}: expected a path without ? and backslashes.`);
  if (lakesBeingWritten.has(folder))
    throw new UserError(`${lake} is locked by this process: expected one writer at a time.`);
  await createFolder(joinPath(lake, "versions"));
  const database = await DuckDatabase.open({ ...options, temporaryFolder: joinPath(lake, "spill") });
  lakesBeingWritten.add(folder);
  try {
    return await database.using(async (session) => {
      await acquireLock(session, lake);
      // A writer reads each file for a day or two: what the engine keeps of them would grow with the days.
      for (const cache of ["enable_external_file_cache", "parquet_metadata_cache"])
        await session.run(sql`SET GLOBAL ${ident(cache)} = false`);
      // After a change of CURRENT to an earlier version, `current` still leads to the later one, whose name is not used again.
      const opened = manifestKey(await openedVersion(lake));
      const { kept } = await removeOrphans(lake);
      await recoverVersionFolder(lake);
      try {
        return await work({ lake, database, session, sequences: sequencesIn([...kept, opened]) });
      } catch (thrown) {
        // What is left of a failed build would keep a full disk full. The error of the build says why.
        await removeOrphans(lake).catch(() => undefined);
        throw thrown;
      } finally {
        await rm(joinPath(lake, "spill"), { recursive: true, force: true });
      }
    });
  } catch (thrown) {
    if (classifyFault(thrown) === "disk full") {
      throw new UserError(
        `${lake}: the disk is full. The published version is ${(await currentVersion(lake)) ?? "none"}.`,
      );
    }
    throw thrown;
  } finally {
    database.close();
    lakesBeingWritten.delete(folder);
  }
}

/**
 * Takes the lake's lock by attaching a small database for writing. The kernel releases the lock when the process ends, even after a
 * kill. Throws a UserError if the lock cannot be taken.
 */
async function acquireLock(session: Session, lake: string): Promise<void> {
  const path = joinPath(lake, "writer.lock");
  const attach = (): Promise<void> => session.run(sql`ATTACH ${fileLiteral(path)} AS writer_lock`);
  try {
    await attach();
  } catch (thrown) {
    const fault = classifyFault(thrown);
    if (fault === "busy")
      throw new UserError(
        `${lake} is locked by process ${lockHolderOf(thrown) ?? "?"}: expected one writer at a time.`,
      );
    // Another process may hold a lock whose error is not known: only a damaged file is replaced.
    if (fault !== "damaged")
      throw new UserError(
        `${path}: cannot be locked: ${messageOf(thrown)}. Remove it only if no process writes to the lake.`,
        { cause: thrown },
      );
    await rm(path, { force: true });
    await attach();
  }
}

/** Matches the paths of files that a writer creates. Other files in the lake's folder are never removed. */
const lakeFilePattern = new RegExp(
  `^files/(${tableNames.join("|")})/([^/]+/)?\\d{4}-\\d{2}-\\d{2}\\.\\d+(-\\d+)?\\.parquet$` +
    "|^serving/\\d{4}-\\d{2}-\\d{2}\\.\\d+-\\d+\\.(duckdb|db)(\\.wal)?$|^versions/\\d{4}-\\d{2}-\\d{2}\\.\\d+\\.(json|sql)(\\.new)?$|^(CURRENT|current|catalog\\.duckdb)\\.new$",
);

/**
 * Removes orphans of killed writers: files and manifests that are not reachable from the published version. Parquet files of earlier
 * versions are reachable, serving files only if the published manifest lists them (a server keeps removed files open). Returns the paths
 * that remain and the number of files removed. Throws a UserError if `CURRENT` is lost.
 */
export async function removeOrphans(
  lake: string,
): Promise<{ readonly kept: ReadonlySet<string>; readonly removed: number }> {
  const kept = new Set<string>();
  if ((await currentVersion(lake)) === undefined) await requireUnpublished(lake);
  const published = await currentManifest(lake);
  for (const { path } of published?.serving ?? []) kept.add(path);
  for (let at = published; at !== undefined; ) {
    kept.add(relative(lake, manifestPath(lake, at.version)));
    kept.add(relative(lake, viewsPath(lake, at.version)));
    for (const file of tableFilesOf(at)) kept.add(file.path);
    const previous: string | null = at.previous;
    at =
      previous !== null && (await versionsIn(lake)).includes(previous) ? await readManifest(lake, previous) : undefined;
  }
  const orphans = (await readdir(lake, { recursive: true })).filter(
    (entry) => lakeFilePattern.test(entry) && !kept.has(entry),
  );
  for (const orphan of orphans) await rm(joinPath(lake, orphan), { force: true });
  const isKept = (version: string | null): boolean => version !== null && kept.has(manifestKey(version));
  if (published !== undefined) await removeVersionFolders(lake, [published.version, published.previous].filter(isKept));
  return { kept, removed: orphans.length };
}

/** Throws a UserError unless a lake without `CURRENT` has at most the manifest of a first publish or a first follow that was killed. */
export async function requireUnpublished(lake: string): Promise<void> {
  const [version, ...others] = await versionsIn(lake);
  if (version === undefined) return;
  const { previous, days } = await readManifest(lake, version);
  const isFirst = others.length === 0 && previous === null && !existsSync(joinPath(lake, currentLink));
  if (isFirst && (Object.keys(days).length <= 1 || existsSync(joinPath(lake, incomingFolder)))) return;
  throw new UserError(
    `${lake}: CURRENT is missing: expected the name of the published version. Write the name of the newest version into it.`,
  );
}

function sequencesIn(paths: Iterable<string>): ReadonlyMap<string, number> {
  const sequences = new Map<string, number>();
  for (const path of paths) {
    const [, day = "", sequence = "0"] = /(\d{4}-\d{2}-\d{2})\.(\d+)(?:-\d+)?\.\w+$/.exec(path) ?? [];
    sequences.set(day, Math.max(sequences.get(day) ?? 0, Number(sequence)));
  }
  return sequences;
}

export const viewsPath = (lake: string, version: string): string => joinPath(lake, "versions", `${version}.sql`);

/** Publishes a manifest: writes it, its views and its folder, then points `CURRENT` at it. Its files must already be synced to disk. */
export async function publish(lake: string, manifest: Manifest): Promise<void> {
  const views = viewsOf(manifest, "").map((view) => `${view.text};`);
  await replaceFile(viewsPath(lake, manifest.version), `${views.join("\n\n")}\n`);
  await replaceFile(manifestPath(lake, manifest.version), manifestText(manifest));
  await writeVersionFolder(lake, manifest);
  await replaceFile(currentPath(lake), `${manifest.version}\n`);
  await openVersionFolder(lake, manifest);
}

/** Returns the manifest of the next version for a day, with the files of the previous version. */
export function nextManifest({ sequences }: Writer, previous: Manifest | undefined, day: string): Manifest {
  const sequence = 1 + (sequences.get(day) ?? 0);
  return {
    format: lakeFormat,
    version: `${day}.${sequence}`,
    as_of: day,
    sequence,
    previous: previous?.version ?? null,
    engine: engineVersion,
    currency: previous?.currency ?? defaultCurrency,
    keys: previous?.keys ?? firstKeys,
    tables: previous?.tables ?? noFiles,
    days: previous?.days ?? {},
    serving: previous?.serving ?? [],
  };
}
