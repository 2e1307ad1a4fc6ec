/**
 * Push: uploads the published version of a lake to a bucket. Files go first, then the manifest, then `CURRENT`, so that a reader finds every listed
 * file at any moment. Skips what the bucket already has.
 *
 * With a retention, then removes old versions from the bucket: their manifests, and the files that only these list. Removes no other objects, and none
 * at all if a manifest cannot be read. Its times are those of the store's clock.
 */
import { readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { plusDays } from "../base/day.ts";
import { isNotFound } from "../base/files.ts";
import { messageOf, UserError } from "../base/user-error.ts";
import type { Bucket } from "../connectors/bucket.ts";
import { forEachOf, repeat, type TransferOptions } from "../connectors/transfer.ts";
import { ingestRecordKey, ingestRecordText, readIngestRecord } from "../lake/ingest-record.ts";
import { type ListedFile, mismatchOf } from "../lake/listed-file.ts";
import type { VersionRetention } from "../lake/maintenance/vacuum.ts";
import {
  compareVersions,
  filesOf,
  type Manifest,
  manifestKey,
  manifestPath,
  manifestText,
  versionOfKey,
} from "../lake/manifest.ts";
import { viewsPath } from "../lake/writer/writer.ts";
import { type FollowResult, mebibytes } from "./follower.ts";
import { readSourceManifest, readSourceVersion, requireSameLake, type SourceVersion } from "./source-manifest.ts";

/** The age at which an upload that has not been completed is one of a killed push. */
const unfinishedUploadMs = 86_400_000;

export type BucketRetention = Pick<VersionRetention, "versionDays" | "graceMs">;

export interface PushOptions extends TransferOptions {
  /** How many files are uploaded at once. */
  readonly transfers: number;
  /** The retention of versions in the bucket; undefined keeps all. */
  readonly retention?: BucketRetention | undefined;
  /** Called after each file, and each part of one: the uploaded files, all files, and a description. */
  readonly onStep: (done: number, files: number, description: string) => void;
}

/** The uploaded files, and the number of removed versions. */
export type PushResult = Omit<FollowResult, "built">;

/** Throws a UserError if a target's version, which `location` names, is newer than the one to push. */
export function requireNotNewer(found: string, location: string, version: string, lake: string): void {
  if (compareVersions(found, version) <= 0) return;
  throw new UserError(
    `${location}: version ${found} is newer than ${version} of ${lake}: expected an older one. Does another machine push?`,
  );
}

/** A push of a version of a lake to a bucket. */
export class Push {
  #files = 0;
  #bytes = 0;

  constructor(
    private readonly lake: string,
    private readonly manifest: Manifest,
    private readonly bucket: Bucket,
    private readonly options: PushOptions,
  ) {}

  /**
   * Uploads the version. Throws a UserError if the bucket has a newer version or one of another lake, if a file does not match the manifest, or if it
   * cannot be uploaded.
   */
  async push(): Promise<PushResult> {
    const { lake, manifest, options } = this;
    const { version } = manifest;
    const published = await readSourceVersion(this.bucket, options);
    const before = published && (await this.requireOlder(published.version));
    try {
      await this.uploadFiles();
      // A manifest that is written again would postpone the removal of the version before it.
      if (before?.version !== version || manifestText(before) !== manifestText(manifest)) {
        await this.writeText(`versions/${version}.sql`, await readFile(viewsPath(lake, version), "utf8"));
        await this.writeText(manifestKey(version), await readFile(manifestPath(lake, version), "utf8"));
      }
      await this.replaceCurrent(published);
      // No version lists the record of the last ingest: the next push uploads it again if this one fails.
      await this.uploadIngestRecord().catch(() => undefined);
      const removed = options.retention === undefined ? 0 : await this.removeExpired(options.retention);
      return { version, files: this.#files, bytes: this.#bytes, removed };
    } catch (thrown) {
      if (!isNotFound(thrown)) throw thrown;
      throw new UserError(`${messageOf(thrown)}. Vacuum may have removed version ${version}: push again.`);
    }
  }

  /** Returns the published manifest of the bucket. Throws a UserError if the version to push does not follow it. */
  private async requireOlder(published: string): Promise<Manifest | undefined> {
    const { bucket, lake, manifest } = this;
    requireNotNewer(published, bucket.locationOf("CURRENT"), manifest.version, lake);
    const before = await readSourceManifest(bucket, published, this.options);
    if (before !== undefined) requireSameLake(before, bucket.locationOf(manifestKey(published)), [manifest], lake);
    return before;
  }

  private async uploadFiles(): Promise<void> {
    const { options } = this;
    const listed = filesOf(this.manifest);
    let done = 0;
    let inParts = 0;
    await forEachOf(listed, options.transfers, async (file) => {
      const report = (): void =>
        options.onStep(done, listed.length, `${mebibytes(this.#bytes + inParts)} copied, ${file.path}`);
      let sent = 0;
      const onPart = (sentNow: number): void => {
        inParts += sentNow - sent;
        sent = sentNow;
        if (sent < file.bytes) report();
      };
      await this.uploadUnlessPresent(file, onPart);
      inParts -= sent;
      done += 1;
      report();
    });
  }

  private async uploadUnlessPresent(file: ListedFile, onPart: (sent: number) => void): Promise<void> {
    const { bucket, options } = this;
    if (await repeat(() => bucket.has(file), options)) return;
    const path = join(this.lake, file.path);
    const mismatch = mismatchOf(file, { bytes: (await stat(path)).size });
    if (mismatch !== undefined) throw new UserError(`${path}: ${mismatch}`);
    await repeat(() => bucket.upload(file, path, onPart), options);
    this.#files += 1;
    this.#bytes += file.bytes;
  }

  private writeText(path: string, text: string, tag?: string | null): Promise<boolean> {
    return repeat(() => this.bucket.writeText(path, text, tag), this.options);
  }

  /** Publishes the version. Throws a UserError if another push has published one meanwhile. */
  private async replaceCurrent(published: SourceVersion | undefined): Promise<void> {
    const { bucket, options } = this;
    const { version } = this.manifest;
    const isReplaced = await this.writeText("CURRENT", `${version}\n`, published?.tag ?? null);
    // The answer to an earlier attempt can have been lost.
    if (isReplaced || (await readSourceVersion(bucket, options))?.version === version) return;
    const location = bucket.locationOf("CURRENT");
    throw new UserError(`${location}: changed during the push: expected one push at a time. Push again.`);
  }

  private async uploadIngestRecord(): Promise<void> {
    const record = await readIngestRecord(this.lake);
    if (record !== undefined) await this.bucket.writeText(ingestRecordKey, ingestRecordText(record));
  }

  /** Applies the retention to the bucket, which has just published the version. Returns how many versions were removed. */
  private async removeExpired(retention: BucketRetention): Promise<number> {
    const { bucket, options } = this;
    const [current] = await repeat(() => bucket.objects("CURRENT"), options);
    if (current === undefined) return 0;
    const published = new Set(filesOf(this.manifest).map(({ path }) => path));
    await bucket.abortUploads((path) => published.has(path), current.modifiedMs - unfinishedUploadMs);
    const versions = await this.storedVersions();
    const expired = this.expiredVersions(versions, retention, current.modifiedMs);
    if (expired.size === 0) return 0;
    const needed = await this.pathsIn([...versions.keys()].filter((version) => !expired.has(version)));
    const listed = await this.pathsIn([...expired]);
    const remove = (path: string): Promise<void> => repeat(() => bucket.remove(path), options);
    await forEachOf(
      [...listed].filter((path) => !needed.has(path)),
      options.transfers,
      remove,
    );
    // Manifests are removed last: until then, they name the files that a killed removal has left.
    for (const version of expired) {
      await remove(`versions/${version}.sql`);
      await remove(manifestKey(version));
    }
    return expired.size;
  }

  /** Returns the versions whose manifests the bucket has, in order, and when each was written. */
  private async storedVersions(): Promise<ReadonlyMap<string, number>> {
    const objects = await repeat(() => this.bucket.objects("versions/"), this.options);
    const versions = objects.flatMap(({ path, modifiedMs }): [string, number][] => {
      const version = versionOfKey(path);
      return version === undefined ? [] : [[version, modifiedMs]];
    });
    return new Map(versions.sort(([left], [right]) => compareVersions(left, right)));
  }

  /** Returns the versions before the kept days that a newer one has replaced for the grace period. */
  private expiredVersions(
    versions: ReadonlyMap<string, number>,
    { versionDays, graceMs }: BucketRetention,
    nowMs: number,
  ): ReadonlySet<string> {
    const { as_of, version: published } = this.manifest;
    const keptFrom = plusDays(as_of, 1 - versionDays);
    const writtenMs = [...versions.values()];
    const expired = [...versions.keys()].filter((version, index) => {
      const isBefore = compareVersions(version, published) < 0 && version.slice(0, keptFrom.length) < keptFrom;
      return isBefore && nowMs - (writtenMs[index + 1] ?? nowMs) >= graceMs;
    });
    return new Set(expired);
  }

  /** Returns the paths of the files that some versions list. A manifest can have 16 MiB, so that only a few are read at once. */
  private async pathsIn(versions: readonly string[]): Promise<ReadonlySet<string>> {
    const { bucket, options } = this;
    const paths = new Set<string>();
    await forEachOf(versions, options.transfers, async (version) => {
      const manifest = await readSourceManifest(bucket, version, options);
      if (manifest === undefined)
        throw new UserError(
          `${bucket.locationOf(manifestKey(version))}: not found: expected the manifest. Nothing was removed.`,
        );
      for (const { path } of filesOf(manifest)) paths.add(path);
    });
    return paths;
  }
}
