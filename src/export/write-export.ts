/**
 * Writes all listings of a search to a file: the rows, columns and values of its pages, in their order.
 *
 * Memory does not grow with the rows: the matches are read once per range of the order, and each range is sorted and written on its own.
 * Reading a million listings takes a second; sorting them all at once needs gigabytes. The file is written beside its final name and
 * renamed when it is complete.
 */
import { randomUUID } from "node:crypto";
import { createReadStream, createWriteStream } from "node:fs";
import { rename, rm, stat } from "node:fs/promises";
import { pipeline } from "node:stream/promises";
import { bounds } from "../base/bounds.ts";
import { syncToDisk } from "../base/files.ts";
import { integerIn } from "../base/json.ts";
import type { QueryOf } from "../contract/types.ts";
import { fileLiteral, join, pathLiteral, type Sql, sql } from "../db/sql.ts";
import { planSearch, type SearchPlan } from "../query/search.ts";
import type { LakeVersion } from "../serving/lake-version.ts";
import { convertToArrow } from "./arrow-file.ts";
import { exportedColumns, selectStatement } from "./columns.ts";
import { columnsNamed, type ExportFormat, exportFormats, parquetOptions, selectAs } from "./export-formats.ts";
import { sortRangesOf } from "./sort-ranges.ts";

export type ExportQuery = QueryOf<"exportListings">;

export interface WrittenExport {
  readonly rows: number;
  readonly bytes: number;
}

/** Plans the search of an export. Refuses parameters that cannot be combined. */
export const planExport = ({ format: _, ...query }: ExportQuery, version: LakeVersion): SearchPlan =>
  planSearch({ ...query, limit: 0, offset: 0 }, version);

export interface WriteOptions {
  /** Called with the number of rows written and of all rows. */
  readonly onProgress?: (rows: number, total: number) => void;
  /** The most rows that are sorted at once. */
  readonly rangeRows?: number;
}

/** Writes an export to `path`. The version must be able to write to its folder. An error leaves no file. */
export async function writeExport(
  query: ExportQuery,
  version: LakeVersion,
  path: string,
  { onProgress = () => {}, rangeRows = bounds.exportRangeRows }: WriteOptions = {},
): Promise<WrittenExport> {
  const plan = planExport(query, version);
  const part = `${path}.${randomUUID()}.part`;
  const { total, ranges } = await sortRangesOf(plan, rangeRows);
  const pieces = ranges.map((_, index) => `${part}.${index}`);
  try {
    const writePiece = await pieceWriter(query.format, plan, version);
    let rows = 0;
    const { add, finish } = assemblers[query.format];
    for (const [index, piece] of pieces.entries()) {
      rows += await writePiece(ranges[index] ?? sql`false`, piece, index === 0);
      await add?.(piece, part);
      onProgress(rows, total);
    }
    await finish?.(pieces, part, plan, version);
    await syncToDisk(part);
    const { size: bytes } = await stat(part);
    await rename(part, path);
    return { rows, bytes };
  } finally {
    await Promise.all([part, ...pieces].map((leftover) => rm(leftover, { force: true })));
  }
}

/** Returns a function that writes the matches of a range to a piece and returns their number. */
async function pieceWriter(
  format: ExportFormat,
  plan: SearchPlan,
  version: LakeVersion,
): Promise<(range: Sql, path: string, isFirst: boolean) => Promise<number>> {
  const columns = exportedColumns(plan);
  const select = await selectStatement(columns, selectAs(format, columns), plan, version);
  return async (range, path, isFirst) => {
    const [row] = await plan.mode.listings.runOverMatches(
      plan,
      (matches) => sql`
        COPY (${select(sql`SELECT * FROM (${matches}) WHERE ${range}`)})
        TO ${fileLiteral(path)} (${exportFormats[format].pieceOptions(isFirst)}, USE_TMP_FILE false)`,
    );
    return integerIn({ rows: Number(row?.Count) }, "rows");
  };
}

/** Makes one file of the pieces of a format. Each piece is added when it is written; `finish` is called after the last one. */
interface Assembler {
  readonly add?: (piece: string, path: string) => Promise<void>;
  readonly finish?: (pieces: readonly string[], path: string, plan: SearchPlan, version: LakeVersion) => Promise<void>;
}

/** Appends pieces of text, and removes them at once, so that the rows are on the disk once. */
const concatenation: Assembler = {
  add: async (piece, path) => {
    await pipeline(createReadStream(piece), createWriteStream(path, { flags: "a" }));
    await rm(piece);
  },
};

const assemblers: Readonly<Record<ExportFormat, Assembler>> = {
  parquet: {
    finish: async (pieces, path, _plan, version) => {
      const rows = sql`FROM read_parquet([${join(pieces.map(pathLiteral))}])`;
      await version.rows(sql`COPY (${rows}) TO ${fileLiteral(path)} (${parquetOptions}, USE_TMP_FILE false)`);
    },
  },
  arrow: {
    finish: (pieces, path, plan) =>
      convertToArrow(pieces, path, columnsNamed(exportedColumns(plan).map(({ name }) => name))),
  },
  csv: concatenation,
  ndjson: concatenation,
};
