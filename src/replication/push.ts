/**
 * Push: uploads the published version of a lake to a bucket. Files go first, then the manifest, then `CURRENT`, so that a reader finds every listed
 * file at any moment. Skips what the bucket already has.
 */
import { readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { isNotFound } from "../base/files.ts";
import { messageOf, UserError } from "../base/user-error.ts";
import type { Bucket } from "../connectors/bucket.ts";
import { forEachOf, repeat, type TransferOptions } from "../connectors/transfer.ts";
import { ingestRecordKey, ingestRecordText, readIngestRecord } from "../lake/ingest-record.ts";
import { type ListedFile, mismatchOf } from "../lake/listed-file.ts";
import { compareVersions, filesOf, type Manifest, manifestKey, manifestPath, manifestText } from "../lake/manifest.ts";
import { viewsPath } from "../lake/writer/writer.ts";
import { type BucketRetention, removeExpired } from "./bucket-retention.ts";
import { mebibytes } from "./follower.ts";
import { readSourceManifest, readSourceVersion, requireSameLake, type SourceVersion } from "./source-manifest.ts";

export interface PushOptions extends TransferOptions {
  /** How many files are uploaded at once. */
  readonly transfers: number;
  /** The retention of versions in the bucket; undefined keeps all. */
  readonly retention?: BucketRetention | undefined;
  /** Called after each file, and each part of one: the uploaded files, all files, and a description. */
  readonly onStep: (done: number, files: number, description: string) => void;
}

/** The uploaded files, and the number of removed versions. */
export interface PushResult {
  readonly version: string;
  readonly files: number;
  readonly bytes: number;
  readonly removed: number;
}

/**
 * Uploads a version of a lake. Throws a UserError if the bucket has a newer version or one of another lake, if a file does not match the manifest,
 * or if it cannot be uploaded.
 */
export async function push(
  lake: string,
  manifest: Manifest,
  bucket: Bucket,
  options: PushOptions,
): Promise<PushResult> {
  const published = await readSourceVersion(bucket, options);
  const before = await requireOlder(lake, manifest, bucket, published, options);
  try {
    const uploaded = await uploadFiles(lake, manifest, bucket, options);
    // A manifest that is written again would postpone the removal of the version before it.
    const isNew = before === undefined || manifestText(before) !== manifestText(manifest);
    if (isNew) await writeManifest(bucket, lake, manifest.version, options);
    await replaceCurrent(bucket, manifest.version, published, options);
    await pushIngestRecord(lake, bucket).catch(() => undefined);
    const { retention } = options;
    const removed = retention === undefined ? 0 : await removeExpired(bucket, manifest, retention, options);
    return { version: manifest.version, ...uploaded, removed };
  } catch (thrown) {
    if (!isNotFound(thrown)) throw thrown;
    throw new UserError(`${messageOf(thrown)}. Vacuum may have removed version ${manifest.version}: push again.`);
  }
}

/** Returns the published manifest of the bucket. Throws a UserError if the version does not follow it. */
async function requireOlder(
  lake: string,
  manifest: Manifest,
  bucket: Bucket,
  published: SourceVersion | undefined,
  options: PushOptions,
): Promise<Manifest | undefined> {
  if (published === undefined) return undefined;
  const { version } = published;
  requireNotNewer(version, bucket.placeOf("CURRENT"), manifest.version, lake);
  const before = await readSourceManifest(bucket, version, options);
  if (before !== undefined) requireSameLake(before, bucket.placeOf(manifestKey(version)), [manifest], lake);
  return before?.version === manifest.version ? before : undefined;
}

/** Throws a UserError if a target's version, which `place` names, is newer than the one to push. */
export function requireNotNewer(found: string, place: string, version: string, lake: string): void {
  if (compareVersions(found, version) <= 0) return;
  throw new UserError(
    `${place}: version ${found} is newer than ${version} of ${lake}: expected an older one. Does another machine push?`,
  );
}

async function uploadFiles(
  lake: string,
  manifest: Manifest,
  bucket: Bucket,
  options: PushOptions,
): Promise<Pick<PushResult, "files" | "bytes">> {
  const listed = filesOf(manifest);
  let [done, files, bytes, inParts] = [0, 0, 0, 0];
  await forEachOf(listed, options.transfers, async (file) => {
    const report = (): void =>
      options.onStep(done, listed.length, `${mebibytes(bytes + inParts)} copied, ${file.path}`);
    let sent = 0;
    const onPart = (sentNow: number): void => {
      inParts += sentNow - sent;
      sent = sentNow;
      if (sent < file.bytes) report();
    };
    const isUploaded = await uploadUnlessPresent(join(lake, file.path), file, bucket, options, onPart);
    if (isUploaded) files += 1;
    if (isUploaded) bytes += file.bytes;
    inParts -= sent;
    done += 1;
    report();
  });
  return { files, bytes };
}

/** Writes the manifest of a version whose files the bucket has. */
async function writeManifest(bucket: Bucket, lake: string, version: string, options: PushOptions): Promise<void> {
  const texts = [
    [`versions/${version}.sql`, await readFile(viewsPath(lake, version), "utf8")],
    [manifestKey(version), await readFile(manifestPath(lake, version), "utf8")],
  ] as const;
  for (const [path, text] of texts) await repeat(() => bucket.writeText(path, text), options);
}

/** Publishes a version. Throws a UserError if another push has published one meanwhile. */
async function replaceCurrent(
  bucket: Bucket,
  version: string,
  published: SourceVersion | undefined,
  options: PushOptions,
): Promise<void> {
  const isReplaced = await repeat(() => bucket.writeText("CURRENT", `${version}\n`, published?.tag ?? null), options);
  // The answer to an earlier attempt can have been lost.
  if (isReplaced || (await readSourceVersion(bucket, options))?.version === version) return;
  throw new UserError(
    `${bucket.placeOf("CURRENT")}: changed during the push: expected one push at a time. Push again.`,
  );
}

/** Returns whether a file had to be uploaded. */
async function uploadUnlessPresent(
  path: string,
  file: ListedFile,
  bucket: Bucket,
  options: PushOptions,
  onPart: (sent: number) => void,
): Promise<boolean> {
  if (await repeat(() => bucket.has(file), options)) return false;
  const mismatch = mismatchOf(file, { bytes: (await stat(path)).size });
  if (mismatch !== undefined) throw new UserError(`${path}: ${mismatch}`);
  await repeat(() => bucket.upload(file, path, onPart), options);
  return true;
}

/** Uploads the record of the last ingest, if the lake has one. No version lists it: the next push uploads it again if this one fails. */
async function pushIngestRecord(lake: string, bucket: Bucket): Promise<void> {
  const record = await readIngestRecord(lake);
  if (record !== undefined) await bucket.writeText(ingestRecordKey, ingestRecordText(record));
}
