/**
 * Files in ZIP archives. Sizes are known from the archive's directory, so a bomb is refused before anything of it is unpacked; an entry that is
 * larger than it says fails. Names of entries are labels and never paths.
 */
import { createWriteStream } from "node:fs";
import { pipeline } from "node:stream/promises";
import { type Entry, open, type ZipFile } from "yauzl";
import { messageOf, printable, UserError } from "../../base/user-error.ts";
import { classifyFault } from "../../db/engine-faults.ts";
import type { FeedFile } from "../feed/feed-file.ts";
import type { FeedLimits } from "../feed/feed-limits.ts";
import { sizeWithin } from "../feed/file-checks.ts";
import { fileError, limitError } from "../feed/file-errors.ts";

/** Files of an archive, photos included. */
const entriesMax = 10_000;

/**
 * Unpacks the entries that `targetOf` returns a path for, one after the other, and yields the results of `targetOf`. Throws a UserError if the archive
 * is damaged, encrypted, exceeds a limit, or has a name that leads out of it.
 */
export async function unpack<Target extends { readonly path: string }>(
  file: FeedFile,
  limits: FeedLimits,
  targetOf: (entryName: string) => Promise<Target | undefined>,
): Promise<readonly Target[]> {
  const storedBytes = await sizeWithin(file, limits);
  const fail = (thrown: unknown): unknown =>
    thrown instanceof UserError || classifyFault(thrown) === "disk full"
      ? thrown
      : fileError(file, `: invalid ZIP file: ${printable(messageOf(thrown))}.`);
  let zip: ZipFile | undefined;
  try {
    zip = await opened(file.path);
    const entries = await entriesOf(zip);
    const bytes = entries.reduce((sum, { uncompressedSize }) => sum + uncompressedSize, 0);
    if (bytes > limits.uncompressedBytes) throw limitError(file, "uncompressedBytes", limits);
    if (bytes > limits.compressionRatio * storedBytes) throw limitError(file, "compressionRatio", limits);
    const targets: Target[] = [];
    for (const entry of entries) {
      const target = await targetOf(entry.fileName);
      if (target === undefined) continue;
      if (entry.isEncrypted()) throw fileError(file, ": encrypted ZIP file: expected one without a password.");
      await write(zip, entry, target.path);
      targets.push(target);
    }
    return targets;
  } catch (thrown) {
    throw fail(thrown);
  } finally {
    zip?.close();
  }
}

const opened = (path: string): Promise<ZipFile> =>
  new Promise((resolve, reject) => {
    open(path, { lazyEntries: true, autoClose: false, strictFileNames: true }, (error, zip) =>
      error === null ? resolve(zip) : reject(error),
    );
  });

const entriesOf = (zip: ZipFile): Promise<readonly Entry[]> =>
  new Promise((resolve, reject) => {
    const entries: Entry[] = [];
    if (zip.entryCount > entriesMax) reject(new Error(`${zip.entryCount} entries: expected at most ${entriesMax}`));
    zip
      .on("error", reject)
      .on("end", () => resolve(entries))
      .on("entry", (entry) => {
        entries.push(entry);
        zip.readEntry();
      });
    zip.readEntry();
  });

const write = (zip: ZipFile, entry: Entry, path: string): Promise<void> =>
  new Promise((resolve, reject) => {
    zip.openReadStream(entry, (error, stream) => {
      if (error === null) pipeline(stream, createWriteStream(path)).then(resolve, reject);
      else reject(error);
    });
  });
