/** Settings of the limits of feed files that hold when a file is fetched and when it is ingested. */
import { defaultFeedLimits } from "../ingest/feed/feed-file.ts";
import { integerParser, sizeParser } from "./option-parsers.ts";
import type { SettingRows } from "./settings.ts";

// biome-ignore format: a table is read by its columns
export const sizeLimitSettings = {
  fileBytes: { flags: "--max-file-size <size>", env: "CARQUET_MAX_FILE_SIZE", default: defaultFeedLimits.fileBytes, shownDefault: "2GiB",
    parse: sizeParser("1KiB", "1TiB", "2GiB"), help: "largest feed file, as stored" },
  uncompressedBytes: { flags: "--max-uncompressed-size <size>", env: "CARQUET_MAX_UNCOMPRESSED_SIZE",
    default: defaultFeedLimits.uncompressedBytes, shownDefault: "8GiB", parse: sizeParser("1KiB", "16TiB", "8GiB"), help: "largest feed file, uncompressed" },
  compressionRatio: { flags: "--max-compression-ratio <n>", env: "CARQUET_MAX_COMPRESSION_RATIO",
    default: defaultFeedLimits.compressionRatio, parse: integerParser(1_000_000, 1),
    help: "most uncompressed bytes of a feed file for each stored byte" },
} as const satisfies SettingRows;
