/**
 * Writes all listings of a search to a file: the rows, columns and values of its pages, in their order.
 *
 * Memory does not grow with the rows: the matches are read once per range of the order, and each range is sorted and written on its own.
 * Reading a million listings takes a second; sorting them all at once needs gigabytes.
 */
import { createReadStream, createWriteStream } from "node:fs";
import { appendFile, rename, rm, stat } from "node:fs/promises";
import { join as joinPath } from "node:path";
import { pipeline } from "node:stream/promises";
import { integerIn } from "../base/json.ts";
import type { Column, TableMetadata } from "../contract/tables.ts";
import { fileLiteral, join, pathLiteral, type Sql, sql } from "../db/sql.ts";
import { parquetOptions } from "../formats/engine-formats.ts";
import { jsonItemsOf } from "../formats/json-items.ts";
import type { FormatName } from "../formats/table-formats.ts";
import { type UnmatchedMeta, unmatchedIn } from "../query/unmatched.ts";
import type { LakeVersion } from "../serving/lake-version.ts";
import { convertToArrow } from "./arrow-file.ts";
import { type ExportedColumn, exportedColumns, selectStatement } from "./columns.ts";
import { sortedRowsMax } from "./limits.ts";
import { type ExportPart, type ExportQuery, partsOf } from "./parts.ts";
import { type PiecePlace, type PieceStyle, pieceFormats, selectAs } from "./pieces.ts";
import { metadataOf } from "./small-export.ts";
import { sortRangesOf } from "./sort-ranges.ts";

export interface WrittenExport extends UnmatchedMeta {
  readonly path: string;
  readonly rows: number;
  readonly bytes: number;
}

export interface WriteOptions {
  readonly format: FormatName;
  /** A folder for the file and its pieces, which the version can write to. */
  readonly folder: string;
  /** Called with the number of rows that are written or being written, before each range of them. */
  readonly onBegin?: (rows: number) => void;
  /** Called with the number of rows written and of all rows. */
  readonly onProgress?: (rows: number, total: number) => void;
  /** The most rows that are sorted at once. */
  readonly rangeRows?: number;
}

export async function writeExport(
  query: ExportQuery,
  version: LakeVersion,
  { format, folder, onBegin, onProgress, rangeRows = sortedRowsMax }: WriteOptions,
): Promise<WrittenExport> {
  const parts = partsOf(query, version);
  const unmatched = await unmatchedIn(query, version);
  const path = joinPath(folder, "export");
  const ordered: OrderedPart[] = [];
  for (const part of parts) ordered.push({ ...part, ...(await sortRangesOf(part.plan, rangeRows)) });
  const total = ordered.reduce((sum, part) => sum + part.total, 0);
  const count = ordered.reduce((sum, { ranges }) => sum + ranges.length, 0);
  const [first] = parts;
  const columns = first === undefined ? [] : columnsOfPart(first).map(({ column }) => column);
  const file = { path, columns, version, metadata: metadataOf({ ...version.meta, ...unmatched }) };
  const { add, finish } = assemblers[format];
  const pieces: string[] = [];
  let rows = 0;
  for (const part of ordered) {
    const writePiece = await pieceWriter({ format, isRaw: query.csv_raw === true }, part, file);
    for (const range of part.ranges) {
      const piece = `${path}.${pieces.length}`;
      onBegin?.(Math.min(total, rows + Math.min(rangeRows, part.total)));
      rows += await writePiece(range, piece, { isFirst: pieces.length === 0, isOnly: count === 1 });
      await add?.(piece, path);
      pieces.push(piece);
      onProgress?.(rows, total);
    }
  }
  await finish?.(pieces, file);
  await Promise.all(pieces.map((piece) => rm(piece, { force: true })));
  const { size: bytes } = await stat(path);
  return { path, rows, bytes, ...unmatched };
}

/** A part with its number of rows, and the ranges of its order. */
interface OrderedPart extends ExportPart {
  readonly total: number;
  readonly ranges: readonly Sql[];
}

const columnsOfPart = ({ plan, fields, days }: ExportPart): readonly ExportedColumn[] => [
  ...days,
  ...exportedColumns(plan, fields),
];

interface ExportFile {
  readonly path: string;
  readonly columns: readonly Column[];
  readonly version: LakeVersion;
  readonly metadata: TableMetadata;
}

/** Returns a function that writes the matches of a range of a part to a piece and returns their number. */
async function pieceWriter(
  style: PieceStyle,
  part: ExportPart,
  { version, metadata }: ExportFile,
): Promise<(range: Sql, path: string, place: PiecePlace) => Promise<number>> {
  const { plan } = part;
  const columns = columnsOfPart(part);
  const select = await selectStatement(columns, selectAs(style, columns), plan, version);
  return async (range, path, place) => {
    const [row] = await plan.mode.listings.runOverMatches(
      plan,
      (matches, listingsOf) => sql`
        COPY (${select(listingsOf(sql`SELECT * FROM (${matches}) WHERE ${range}`))})
        TO ${fileLiteral(path)} (${pieceFormats[style.format].options(place, metadata)}, USE_TMP_FILE false)`,
    );
    return integerIn({ rows: Number(row?.Count) }, "rows");
  };
}

/** Assembles the pieces of a format to one file. Each piece is added when it is written; `finish` is called after the last one. */
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

const sizeOf = async (path: string): Promise<number> => (await stat(path).catch(() => ({ size: 0 }))).size;

/** Appends the lines of pieces as items of a JSON array. */
const jsonArray: Assembler = {
  add: async (piece, path) => {
    const isFirst = (await sizeOf(path)) === 0;
    const asItems = (lines: AsyncIterable<Buffer>): AsyncIterable<Buffer> =>
      jsonItemsOf(lines, isFirst ? "[\n" : ",\n", ",\n");
    await pipeline(createReadStream(piece), asItems, createWriteStream(path, { flags: "a" }));
    await rm(piece);
  },
  finish: async (_, { path }) => appendFile(path, (await sizeOf(path)) === 0 ? "[]\n" : "\n]\n"),
};

const assemblers: Readonly<Record<FormatName, Assembler>> = {
  parquet: {
    finish: async (pieces, { path, version, metadata }) => {
      const [only = "", ...others] = pieces;
      if (others.length === 0) return rename(only, path);
      const rows = sql`FROM read_parquet([${join(pieces.map(pathLiteral))}])`;
      await version.rows(sql`COPY (${rows}) TO ${fileLiteral(path)} (${parquetOptions(metadata)}, USE_TMP_FILE false)`);
    },
  },
  arrow: {
    finish: (pieces, { path, columns, metadata }) => convertToArrow(pieces, { path, columns, metadata }),
  },
  csv: concatenation,
  ndjson: concatenation,
  json: jsonArray,
};
