/** A file of a delivery, as found by its name. */
import type { Mapping } from "../mapping/rules.ts";
import type { FeedTable } from "./feed-schema.ts";

/** Formats by how a file is read. Documents (XML, JSON) and ZIP files are converted first. */
export type FeedFormat = "csv" | "ndjson" | "parquet" | "json" | "xml" | "zip";

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
