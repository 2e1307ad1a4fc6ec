/** Opens the records of a published version for commands, without its search index: their queries read Parquet files only. */
import { type DatabaseOptions, DuckDatabase } from "../../../db/duckdb.ts";
import { requireDay, requireManifest } from "../../../lake/published-lake.ts";
import type { QualitySource } from "../../../query/quality/quality.ts";
import { DeliveryRecords } from "../../../serving/delivery-records.ts";

export interface RecordOptions extends DatabaseOptions {
  readonly lake: string;
  readonly lakeVersion?: string | undefined;
  /** A day that the version must have. */
  readonly day?: string | undefined;
}

interface PublishedRecords extends QualitySource {
  readonly deliveries: DeliveryRecords;
}

/** Calls `work` with the records of a version. Throws a UserError for an unknown lake, version or day. */
export async function withPublishedRecords<T>(
  { lake, lakeVersion, day, ...options }: RecordOptions,
  work: (records: PublishedRecords) => Promise<T>,
): Promise<T> {
  const manifest = await requireManifest(lake, lakeVersion);
  if (day !== undefined) requireDay(manifest, day);
  const database = await DuckDatabase.open(options);
  try {
    return await database.using((session) => {
      const rowsFrom: QualitySource["rowsFrom"] = (_files, query) => session.rows(query);
      return work({ manifest, folder: lake, rowsFrom, deliveries: new DeliveryRecords(manifest, lake, rowsFrom) });
    });
  } finally {
    database.close();
  }
}
