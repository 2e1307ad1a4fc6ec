/** Limits of feed files, which come from third parties. A file that exceeds one is refused before its content takes up memory or disk. */

/** Columns of a feed file. The plan of a query grows with them. */
export const feedColumnsMax = 1000;

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
  fileBytes: 2 * 2 ** 30,
  uncompressedBytes: 8 * 2 ** 30,
  compressionRatio: 200,
  rows: 10_000_000,
  recordBytes: 256 * 2 ** 10,
  nesting: 32,
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
