/** Limits of feed files, which come from third parties. A file that exceeds one is refused before its content takes up memory or disk. */
import { bounds } from "../../base/bounds.ts";

export interface FeedLimits {
  /** Size of a file as stored. */
  readonly fileBytes: number;
  /** Size of a compressed file's content. */
  readonly uncompressedBytes: number;
  /** Uncompressed bytes for each stored byte. */
  readonly compressionRatio: number;
  /** Rows of a file. */
  readonly rows: number;
  /** Size of a row as text. */
  readonly recordBytes: number;
  /** Depth of arrays and objects in a row of NDJSON; the row itself counts 1. */
  readonly nesting: number;
}

export const defaultFeedLimits: FeedLimits = {
  fileBytes: bounds.feedFileBytes,
  uncompressedBytes: bounds.feedUncompressedBytes,
  compressionRatio: bounds.feedCompressionRatio,
  rows: bounds.feedRows,
  recordBytes: bounds.feedRecordBytes,
  nesting: bounds.feedNesting,
};

/** Returns the end of an error message for each limit: what is wrong, what was expected, and the setting. */
export const limitMessages: Readonly<Record<keyof FeedLimits, (limits: FeedLimits) => string>> = {
  fileBytes: ({ fileBytes }) => `file too large: expected at most ${fileBytes} bytes (--max-file-size).`,
  uncompressedBytes: ({ uncompressedBytes }) =>
    `too large uncompressed: expected at most ${uncompressedBytes} bytes (--max-uncompressed-size).`,
  compressionRatio: ({ compressionRatio }) =>
    `compressed too highly: expected at most ${compressionRatio} bytes from each stored byte (--max-compression-ratio).`,
  rows: ({ rows }) => `too many rows: expected at most ${rows} (--max-rows).`,
  recordBytes: ({ recordBytes }) => `row too large: expected at most ${recordBytes} bytes (--max-record-size).`,
  nesting: ({ nesting }) => `nested too deeply: expected at most ${nesting} levels (--max-nesting).`,
};
