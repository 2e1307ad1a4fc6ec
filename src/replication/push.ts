/**
 * Push: uploads the published version of a lake to a bucket. Files go first, then the manifest, then `CURRENT`, so that a reader finds every listed
 * file at any moment. Skips what the bucket already has.
 */
import { readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { isNotFound } from "../base/files.ts";
import { messageOf, UserError } from "../base/user-error.ts";
import { type ListedFile, mismatchOf } from "../lake/listed-file.ts";
import { compareVersions, filesOf, type Manifest, manifestKey, manifestPath, manifestText } from "../lake/manifest.ts";
import { viewsPath } from "../lake/writer/writer.ts";
import { type BucketRetention, removeExpired } from "./bucket-retention.ts";
import { mebibytes } from "./follower.ts";
import { pushIngestRecord } from "./ingest-record.ts";
import type { S3Store } from "./s3.ts";
import { readSourceManifest, readSourceVersion, requireSameLake, type SourceVersion } from "./source-manifest.ts";
import { forEachOf, repeat, type TransferOptions } from "./transfer.ts";

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
  store: S3Store,
  options: PushOptions,
): Promise<PushResult> {
  const published = await readSourceVersion(store, options);
  const before = await requireOlder(lake, manifest, store, { published, options });
  try {
    const uploaded = await uploadFiles(lake, manifest, store, options);
    // A manifest that is written again would postpone the removal of the version before it.
    const isNew = before === undefined || manifestText(before) !== manifestText(manifest);
    if (isNew) await writeManifest(store, lake, manifest.version, options);
    await replaceCurrent(store, manifest.version, { published, options });
    await pushIngestRecord(lake, store);
    const { retention } = options;
    const removed = retention === undefined ? 0 : await removeExpired(store, manifest, retention, options);
    return { version: manifest.version, ...uploaded, removed };
  } catch (thrown) {
    if (!isNotFound(thrown)) throw thrown;
    throw new UserError(`${messageOf(thrown)}. Vacuum may have removed version ${manifest.version}: push again.`);
  }
}

/** The published version of the bucket at the start of a push. */
interface BucketState {
  readonly published: SourceVersion | undefined;
  readonly options: PushOptions;
}

/** Returns the published manifest of the bucket. Throws a UserError if the version does not follow it. */
async function requireOlder(
  lake: string,
  manifest: Manifest,
  store: S3Store,
  { published, options }: BucketState,
): Promise<Manifest | undefined> {
  if (published === undefined) return undefined;
  const { version } = published;
  requireNotNewer(version, store.placeOf("CURRENT"), manifest.version, lake);
  const before = await readSourceManifest(store, version, options);
  if (before !== undefined) requireSameLake(before, store.placeOf(manifestKey(version)), [manifest], lake);
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
  store: S3Store,
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
    const isUploaded = await uploadUnlessPresent(join(lake, file.path), file, store, { options, onPart });
    if (isUploaded) files += 1;
    if (isUploaded) bytes += file.bytes;
    inParts -= sent;
    done += 1;
    report();
  });
  return { files, bytes };
}

/** Writes the manifest of a version whose files the bucket has. */
async function writeManifest(store: S3Store, lake: string, version: string, options: PushOptions): Promise<void> {
  const texts = [
    [`versions/${version}.sql`, await readFile(viewsPath(lake, version), "utf8")],
    [manifestKey(version), await readFile(manifestPath(lake, version), "utf8")],
  ] as const;
  for (const [path, text] of texts) await repeat(() => store.writeText(path, text), options);
}

/** Publishes a version. Throws a UserError if another push has published one meanwhile. */
async function replaceCurrent(store: S3Store, version: string, { published, options }: BucketState): Promise<void> {
  const isReplaced = await repeat(() => store.writeText("CURRENT", `${version}\n`, published?.tag ?? null), options);
  // The answer to an earlier attempt can have been lost.
  if (isReplaced || (await readSourceVersion(store, options))?.version === version) return;
  throw new UserError(`${store.placeOf("CURRENT")}: changed during the push: expected one push at a time. Push again.`);
}

/** Returns whether a file had to be uploaded. */
async function uploadUnlessPresent(
  path: string,
  file: ListedFile,
  store: S3Store,
  { options, onPart }: { readonly options: PushOptions; readonly onPart: (sent: number) => void },
): Promise<boolean> {
  if (await repeat(() => store.has(file), options)) return false;
  const mismatch = mismatchOf(file, { bytes: (await stat(path)).size });
  if (mismatch !== undefined) throw new UserError(`${path}: ${mismatch}`);
  await repeat(() => store.upload(file, path, onPart), options);
  return true;
}
