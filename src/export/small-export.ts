/** Small exports: their rows are read as those of a page and encoded like one, in a fifth of the time that reading the Parquet files takes. */

import type { Row } from "../base/json.ts";
import type { Job } from "../db/job.ts";
import type { TableEncoder } from "../formats/table-encoder.ts";
import type { TableFormat } from "../formats/table-formats.ts";
import { serializerOf } from "../query/fields.ts";
import { unmatchedIn } from "../query/unmatched.ts";
import type { LakeVersion } from "../serving/lake-version.ts";
import { exportedColumns } from "./columns.ts";
import { type ExportQuery, partsOf } from "./parts.ts";
import { metadataOf } from "./write-export.ts";

export interface EncodedExport {
  readonly content: Buffer;
  readonly rows: number;
}

/** Returns the bytes that `writeExport` writes, of up to `rowsMax` rows; undefined for an export of several days, whose rows are no page. */
export async function encodeExport(
  query: ExportQuery,
  version: LakeVersion,
  rowsMax: number,
  { encoder, format, job }: { readonly encoder: TableEncoder; readonly format: TableFormat; readonly job: Job },
): Promise<EncodedExport | undefined> {
  const [part, ...others] = partsOf(query, version);
  if (part === undefined || others.length + part.days.length > 0) return undefined;
  const { plan, fields } = part;
  const columns = exportedColumns(plan, fields).map(({ column }) => column);
  const { keys } = await plan.mode.listings.findPage({ ...plan, limit: rowsMax });
  const names = columns.map(({ name }) => name);
  const serialize = serializerOf(names, { ...plan, status: plan.mode.status }, version.dimensions);
  const rows = await plan.mode.listings.read(keys, names, (row) => exportedTimes(JSON.parse(serialize(row))));
  const metadata = metadataOf({ ...version.meta, ...(await unmatchedIn(query, version)) });
  return { content: await encoder.encode(format, { columns, rows, metadata }, job, query.csv_raw), rows: rows.length };
}

/** Returns a row whose time of the last check has the form of exports, `T…Z` with a fraction of its second if it has one, not that of a page. */
const exportedTimes = (row: Row): Row =>
  typeof row.last_checked_at === "string"
    ? { ...row, last_checked_at: `${row.last_checked_at.replace(" ", "T").replace(/\.?0*$/, "")}Z` }
    : row;
