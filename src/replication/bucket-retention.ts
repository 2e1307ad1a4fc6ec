/**
 * Removes old versions from a bucket: their manifests, and the files that only these list. Removes no other objects, and none at all if a manifest
 * cannot be read. Times are those of the store's clock.
 */
import { plusDays } from "../base/day.ts";
import { UserError } from "../base/user-error.ts";
import type { Bucket } from "../connectors/bucket.ts";
import { forEachOf, repeat, type TransferOptions } from "../connectors/transfer.ts";
import type { VersionRetention } from "../lake/maintenance/vacuum.ts";
import { compareVersions, filesOf, type Manifest, manifestKey, versionOfKey } from "../lake/manifest.ts";
import { readSourceManifest } from "./source-manifest.ts";

/** The age at which an upload that has not been completed is one of a killed push. */
const unfinishedUploadMs = 86_400_000;

export type BucketRetention = Pick<VersionRetention, "versionDays" | "graceMs">;

interface RemovalOptions extends TransferOptions {
  readonly transfers: number;
}

/** Applies the retention to a bucket that has just published a version. Returns how many versions were removed. */
export async function removeExpired(
  bucket: Bucket,
  published: Manifest,
  retention: BucketRetention,
  options: RemovalOptions,
): Promise<number> {
  const [current] = await repeat(() => bucket.objects("CURRENT"), options);
  if (current === undefined) return 0;
  await abortUnfinishedUploads(bucket, published, current.modifiedMs);
  const versions = await storedVersions(bucket, options);
  const expired = expiredVersions(versions, published, { ...retention, nowMs: current.modifiedMs });
  if (expired.size === 0) return 0;
  const kept = versions.map(({ version }) => version).filter((version) => !expired.has(version));
  const needed = await pathsIn(bucket, kept, options);
  const listed = await pathsIn(bucket, [...expired], options);
  const remove = (path: string): Promise<void> => repeat(() => bucket.remove(path), options);
  const orphans = [...listed].filter((path) => !needed.has(path));
  await forEachOf(orphans, options.transfers, remove);
  // Manifests are removed last: until then, they name the files that a killed removal has left.
  for (const version of expired) {
    await remove(`versions/${version}.sql`);
    await remove(manifestKey(version));
  }
  return expired.size;
}

/** A version whose manifest a bucket has, and when it was written. */
interface StoredVersion {
  readonly modifiedMs: number;
  readonly version: string;
}

async function storedVersions(bucket: Bucket, options: RemovalOptions): Promise<readonly StoredVersion[]> {
  const objects = await repeat(() => bucket.objects("versions/"), options);
  return objects
    .flatMap(({ path, modifiedMs }) => {
      const version = versionOfKey(path);
      return version === undefined ? [] : [{ version, modifiedMs }];
    })
    .sort((left, right) => compareVersions(left.version, right.version));
}

/** Returns the versions before the kept days that a newer one has replaced for the grace period. */
function expiredVersions(
  versions: readonly StoredVersion[],
  published: Manifest,
  { versionDays, graceMs, nowMs }: VersionRetention,
): ReadonlySet<string> {
  const keptFrom = plusDays(published.as_of, 1 - versionDays);
  const expired = versions.filter(({ version }, index) => {
    const replacedMs = versions[index + 1]?.modifiedMs ?? nowMs;
    const isBefore = compareVersions(version, published.version) < 0 && version.slice(0, keptFrom.length) < keptFrom;
    return isBefore && nowMs - replacedMs >= graceMs;
  });
  return new Set(expired.map(({ version }) => version));
}

/** Returns the paths of the files that some versions list. A manifest can have 16 MiB, so that only a few are read at once. */
async function pathsIn(
  bucket: Bucket,
  versions: readonly string[],
  options: RemovalOptions,
): Promise<ReadonlySet<string>> {
  const paths = new Set<string>();
  await forEachOf(versions, options.transfers, async (version) => {
    for (const { path } of filesOf(await readManifest(bucket, version, options))) paths.add(path);
  });
  return paths;
}

async function readManifest(bucket: Bucket, version: string, options: RemovalOptions): Promise<Manifest> {
  const manifest = await readSourceManifest(bucket, version, options);
  if (manifest !== undefined) return manifest;
  throw new UserError(
    `${bucket.placeOf(manifestKey(version))}: not found: expected the manifest. Nothing was removed.`,
  );
}

/** Aborts uploads that killed pushes have left of files that the published version has. */
async function abortUnfinishedUploads(bucket: Bucket, published: Manifest, nowMs: number): Promise<void> {
  const listed = new Set(filesOf(published).map(({ path }) => path));
  await bucket.abortUploads((path) => listed.has(path), nowMs - unfinishedUploadMs);
}
