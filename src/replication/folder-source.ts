/** A published lake in a folder, such as a mounted share. */
import { constants, open, realpath } from "node:fs/promises";
import { join, sep } from "node:path";
import { isNotFound } from "../base/files.ts";
import { UserError } from "../base/user-error.ts";
import type { LakeSource, OpenedFile, ReadFrom } from "./source.ts";

/** Returns the source of a lake's folder. Refuses links that leave the folder, and paths that are not regular files. */
export function folderSource(folder: string): LakeSource {
  const placeOf = (path: string): string => join(folder, path);
  return {
    placeOf,
    async open(path, from, signal) {
      const place = placeOf(path);
      try {
        const [root, target] = await Promise.all([realpath(folder), realpath(place)]);
        if (!target.startsWith(root.endsWith(sep) ? root : root + sep))
          throw new UserError(`${place}: links to ${target}: expected a file in ${folder}.`);
        return await openFile(place, target, from, signal);
      } catch (thrown) {
        if (isNotFound(thrown)) return undefined;
        throw thrown;
      }
    },
  };
}

/** Opens a regular file. Without waiting: the open of a pipe would wait for its writer, and could not be aborted. */
async function openFile(place: string, target: string, { offset }: ReadFrom, signal: AbortSignal): Promise<OpenedFile> {
  const file = await open(target, constants.O_RDONLY | constants.O_NONBLOCK);
  const status = await file.stat();
  if (!status.isFile()) {
    await file.close();
    throw new UserError(`${place}: not a regular file: expected a file of a lake.`);
  }
  const content = file.createReadStream({ start: offset, signal, highWaterMark: 1 << 20 });
  // Without a listener, an abort before the first byte is read would end the process.
  return { offset, bytes: status.size, tag: undefined, content: content.on("error", () => undefined) };
}
