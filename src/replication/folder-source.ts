/** A published lake in a folder, such as a mounted share. */
import { createReadStream } from "node:fs";
import { stat } from "node:fs/promises";
import { join } from "node:path";
import { isNotFound } from "../base/files.ts";
import type { LakeSource } from "./source.ts";

/** Returns the source of a lake's folder. */
export function folderSource(folder: string): LakeSource {
  const placeOf = (path: string): string => join(folder, path);
  return {
    placeOf,
    async open(path, { offset }, signal) {
      try {
        const { size } = await stat(placeOf(path));
        const content = createReadStream(placeOf(path), { start: offset, signal, highWaterMark: 1 << 20 });
        // Without a listener, an abort before the first byte is read would end the process.
        return { offset, bytes: size, tag: undefined, content: content.on("error", () => undefined) };
      } catch (thrown) {
        if (isNotFound(thrown)) return undefined;
        throw thrown;
      }
    },
  };
}
