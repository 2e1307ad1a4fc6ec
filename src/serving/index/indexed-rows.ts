/**
 * Which rows a version has search indexes of.
 *
 * The index of today has the listings of the published day, and the rows of the month that have ended or were sold, as far as they lie in small
 * files: it is built for each version. Each large group of files of the month has its own index, which is built once. The index of an earlier month
 * has every row that holds on a day of it, and what was sold in it: one file answers for each of its days, and never changes.
 */
import { createHash } from "node:crypto";
import { calendarMonth, plusDays } from "../../base/day.ts";
import { ident, integerLiteral, join, literal, type Sql, sql } from "../../db/sql.ts";
import type { LakeFile, Manifest } from "../../lake/manifest.ts";
import {
  activeOn,
  filesIn,
  goneIn,
  type Inventory,
  intervalFiles,
  intervalRows,
  positionedListings,
  unorderedListings,
} from "../../lake/market.ts";
import { listingColumns } from "../../lake/tables.ts";
import { tiersOf } from "../../lake/writer/compaction.ts";

export interface IndexedRows {
  /** As YYYY-MM. */
  readonly month: string;
  /** Content hash of what the index is built from. */
  readonly source: string;
  /** The listings of the published day; undefined in all indexes but one. */
  readonly today: Inventory | undefined;
  /** The files of rows that hold on a past day of the month. */
  readonly past: readonly LakeFile[];
  /** The files of listings that were sold in the month. */
  readonly sold: readonly LakeFile[];
}

/** A group of files of the published month has its own index if it has more rows than this, and than this share of today's listings. */
const small = { rows: 1_000, share: 1 / 8 } as const;

/** Returns what a version has indexes of, today's first. Of past days, a former format has copies and no index. */
export function indexedRows(manifest: Manifest): readonly IndexedRows[] {
  const { as_of, days, former, tables } = manifest;
  if (tables.listings.length === 0) return [];
  const published = calendarMonth(as_of);
  const months = [...Object.keys(days).map(calendarMonth), ...tables.sold.map(({ partition }) => partition ?? "")];
  const earlier = [...new Set(months)]
    .filter((month) => month < published)
    .sort()
    .reverse();
  return [...publishedMonth(manifest, published), ...earlier.map((month) => earlierMonth(manifest, month))]
    .map((rows) => (former === undefined ? rows : { ...rows, past: [] }))
    .filter((rows) => rowsIn(rows) > 0);
}

function publishedMonth(manifest: Manifest, month: string): readonly IndexedRows[] {
  const today = activeOn(manifest, manifest.as_of);
  const groupsOf = (table: "snapshots" | "sold") =>
    tiersOf(filesIn(manifest.tables[table], month)).map((files) => ({ table, files }));
  const groups = [...groupsOf("snapshots"), ...groupsOf("sold")];
  const isSmall = ({ files }: (typeof groups)[number]): boolean =>
    rowsOf(files) <= Math.max(small.rows, today.count * small.share);
  const smallOf = (table: "snapshots" | "sold"): readonly LakeFile[] =>
    groups.filter((group) => group.table === table && isSmall(group)).flatMap(({ files }) => files);
  const [past, sold] = [smallOf("snapshots"), smallOf("sold")];
  return [
    { month, today, past, sold, source: hashOf([manifest.as_of, ...contentsOf([...today.files, ...past, ...sold])]) },
    ...groups
      .filter((group) => !isSmall(group))
      .map(({ table, files }): IndexedRows => {
        const rows = { past: [], sold: [], [table === "sold" ? "sold" : "past"]: files };
        return { month, today: undefined, ...rows, source: hashOf([table, ...contentsOf(files)]) };
      }),
  ];
}

/** An earlier month. What held on its last day may have ended since; what its days delivered, and what has left in it, has not changed. */
function earlierMonth({ tables, days }: Manifest, month: string): IndexedRows {
  const { first, last } = daysIn(month);
  const ofMonth = Object.entries(days).filter(([day]) => calendarMonth(day) === month);
  const delivered = tables.deliveries.filter(({ partition }) => calendarMonth(partition ?? "") === month);
  const left = [tables.snapshots, tables.sold, tables.missing].flatMap((files) => filesIn(files, month));
  return {
    ...{ month, today: undefined, past: ofMonth.length === 0 ? [] : intervalFiles({ tables }, first, last) },
    sold: filesIn(tables.sold, month),
    source: hashOf([...ofMonth.flat().map(String), ...contentsOf([...delivered, ...left])]),
  };
}

const rowsOf = (files: readonly LakeFile[]): number => files.reduce((sum, { rows }) => sum + rows, 0);

const contentsOf = (files: readonly LakeFile[]): readonly string[] => files.map(({ sha256 }) => sha256);

const hashOf = (parts: readonly string[]): string => createHash("sha256").update(parts.join("\n")).digest("hex");

/** Returns the first and the last day of a month. */
export function daysIn(month: string): { readonly first: string; readonly last: string } {
  const first = `${month}-01`;
  return { first, last: plusDays(`${calendarMonth(plusDays(first, 31))}-01`, -1) };
}

/** Returns the number of rows in the files of an index, which is that of its rows or more. */
export const rowsIn = ({ today, past, sold }: IndexedRows): number => (today?.count ?? 0) + rowsOf(past) + rowsOf(sold);

/** Days of the rows of an index that hold on no day: listings that were sold. */
const noDays = sql`DATE '1970-01-01'`;

/**
 * Returns the rows of an index: those of the published day by position, then the others. `valid_to` is null where a row holds on the published day,
 * at most the day after the month where it has ended, and 1970-01-01 where a listing was sold.
 */
export function rowsToIndex({ month, today, past, sold }: IndexedRows, folder: string): Sql {
  const { first, last } = daysIn(month);
  const names = Object.keys(listingColumns).map((column) => ident(column));
  const ended = sql`least(coalesce(valid_to, DATE 'infinity'), DATE ${literal(plusDays(last, 1))})`;
  const others = [
    ...(past.length === 0
      ? []
      : [
          sql`SELECT ${join(names)}, valid_from, ${ended} AS valid_to FROM (${intervalRows(past, folder, first, last)})`,
        ]),
    ...(sold.length === 0
      ? []
      : [
          sql`${unorderedListings(goneIn(sold), { folder, hasDeliveries: false }, [sql`${noDays} AS valid_from`, sql`${noDays} AS valid_to`])}`,
        ]),
  ];
  const selects = [
    ...(today === undefined
      ? []
      : [positionedListings(today, { folder, hasDeliveries: false }, [sql`valid_from`, sql`NULL::DATE AS valid_to`])]),
    ...(others.length === 0
      ? []
      : [
          sql`
      SELECT ${integerLiteral(today?.count ?? 0)} + row_number() OVER (ORDER BY make, model, year, id, valid_from) - 1 AS row_number, *
      FROM   (${join(others, sql` UNION ALL `)})`,
        ]),
  ];
  return join(selects, sql` UNION ALL BY NAME `);
}
