/**
 * Follower: replicates the version that a source publishes to a lake. Fetches the files that the lake lacks to `incoming/`, which survives a kill,
 * and moves them into the lake when all are complete; builds the serving files that the source does not offer; then publishes as every writer does,
 * under the lake's lock. The lake serves one whole version at any moment.
 */
import { existsSync } from "node:fs";
import { link, readdir, rename, rm, stat, statfs } from "node:fs/promises";
import { dirname, join, relative } from "node:path";
import { createFolder, sha256Of, syncToDisk } from "../base/files.ts";
import { UserError } from "../base/user-error.ts";
import { type Connector, TransferFault } from "../connectors/connector.ts";
import { forEachOf, readText, receive, repeat, sizeOf, type TransferOptions } from "../connectors/transfer.ts";
import type { DatabaseOptions } from "../db/duckdb.ts";
import { ingestRecordKey, parseIngestRecord, readIngestRecord, writeIngestRecord } from "../lake/ingest-record.ts";
import { type ListedFile, mismatchOf } from "../lake/listed-file.ts";
import { removeOldVersions, type VersionRetention } from "../lake/maintenance/vacuum.ts";
import {
  compareVersions,
  currentManifest,
  filesOf,
  type LakeFile,
  type Manifest,
  manifestKey,
  readManifest,
  type ServingFile,
  tableFilesOf,
  versionsIn,
} from "../lake/manifest.ts";
import { requireLakeFolder } from "../lake/published-lake.ts";
import { writeVersionFolder } from "../lake/writer/version-folder.ts";
import { incomingFolder, publish, removeOrphans, type Writer, withWriter } from "../lake/writer/writer.ts";
import { withServingFiles } from "../serving/files/build-serving-files.ts";
import { neededFiles, usableFiles } from "../serving/files/serving-parts.ts";
import { readSourceManifest, readSourceVersion, requireSameLake } from "./source-manifest.ts";

/** How often a follower begins again because the source has published another version meanwhile. */
const attemptsMax = 5;

/** The most skipped versions that are read for what they replayed. */
const skippedMax = 100;

/** The largest record of an ingest that is read. */
const recordBytesMax = 65_536;

export interface FollowerOptions extends TransferOptions, Pick<VersionRetention, "versionDays" | "graceMs"> {
  /** How many files are transferred at once. */
  readonly transfers: number;
  readonly engine: DatabaseOptions;
  /** Whether serving files that the source lacks are built. */
  readonly buildsServingFiles: boolean;
  /** Returns the current time. */
  readonly nowMs: () => number;
  /** Called after each step, such as a file: the finished steps, all steps, and a description. */
  readonly onStep: (title: string, step: number, steps: number, description: string) => void;
}

/** The outcome of replicating a version. */
export interface FollowResult {
  readonly version: string;
  readonly files: number;
  readonly bytes: number;
  /** How many serving files were built. */
  readonly built: number;
  /** How many versions the retention removed. */
  readonly removed: number;
}

export class Follower {
  /** Whether the files of the lake's version have been compared with their sizes. */
  #isChecked = false;

  constructor(
    private readonly source: Connector,
    private readonly lake: string,
    private readonly options: FollowerOptions,
  ) {}

  /**
   * Replicates the published version to the lake; returns undefined if there was nothing to do. Throws a UserError, and leaves the lake's version
   * unchanged, if the source cannot be read or a file does not match the manifest.
   */
  async follow(): Promise<FollowResult | undefined> {
    const followed = await this.followCurrent();
    // No version lists the record of the last ingest: the next check reads it again.
    await this.followIngestRecord().catch(() => undefined);
    return followed;
  }

  /** Copies the record of the source's last ingest if it is newer. */
  private async followIngestRecord(): Promise<void> {
    const read = await readText(this.source, ingestRecordKey, recordBytesMax, this.options);
    const record = read && parseIngestRecord(read.text);
    const local = await readIngestRecord(this.lake);
    if (record !== undefined && (local === undefined || Date.parse(record.at) > Date.parse(local.at)))
      await writeIngestRecord(this.lake, record);
  }

