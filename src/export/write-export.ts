/**
 * Writes all listings of a search to a file: the rows, columns and values of its pages, in their order.
 *
 * Memory does not grow with the rows: the matches are read once per range of the order, and each range is sorted and written on its own.
 * Reading a million listings takes a second; sorting them all at once needs gigabytes.
 */
import { stat } from "node:fs/promises";
import { join as joinPath } from "node:path";
import { redactKeys } from "../accounts/keys/api-key.ts";
import { integerIn } from "../base/json.ts";
import type { TableMetadata } from "../contract/tables.ts";
import { all, ident, integerLiteral, join, numberLiteral, type Sql, sql } from "../db/sql.ts";
import { FileWriter, storedValue } from "../formats/file-writer.ts";
import type { FormatName } from "../formats/table-formats.ts";
import type { SearchPlan } from "../query/search.ts";
import { type UnmatchedMeta, unmatchedIn } from "../query/unmatched.ts";
import type { LakeVersion } from "../serving/lake-version.ts";
import { type ExportedColumn, exportedColumns, selectStatement } from "./columns.ts";
import { sortedRowsMax } from "./limits.ts";
import { type ExportPart, type ExportQuery, partsOf } from "./parts.ts";

export interface WrittenExport extends UnmatchedMeta {
  readonly path: string;
  readonly rows: number;
  readonly bytes: number;
}

export interface WriteOptions {
  readonly format: FormatName;
  /** A folder for the file and its pieces, which the version can write to. */
  readonly folder: string;
  /** Called with the number of rows written and of all rows. */
  readonly onProgress?: (rows: number, total: number) => void;
  /** The most rows that are sorted at once. */
  readonly rangeRows?: number;
}

export async function writeExport(
  query: ExportQuery,
  version: LakeVersion,
  { format, folder, onProgress, rangeRows = sortedRowsMax }: WriteOptions,
): Promise<WrittenExport> {
  const parts = partsOf(query, version);
  const unmatched = await unmatchedIn(query, version);
  const path = joinPath(folder, "export");
  const ordered: OrderedPart[] = [];
  for (const part of parts) ordered.push({ ...part, ...(await sortRangesOf(part.plan, rangeRows)) });
  const total = ordered.reduce((sum, part) => sum + part.total, 0);
  let rangesLeft = ordered.reduce((sum, { ranges }) => sum + ranges.length, 0);
  const columns = parts.slice(0, 1).flatMap((part) => columnsOfPart(part).map(({ column }) => column));
  const metadata = metadataOf({ ...version.meta, ...unmatched });
  const writer = new FileWriter({ path, format, columns, metadata, lineEnd: "\r\n" }, (sql) => version.rows(sql));
  let rows = 0;
  for (const part of ordered) {
    const { plan, ranges } = part;
    const select = await selectOfPart(part, version, (value, { type }) =>
      storedValue(format, value, type, query.csv_raw === true),
    );
    for (const range of ranges) {
      rangesLeft -= 1;
      rows += await writer.add(rangesLeft === 0, (statementOf) =>
        plan.mode.listings.runOverMatches(plan, (matches, listingsOf) =>
          statementOf(select(listingsOf(sql`SELECT * FROM (${matches}) WHERE ${range}`))),
        ),
      );
      onProgress?.(rows, total);
    }
  }
  await writer.finish();
  const { size: bytes } = await stat(path);
  return { path, rows, bytes, ...unmatched };
}

/** Returns the metadata of the file, as a page has it; without API keys that were sent as values by mistake. */
export const metadataOf = (meta: object): TableMetadata => ({ "carquet.meta": redactKeys(JSON.stringify(meta)) });

/** A part with its number of rows, and the ranges of its order. */
interface OrderedPart extends ExportPart {
  readonly total: number;
  readonly ranges: readonly Sql[];
}

const columnsOfPart = ({ plan, fields, days }: ExportPart): readonly ExportedColumn[] => [
  ...days,
  ...exportedColumns(plan, fields),
];

/** Returns a function that returns the query of the rows of some matches of a part. */
function selectOfPart(
  part: ExportPart,
  version: LakeVersion,
  stored: (value: Sql, column: ExportedColumn["column"]) => Sql,
): Promise<(matches: Sql) => Sql> {
  const columns = columnsOfPart(part);
  const values = columns.map(({ column, value }) => sql`${stored(value, column)} AS ${ident(column.name)}`);
  return selectStatement(columns, join(values), part.plan, version);
}

/**
 * Returns the number of matches, and adjacent ranges of their order with about equally many of them, `rangeRows` at most, each small enough to be
 * sorted in memory, as predicates on `sort_key`.
 */
async function sortRangesOf(
  plan: SearchPlan,
  rangeRows: number,
): Promise<{ readonly total: number; readonly ranges: readonly Sql[] }> {
  const { listings } = plan.mode;
  const [counted] = await listings.runOverMatches(
    plan,
    (matches) => sql`SELECT count(*)::INTEGER AS total FROM (${matches})`,
  );
  const total = integerIn(counted, "total");
  const count = Math.max(1, Math.ceil(total / rangeRows));
  const shares = Array.from({ length: count - 1 }, (_, index) => numberLiteral((index + 1) / count));
  if (shares.length === 0) return { total, ranges: [sql`true`] };
  const [row] = await listings.runOverMatches(
    plan,
    (matches) => sql`SELECT quantile_disc(sort_key, [${join(shares)}]) AS bounds FROM (${matches})`,
  );
  const bounds = (Array.isArray(row?.bounds) ? row.bounds : []).map((bound) => BigInt(String(bound)));
  const ranges = Array.from({ length: count }, (_, index) => {
    const from = bounds[index - 1];
    const to = bounds[index];
    return all([
      ...(from === undefined ? [] : [sql`sort_key >= ${integerLiteral(from)}`]),
      ...(to === undefined ? [] : [sql`sort_key < ${integerLiteral(to)}`]),
    ]);
  });
  return { total, ranges };
}
