/**
 * A file of a delivery: its kind by its name, its limits, and its content as a stream.
 *
 * Files come from third parties. One that exceeds a limit is refused before its content takes up memory or disk.
 */
import { createReadStream } from "node:fs";
import { pipeline, type Readable } from "node:stream";
import { createGunzip } from "node:zlib";
import type { Mapping } from "../mapping/rules.ts";
import type { DealerList } from "./dealer-list.ts";
import { type FeedTable, feedTables } from "./feed-schema.ts";

/** Formats by how a file is read. Documents (XML, JSON) and ZIP files are converted first; workbooks of spreadsheets are refused by name. */
export type FeedFormat = "csv" | "ndjson" | "parquet" | "json" | "xml" | "zip" | "workbook";

export interface FeedFile {
  readonly table: FeedTable;
  readonly format: FeedFormat;
  readonly isGzip: boolean;
  /** The path to read. Its last part is not the name if the file is a symbolic link, or was converted. */
  readonly path: string;
  /** File name, as used in messages and rejects; with its folders in that of the day, if it is in one. */
  readonly name: string;
  /** The name of its folder, if it is in one in that of the day. */
  readonly folder?: string;
  /** Whether its name does not begin with that of a table: it is a feed only by a mapping. */
  readonly isForeign?: boolean;
  /** How it is written, if that differs from the Carquet format. */
  readonly layout?: CsvLayout;
  /** The mapping of its columns; none in the Carquet format. */
  readonly mapping?: Mapping;
  /** The list of dealers in the folder of its source. */
  readonly dealers?: DealerList;
  /** Whether the first column is the number of the row, as in files that were written again. */
  readonly isNumbered?: boolean;
  /** Rows that were left out because they are malformed. */
  readonly badRows?: readonly BadRow[];
  /** Whether the malformed rows are those of another delivery of the same file. */
  readonly hidesBadRows?: boolean;
}

/** A row that is malformed as text. */
export interface BadRow {
  readonly row: number;
  readonly text: string;
  readonly reason: string;
}

/** How a CSV file is written, in UTF-8. */
export interface CsvLayout {
  readonly delimiter: string;
  /** Empty if it has none. */
  readonly quote: string;
  readonly hasHeader: boolean;
  /** Names of columns by position, without a header. */
  readonly names: readonly string[];
}

/** The layout of files in the Carquet format. */
export const carquetLayout: CsvLayout = { delimiter: ",", quote: '"', hasHeader: true, names: [] };

export const layoutOf = ({ layout = carquetLayout }: FeedFile): CsvLayout => layout;

type StoredContent = Pick<FeedFile, "path" | "isGzip">;

/** Size of the chunks of a file. */
const chunkBytes = 2 ** 18;

/** Returns the content as a stream of buffers. Destroying the stream closes the file; an error of either stage destroys it. */
export function chunksOf({ path, isGzip }: StoredContent): Readable {
  const stored = createReadStream(path, { highWaterMark: chunkBytes });
  return isGzip ? pipeline(stored, createGunzip({ chunkSize: chunkBytes }), () => {}) : stored;
}

const plainFormats = {
  ".csv": "csv",
  ".tsv": "csv",
  ".txt": "csv",
  ".dat": "csv",
  ".ndjson": "ndjson",
  ".jsonl": "ndjson",
  ".json": "json",
  ".xml": "xml",
} as const satisfies Readonly<Record<string, FeedFile["format"]>>;

type Kind = Pick<FeedFile, "format" | "isGzip">;

const kinds: Readonly<Record<string, Kind>> = {
  ...Object.fromEntries(
    Object.entries(plainFormats).flatMap(([ending, format]): [string, Kind][] => [
      [ending, { format, isGzip: false }],
      [`${ending}.gz`, { format, isGzip: true }],
    ]),
  ),
  ".parquet": { format: "parquet", isGzip: false },
  ".zip": { format: "zip", isGzip: false },
};

/** The endings of feed files, as a list for messages. */
export const feedEndings = Object.keys(kinds).join(", ");

/** Returns the kind of a file by the ending of its name; undefined if it is no feed file. */
export const fileOf = (name: string): Kind | undefined =>
  /\.(?:xlsx?|xlsm|xlsb|ods|numbers)$/i.test(name)
    ? { format: "workbook", isGzip: false }
    : Object.entries(kinds).find(([ending]) => name.toLowerCase().endsWith(ending))?.[1];

/** Returns whether the name of a file does not say its format, which is then that of its content. */
export const isOfAnyFormat = (name: string): boolean => /(?:^|\/)[^./]+$|\.(?:txt|dat)(?:\.gz)?$/i.test(name);

/** Returns the kind of a file, which is text of any format if its name has no ending. */
export const kindOf = (name: string): Kind | undefined =>
  fileOf(name) ?? (/^[^.]+$/.test(name) ? { format: "csv", isGzip: false } : undefined);

/** Returns the table of a file: that with which its name begins, else the inventory, which it is only by a mapping. */
export function tableOfName(name: string): Pick<FeedFile, "table" | "isForeign"> {
  const table = feedTables.find((prefix) => name.toLowerCase().startsWith(prefix));
  return table === undefined ? { table: "inventory", isForeign: true } : { table };
}

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
