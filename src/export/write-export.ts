/**
 * Writes all listings of a search to a file: the rows, columns and values of its pages, in their order.
 *
 * Memory does not grow with the rows: the matches are read once per range of the order, and each range is sorted and written on its own.
 * Reading a million listings takes a second; sorting them all at once needs gigabytes.
 */
import { createReadStream, createWriteStream } from "node:fs";
import { rename, rm, stat } from "node:fs/promises";
import { join as joinPath } from "node:path";
import { pipeline } from "node:stream/promises";
import { redactKeys } from "../accounts/api-key.ts";
import { bounds } from "../base/bounds.ts";
import { integerIn } from "../base/json.ts";
import type { QueryOf } from "../contract/types.ts";
import { fileLiteral, join, pathLiteral, type Sql, sql } from "../db/sql.ts";
import { parquetOptions } from "../formats/engine-formats.ts";
import type { TableMetadata } from "../formats/table.ts";
import type { TableFormat } from "../formats/table-formats.ts";
import { planSearch, type SearchPlan } from "../query/search.ts";
import { type UnmatchedMeta, unmatchedIn } from "../query/unmatched.ts";
import type { LakeVersion } from "../serving/lake-version.ts";
import { convertToArrow } from "./arrow-file.ts";
import { exportedColumns, selectStatement } from "./columns.ts";
import { type PiecePlace, pieceFormats, selectAs } from "./pieces.ts";
import { sortRangesOf } from "./sort-ranges.ts";

export type ExportQuery = QueryOf<"exportListings">;

export interface WrittenExport extends UnmatchedMeta {
  readonly path: string;
  readonly rows: number;
  readonly bytes: number;
}

export interface WriteOptions {
  readonly format: TableFormat;
  /** A folder for the file and its pieces, which the version can write to. */
  readonly folder: string;
  /** Called with the number of rows written and of all rows. */
  readonly onProgress?: (rows: number, total: number) => void;
  /** The most rows that are sorted at once. */
  readonly rangeRows?: number;
}

/** Plans the search of an export. Refuses parameters that cannot be combined. */
export const planExport = ({ format: _, ...query }: ExportQuery, version: LakeVersion): SearchPlan =>
  planSearch({ ...query, limit: 0, offset: 0 }, version);

/** Writes an export to a new file of the folder. */
export async function writeExport(
  query: ExportQuery,
  version: LakeVersion,
  { format, folder, onProgress = () => {}, rangeRows = bounds.exportRangeRows }: WriteOptions,
): Promise<WrittenExport> {
  const plan = planExport(query, version);
  const unmatched = await unmatchedIn(query, version);
  const path = joinPath(folder, "export");
  const { total, ranges } = await sortRangesOf(plan, rangeRows);
  const pieces = ranges.map((_, index) => `${path}.${index}`);
  const file = { path, plan, version, metadata: metadataOf({ ...version.meta, ...unmatched }) };
  const writePiece = await pieceWriter(format, file);
  const { add, finish } = assemblers[format];
  let rows = 0;
  for (const [index, piece] of pieces.entries()) {
    const place = { isFirst: index === 0, isOnly: pieces.length === 1 };
    rows += await writePiece(ranges[index] ?? sql`false`, piece, place);
    await add?.(piece, path);
    onProgress(rows, total);
  }
  await finish?.(pieces, file);
  await Promise.all(pieces.map((piece) => rm(piece, { force: true })));
  const { size: bytes } = await stat(path);
  return { path, rows, bytes, ...unmatched };
}

/** Returns the metadata of the file, as a page has it; without API keys that were sent as values by mistake. */
const metadataOf = (meta: object): TableMetadata => ({ "carquet.meta": redactKeys(JSON.stringify(meta)) });

/** The file of an export. */
interface ExportFile {
  readonly path: string;
  readonly plan: SearchPlan;
  readonly version: LakeVersion;
  readonly metadata: TableMetadata;
}

/** Returns a function that writes the matches of a range to a piece and returns their number. */
async function pieceWriter(
  format: TableFormat,
  { plan, version, metadata }: ExportFile,
): Promise<(range: Sql, path: string, place: PiecePlace) => Promise<number>> {
  const columns = exportedColumns(plan);
  const select = await selectStatement(columns, selectAs(format, columns), plan, version);
  return async (range, path, place) => {
    const [row] = await plan.mode.listings.runOverMatches(
      plan,
      (matches) => sql`
        COPY (${select(sql`SELECT * FROM (${matches}) WHERE ${range}`)})
        TO ${fileLiteral(path)} (${pieceFormats[format].options(place, metadata)}, USE_TMP_FILE false)`,
    );
    return integerIn({ rows: Number(row?.Count) }, "rows");
  };
}

/** Makes one file of the pieces of a format. Each piece is added when it is written; `finish` is called after the last one. */
interface Assembler {
  readonly add?: (piece: string, path: string) => Promise<void>;
  readonly finish?: (pieces: readonly string[], file: ExportFile) => Promise<void>;
}

/** Appends pieces of text, and removes them at once, so that the rows are on the disk once. */
const concatenation: Assembler = {
  add: async (piece, path) => {
    await pipeline(createReadStream(piece), createWriteStream(path, { flags: "a" }));
    await rm(piece);
  },
};

const assemblers: Readonly<Record<TableFormat, Assembler>> = {
  parquet: {
    finish: async (pieces, { path, version, metadata }) => {
      const [only = "", ...others] = pieces;
      if (others.length === 0) return rename(only, path);
      const rows = sql`FROM read_parquet([${join(pieces.map(pathLiteral))}])`;
      await version.rows(sql`COPY (${rows}) TO ${fileLiteral(path)} (${parquetOptions(metadata)}, USE_TMP_FILE false)`);
    },
  },
  arrow: {
    finish: (pieces, { path, plan, metadata }) =>
      convertToArrow(pieces, { path, columns: exportedColumns(plan).map(({ column }) => column), metadata }),
  },
  csv: concatenation,
  ndjson: concatenation,
};
