/**
 * Push: uploads the published version of a lake to a bucket. Files go first, then the manifest, then `CURRENT`, so that a reader finds
 * all that it is pointed to at any moment. What the bucket has already is left out.
 */
import { readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { UserError } from "../base/user-error.ts";
import { type Manifest, manifestPath } from "../lake/manifest.ts";
import { viewsPath } from "../lake/writer/writer.ts";
import type { ListedFile } from "../serving/verified-files.ts";
import { filesOf } from "./plan.ts";
import type { S3Store } from "./s3.ts";
import { forEachOf, repeat, type TransferOptions } from "./transfer.ts";

export interface PushOptions extends Pick<TransferOptions, "retryMs"> {
  /** How many files are uploaded at once. */
  readonly transfers: number;
  /** Called after each file: the files done, all files, and the last of them. */
  readonly onFile: (done: number, files: number, path: string) => void;
}

/** What has been uploaded. */
export interface Pushed {
  readonly version: string;
  readonly files: number;
  readonly bytes: number;
}

/** Uploads a version of a lake. Throws a UserError if a file is not what the manifest says, or cannot be uploaded. */
export async function push(lake: string, manifest: Manifest, store: S3Store, options: PushOptions): Promise<Pushed> {
  const { version } = manifest;
  const writeText = (path: string, text: string): Promise<void> => repeat(() => store.writeText(path, text), options);
  const listed = filesOf(manifest);
  let [done, files, bytes] = [0, 0, 0];
  await forEachOf(listed, options.transfers, async (file) => {
    if (await uploadUnlessPresent(join(lake, file.path), file, store, options)) {
      files += 1;
      bytes += file.bytes;
    }
    done += 1;
    options.onFile(done, listed.length, file.path);
  });
  await writeText(`versions/${version}.sql`, await readFile(viewsPath(lake, version), "utf8"));
  await writeText(`versions/${version}.json`, await readFile(manifestPath(lake, version), "utf8"));
  await writeText("CURRENT", `${version}\n`);
  return { version, files, bytes };
}

/** Returns whether a file had to be uploaded. */
async function uploadUnlessPresent(
  path: string,
  file: ListedFile,
  store: S3Store,
  options: PushOptions,
): Promise<boolean> {
  if (await repeat(() => store.has(file), options)) return false;
  const { size } = await stat(path);
  if (size !== file.bytes) throw new UserError(`${path}: invalid size: expected ${file.bytes} bytes, found ${size}.`);
  await repeat(() => store.upload(file, path), options);
  return true;
}
