/** Streams the content of a feed file, uncompressed. */
import { createReadStream } from "node:fs";
import { createInterface } from "node:readline";
import { pipeline, type Readable } from "node:stream";
import { createGunzip } from "node:zlib";
import type { FeedFile } from "./feed-file.ts";

type StoredContent = Pick<FeedFile, "path" | "isGzip">;

/** Size of the chunks of a file. */
const chunkBytes = 2 ** 18;

/** Returns the content as a stream of buffers. Destroying the stream closes the file; an error of either stage destroys it. */
export function chunksOf({ path, isGzip }: StoredContent): Readable {
  const stored = createReadStream(path, { highWaterMark: chunkBytes });
  return isGzip ? pipeline(stored, createGunzip({ chunkSize: chunkBytes }), () => {}) : stored;
}

/** Returns the lines of the content. */
export const linesOf = (file: StoredContent): AsyncIterable<string> =>
  createInterface({ input: chunksOf(file), crlfDelay: 1000 });
