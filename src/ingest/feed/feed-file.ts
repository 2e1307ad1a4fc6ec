/** A file of a delivery, as found by its name. */
import type { FeedTable } from "./feed-schema.ts";

export type FeedFormat = "csv" | "ndjson" | "parquet";

export interface FeedFile {
  readonly table: FeedTable;
  readonly format: FeedFormat;
  readonly isGzip: boolean;
  /** The path to read. Its last part is not the name if the file is a symbolic link. */
  readonly path: string;
  /** File name, as used in messages and rejects. */
  readonly name: string;
}