  private async followCurrent(): Promise<FollowResult | undefined> {
    for (let attempt = 1; ; attempt += 1) {
      const version = await this.readCurrent();
      try {
        return await this.followVersion(version);
      } catch (thrown) {
        // Retention removes files of versions that a newer one has replaced.
        if (!(thrown instanceof MissingFile) || attempt === attemptsMax) throw thrown;
        if ((await this.readCurrent()) === version) throw thrown;
      }
    }
  }

  private async readCurrent(): Promise<string> {
    const current = await readSourceVersion(this.source, this.options);
    if (current !== undefined) return current.version;
    throw new UserError(`${this.source.locationOf("CURRENT")}: not found: expected the name of the published version.`);
  }

  private async followVersion(version: string): Promise<FollowResult | undefined> {
    const local = await currentManifest(this.lake);
    if (isOlder(version, local) || (local?.version === version && this.#isChecked)) return undefined;
    const manifest = await this.readManifest(version);
    const plan = await this.plan(manifest, local, false);
    const isNew = local?.version !== version;
    // Incoming files remain until the lake has them in all places.
    const isIncomplete = plan.missing.length > 0 || existsSync(join(this.lake, incomingFolder));
    const followed = isNew || isIncomplete ? await this.take(manifest) : undefined;
    this.#isChecked = true;
    return followed;
  }

  private async readManifest(version: string): Promise<Manifest> {
    const manifest = await readSourceManifest(this.source, version, this.options);
    if (manifest !== undefined) return manifest;
    const location = this.source.locationOf(manifestKey(version));
    throw new MissingFile(`${location}: not found: expected the manifest of ${version}, which CURRENT names.`);
  }

  private plan(manifest: Manifest, local: Manifest | undefined, isReplay: boolean): Promise<TransferPlan> {
    return planTransfer(this.lake, local, manifest, this.source.locationOf(manifestKey(manifest.version)), isReplay);
  }

  /** Fetches the missing files of a version and publishes it, as the lake's writer. Another follower may have published it before. */
  private async take(manifest: Manifest): Promise<FollowResult | undefined> {
    const { lake, options } = this;
    // `incoming/` in a folder of other files may be someone else's.
    await requireLakeFolder(lake);
    return withWriter(lake, options.engine, async (writer) => {
      const local = await currentManifest(lake);
      if (isOlder(manifest.version, local)) return undefined;
      const isNew = local?.version !== manifest.version;
      const replayedFrom = await this.replayedSince(local, manifest);
      const { missing, serving } = await this.plan(manifest, local, isNew && replayedFrom !== undefined);
      await this.fetch(missing, manifest.version);
      await linkFiles(lake, missing);
      const replay = replayedFrom === undefined ? {} : { replayed_from: replayedFrom };
      const next = { ...manifest, ...replay, serving, previous: local?.version ?? null };
      const fetched = { version: manifest.version, files: missing.length, bytes: bytesOf(missing) };
      const complete = isNew && options.buildsServingFiles ? await this.build(writer, next) : next;
      if (isNew) await publish(lake, complete);
      else await writeVersionFolder(lake, complete);
      await rm(join(lake, incomingFolder), { recursive: true, force: true });
      const removed = isNew ? await this.removeOld(complete) : 0;
      return { ...fetched, built: complete.serving.length - serving.length, removed };
    });
  }

  /**
   * Returns the first day that a version, or one between the lake's and it, replayed. Returns the first day of all if the source does not have the
   * manifests between the two, or has more than `skippedMax`.
   */
  private async replayedSince(local: Manifest | undefined, manifest: Manifest): Promise<string | undefined> {
    let first = manifest.replayed_from;
    if (local === undefined || local.version === manifest.version) return first;
    for (let at = manifest, read = 0; at.previous !== local.version; read += 1) {
      const { previous } = at;
      // A source is not trusted for the order of its versions.
      const isBetween =
        read < skippedMax &&
        previous !== null &&
        isOlder(previous, at) &&
        isOlder(local.version, { version: previous });
      const before = isBetween ? await readSourceManifest(this.source, previous, this.options) : undefined;
      if (before === undefined) return Object.keys(manifest.days)[0];
      at = before;
      if (at.replayed_from !== undefined && (first === undefined || at.replayed_from < first)) first = at.replayed_from;
    }
    return first;
  }

  private async fetch(missing: TransferPlan["missing"], version: string): Promise<void> {
    const { lake, options, source } = this;
    const received = await removeOthers(lake, missing);
    await requireSpace(lake, bytesOf(missing) - received);
    let files = 0;
    let bytes = 0;
    await forEachOf(missing, options.transfers, async (file) => {
      await fetchFile(source, file, join(lake, incomingFolder, file.path), options);
      files += 1;
      bytes += file.bytes;
      options.onStep(version, files, missing.length, `${mebibytes(bytes)} fetched, ${file.path}`);
    });
  }

  private build(writer: Writer, manifest: Manifest): Promise<Manifest> {
    return withServingFiles(writer, manifest, "size", (done, total, task) =>
      this.options.onStep(`${manifest.version} serving files`, done, total, task),
    );
  }

  /** Applies the retention of versions, and removes the files that no remaining version lists. Returns the number of versions removed. */
  private async removeOld(published: Manifest): Promise<number> {
    const { versionDays, graceMs, nowMs } = this.options;
    const removed = await removeOldVersions(this.lake, published, { versionDays, graceMs, nowMs: nowMs() });
    await removeOrphans(this.lake);
    return removed.length;
  }
}

/** A file that the source lacks. It may have been removed because a newer version is published. */
class MissingFile extends UserError {}

interface TransferPlan {
  readonly missing: readonly (LakeFile | ServingFile)[];
  /** The serving files of the version after the transfer: those of the lake, and those to fetch. */
  readonly serving: readonly ServingFile[];
}

/**
 * Returns the plan for a lake whose published version is `local`. Throws a UserError if the manifest, at `location`, lists a file that the lake has with
 * another content. After a replay, the search indexes of the lake are not used: their sources do not say which builds, dealers and tokens they have.
 */
async function planTransfer(
  lake: string,
  local: Manifest | undefined,
  manifest: Manifest,
  location: string,
  isReplay: boolean,
): Promise<TransferPlan> {
  const chain = await versionChain(lake, local);
  requireSameLake(manifest, location, chain, lake);
  const known = new Map(chain.flatMap(filesOf).map((file) => [file.path, file]));
  const localServing = local?.serving ?? [];
  const present = new Set<LakeFile | ServingFile>();
  for (const file of [...filesOf(manifest), ...localServing])
    if (known.get(file.path)?.sha256 === file.sha256 && (await sizeOf(join(lake, file.path))) === file.bytes)
      present.add(file);
  const offered = usableFiles(manifest);
  const reusable = localServing.filter(({ kind }) => !isReplay || kind !== "index");
  const candidates = [...usableFiles({ ...manifest, serving: reusable }), ...offered];
  const serving = neededFiles(manifest).flatMap(({ kind, source }) => {
    const needed = (file: ServingFile): boolean => file.kind === kind && file.source === source;
    return candidates.find((file) => needed(file) && present.has(file)) ?? offered.find(needed) ?? [];
  });
  return { serving, missing: [...tableFilesOf(manifest), ...serving].filter((file) => !present.has(file)) };
}

/** Returns the versions of a lake from the published one back, as far as their manifests exist. */
async function versionChain(lake: string, published: Manifest | undefined): Promise<readonly Manifest[]> {
  const existing = new Set(await versionsIn(lake));
  const chain: Manifest[] = [];
  for (let at = published; at !== undefined; ) {
    chain.push(at);
    const previous: string | null = at.previous;
    at = previous !== null && existing.has(previous) ? await readManifest(lake, previous) : undefined;
  }
  return chain;
}

/** Returns whether a version is older than the lake's: a cache on the way to the source may still name one. */
const isOlder = (version: string, local: Pick<Manifest, "version"> | undefined): boolean =>
  local !== undefined && compareVersions(version, local.version) < 0;

const bytesOf = (missing: TransferPlan["missing"]): number => missing.reduce((sum, { bytes }) => sum + bytes, 0);

/** Returns a size in MiB, for people. */
export const mebibytes = (bytes: number): string => `${(bytes / 2 ** 20).toFixed(1)} MiB`;

/** Removes incoming files that are not expected: those of a version that has been replaced. Returns the size of the others. */
async function removeOthers(lake: string, expected: TransferPlan["missing"]): Promise<number> {
  const folder = join(lake, incomingFolder);
  await createFolder(folder);
  const kept = new Set(expected.map(({ path }) => path));
  let bytes = 0;
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    const path = join(entry.parentPath, entry.name);
    if (kept.has(relative(folder, path))) bytes += (await stat(path)).size;
    else await rm(path);
  }
  return bytes;
}

/** Throws a UserError if the disk has too little space. */
async function requireSpace(lake: string, bytes: number): Promise<void> {
  const { bavail, bsize } = await statfs(lake);
  if (bavail * bsize < bytes)
    throw new UserError(
      `${lake}: ${mebibytes(bavail * bsize)} are free: expected ${mebibytes(bytes)} for the missing files.`,
    );
}

/** Links complete files to their paths in the lake. Each keeps its incoming path too, so that a kill before the publish loses none. */
async function linkFiles(lake: string, missing: TransferPlan["missing"]): Promise<void> {
  const folders = new Set<string>();
  for (const { path } of missing) {
    const target = join(lake, path);
    await createFolder(dirname(target));
    await rm(target, { force: true });
    const from = join(lake, incomingFolder, path);
    // File systems without hard links.
    await link(from, target).catch(() => rename(from, target));
    folders.add(dirname(target));
  }
  for (const folder of folders) await syncToDisk(folder);
}

/** Fetches a listed file to a path, from where an earlier transfer to it ended, and syncs it to disk. Throws a MissingFile or a UserError. */
async function fetchFile(source: Connector, file: ListedFile, target: string, options: TransferOptions): Promise<void> {
  await createFolder(dirname(target));
  const location = source.locationOf(file.path);
  const requireSize = (bytes: number | undefined): void => {
    const mismatch = mismatchOf(file, { bytes });
    if (mismatch !== undefined) throw new TransferFault(`${location}: ${mismatch}`);
  };
  let tag: string | undefined;
  let mismatches = 0;
  const receiveRest = async (): Promise<void> => {
    const received = await sizeOf(target);
    if (received === file.bytes) return;
    const opened = await receive(source, file.path, target, {
      offset: received < file.bytes ? received : 0,
      tag,
      bytes: file.bytes,
      stallMs: options.stallMs,
      onOpen: (opened) => {
        requireSize(opened.bytes);
        tag = opened.tag;
      },
      checkSize: (bytes) => requireSize(Math.max(bytes, file.bytes)),
    });
    if (opened === undefined)
      throw new MissingFile(`${location}: not found: expected the file, as the manifest lists it.`);
  };
  const attempt = async (): Promise<void> => {
    await receiveRest();
    const mismatch = mismatchOf(file, { sha256: await sha256Of(target) });
    if (mismatch === undefined) return;
    await rm(target);
    mismatches += 1;
    // A second whole transfer excludes that the first one continued another file.
    throw mismatches === 1 ? new TransferFault(`${location}: ${mismatch}`) : new UserError(`${location}: ${mismatch}`);
  };
  await repeat(attempt, options, () => sizeOf(target));
  await syncToDisk(target);
}
