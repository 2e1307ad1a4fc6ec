/**
 * The months that a version has search indexes of. Each has the rows that hold on a day of its month, so that one file answers for every day of
 * it. The index of the published month begins with the listings of the published day; that of an earlier month never changes.
 */
import { createHash } from "node:crypto";
import { calendarMonth, plusDays } from "../../base/day.ts";
import { ident, integerLiteral, join, literal, type Sql, sql } from "../../db/sql.ts";
import type { LakeFile, Manifest } from "../../lake/manifest.ts";
import {
  activeOn,
  filesIn,
  type Inventory,
  intervalFiles,
  intervalRows,
  positionedListings,
} from "../../lake/market.ts";
import { listingColumns } from "../../lake/tables.ts";

export interface IndexedMonth {
  /** As YYYY-MM. */
  readonly month: string;
  /** Content hash of what the index is built from. */
  readonly source: string;
  /** The listings of the published day; undefined in earlier months. */
  readonly today: Inventory | undefined;
  /** The files of other rows that hold on a day from `first` to `last`. */
  readonly files: readonly LakeFile[];
  readonly first: string;
  readonly last: string;
}

/** Returns the months of a version's days, the published one first. Of past days, a former format has copies and no index. */
export function indexedMonths(manifest: Manifest): readonly IndexedMonth[] {
  const { as_of, days, former, tables } = manifest;
  if (tables.listings.length === 0) return [];
  const published = calendarMonth(as_of);
  const earlier = [...new Set(Object.keys(days).map(calendarMonth))].filter((month) => month < published).reverse();
  const files = former === undefined ? filesIn(tables.snapshots, published) : [];
  const today = activeOn(manifest, as_of);
  return [
    {
      month: published,
      source: hashOf([as_of, ...contentsOf([...today.files, ...files])]),
      today,
      files,
      ...daysOf(published),
    },
    ...(former === undefined ? earlier : []).map((month) => earlierMonth(manifest, month)),
  ];
}

/** An earlier month. What held on its last day may have ended since; what its days delivered, and what has ended in it, has not changed. */
function earlierMonth({ tables, days }: Manifest, month: string): IndexedMonth {
  const { first, last } = daysOf(month);
  const ofMonth = Object.entries(days).filter(([day]) => calendarMonth(day) === month);
  const delivered = tables.deliveries.filter(({ partition }) => calendarMonth(partition ?? "") === month);
  const left = [tables.snapshots, tables.sold, tables.missing].flatMap((files) => filesIn(files, month));
  return {
    ...{ month, today: undefined, files: intervalFiles({ tables }, first, last), first, last },
    source: hashOf([...ofMonth.flat().map(String), ...contentsOf([...delivered, ...left])]),
  };
}

const contentsOf = (files: readonly LakeFile[]): readonly string[] => files.map(({ sha256 }) => sha256);

const hashOf = (parts: readonly string[]): string => createHash("sha256").update(parts.join("\n")).digest("hex");

/** Returns the first and the last day of a month. */
function daysOf(month: string): { readonly first: string; readonly last: string } {
  const first = `${month}-01`;
  return { first, last: plusDays(`${calendarMonth(plusDays(first, 31))}-01`, -1) };
}

/** Returns the number of rows in the files of a month, which is that of its index or more. */
export const rowsIn = ({ today, files }: IndexedMonth): number =>
  files.reduce((sum, { rows }) => sum + rows, today?.count ?? 0);

/** Returns the rows of a month: those of the published day by position, then the others. `valid_to` is null where a row holds on the published day. */
export function rowsOfMonth({ today, files, first, last }: IndexedMonth, folder: string): Sql {
  const columns = join([...Object.keys(listingColumns), "valid_from", "row_number"].map((column) => ident(column)));
  const others = sql`
    SELECT * EXCLUDE (valid_to), ${integerLiteral(today?.count ?? 0)} + row_number() OVER (ORDER BY make, model, year, id, valid_from) - 1 AS row_number,
           least(coalesce(valid_to, DATE 'infinity'), DATE ${literal(plusDays(last, 1))}) AS valid_to
    FROM   (${intervalRows(files, folder, first, last)})`;
  const selected = sql`SELECT ${columns}, valid_to FROM (${others})`;
  if (today === undefined) return selected;
  const listings = positionedListings(today, { folder, hasDeliveries: false }, [sql`valid_from`]);
  const active = sql`SELECT ${columns}, NULL::DATE AS valid_to FROM (${listings})`;
  return files.length === 0 ? active : sql`${active} UNION ALL ${selected}`;
}
