/** The Parquet files of a version. */
import type { TableName } from "./tables.ts";

/** One immutable Parquet file. */
export interface LakeFile {
  /** Path relative to the lake's folder. */
  readonly path: string;
  /** Value of the table's partition key; null for tables without partitions. */
  readonly partition: string | null;
  readonly rows: number;
  readonly bytes: number;
  readonly sha256: string;
  /** Minimum and maximum of the table's first sort column. */
  readonly min: string | null;
  readonly max: string | null;
  /** Fingerprint of the schema that the file was written with. Files of format 1 have none. */
  readonly schema?: string;
}

export type TableFiles = Readonly<Record<TableName, readonly LakeFile[]>>;
