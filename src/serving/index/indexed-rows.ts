/**
 * Which rows a version has search indexes of.
 *
 * The index of today has the listings of the published day, and the rows of the month that have ended or were sold, as far as they lie in small
 * files: it is built for each version. Each large group of files of the month has its own index, which is built once. The months that are over are
 * indexed together, up to a number of rows, with every row that holds on one of their days: one file answers for each of these days.
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
  /** The days, first and last, of which it has the rows. */
  readonly first: string;
  readonly last: string;
  /** Content hash of what the index is built from. */
  readonly source: string;
  /** The listings of the published day; undefined in all indexes but one. */
  readonly today: Inventory | undefined;
  /** The files of rows that hold on a past day. */
  readonly past: readonly LakeFile[];
  /** The files of listings that were sold. */
  readonly sold: readonly LakeFile[];
}

/** When rows have an index apart. Tests change it. */
export const indexSizes = {
  /** Files of the published month that were written together, if they have more rows than this, and than this share of today's listings. */
  tierRows: 20_000,
  tierShare: 1 / 8,
  /** The months that are over are indexed together until this many rows have ended in them. */
  historyRows: 4_000_000,
};

/** Returns what a version has indexes of, today's first. Of past days, a former format has copies and no index. */
export function indexedRows(manifest: Manifest): readonly IndexedRows[] {
  const { as_of, days, former, tables } = manifest;
  if (tables.listings.length === 0) return [];
  const published = calendarMonth(as_of);
  const months = [...Object.keys(days).map(calendarMonth), ...tables.sold.map(({ partition }) => partition ?? "")];
  const closed = [...new Set(months)].filter((month) => month < published).sort();
  const history = groupsOf(closed, manifest).map((group) => closedMonths(manifest, group));
  return [...publishedMonth(manifest, published), ...history]
    .map((rows) => (former === undefined ? rows : { ...rows, past: [] }))
    .filter((rows) => rowsIn(rows) > 0);
}

function publishedMonth(manifest: Manifest, month: string): readonly IndexedRows[] {
  const today = activeOn(manifest, manifest.as_of);
  const tiers = (["snapshots", "sold"] as const).flatMap((table) =>
    tiersOf(filesIn(manifest.tables[table], month)).map((files) => ({ table, files })),
  );
  const isSmall = ({ files }: (typeof tiers)[number]): boolean =>
    rowsOf(files) <= Math.max(indexSizes.tierRows, today.count * indexSizes.tierShare);
  const smallOf = (table: "snapshots" | "sold"): readonly LakeFile[] =>
    tiers.filter((tier) => tier.table === table && isSmall(tier)).flatMap(({ files }) => files);
  const [past, sold] = [smallOf("snapshots"), smallOf("sold")];
  const source = hashOf([manifest.as_of, ...contentsOf([...today.files, ...past, ...sold])]);
  const large = tiers.filter((tier) => !isSmall(tier));
  return [
    { ...daysIn(month, month), today, past, sold, source },
    ...large.map(({ table, files }): IndexedRows => {
      const rows = { past: [], sold: [], [table === "sold" ? "sold" : "past"]: files };
      return { ...daysIn(month, month), today: undefined, ...rows, source: hashOf([table, ...contentsOf(files)]) };
    }),
  ];
}

/** Groups months that are over, so that a month joins those before it while they have few rows. */
function groupsOf(months: readonly string[], { tables }: Manifest): readonly (readonly string[])[] {
  const groups: string[][] = [];
  let rows = indexSizes.historyRows;
  for (const month of months) {
    if (rows >= indexSizes.historyRows) {
      groups.unshift([]);
      rows = 0;
    }
    groups[0]?.push(month);
    rows += rowsOf([...filesIn(tables.snapshots, month), ...filesIn(tables.sold, month)]);
  }
  return groups;
}

/** Months that are over. What held on their last day may have ended since; what was delivered in them, and what has left, has not changed. */
function closedMonths({ tables, days }: Manifest, months: readonly string[]): IndexedRows {
  const { first, last } = daysIn(months[0] ?? "", months.at(-1) ?? "");
  const isIn = ({ partition }: LakeFile): boolean => months.includes(calendarMonth(partition ?? ""));
  const published = Object.entries(days).filter(([day]) => months.includes(calendarMonth(day)));
  const unchanging = [tables.deliveries, tables.snapshots, tables.sold, tables.missing].flat().filter(isIn);
  return {
    ...{ first, last, today: undefined, sold: tables.sold.filter(isIn) },
    past: published.length === 0 ? [] : intervalFiles({ tables }, first, last),
    source: hashOf([...published.flat().map(String), ...contentsOf(unchanging)]),
  };
}

const rowsOf = (files: readonly LakeFile[]): number => files.reduce((sum, { rows }) => sum + rows, 0);

const contentsOf = (files: readonly LakeFile[]): readonly string[] => files.map(({ sha256 }) => sha256);

const hashOf = (parts: readonly string[]): string => createHash("sha256").update(parts.join("\n")).digest("hex");

/** Returns the first day of a month and the last one of another. */
const daysIn = (from: string, to: string): Pick<IndexedRows, "first" | "last"> => ({
  first: `${from}-01`,
  last: plusDays(`${calendarMonth(plusDays(`${to}-01`, 31))}-01`, -1),
});

/** Returns the number of rows in the files of an index, which is that of its rows or more. */
export const rowsIn = ({ today, past, sold }: IndexedRows): number => (today?.count ?? 0) + rowsOf(past) + rowsOf(sold);

/** Days of the rows of an index that hold on no day: listings that were sold. */
const noDays = sql`DATE '1970-01-01'`;

/**
 * Returns the rows of an index: those of the published day by position, then the others. `valid_to` is null where a row holds on the published day,
 * at most the day after `last` where it has ended, and 1970-01-01 where a listing was sold.
 */
export function rowsToIndex({ first, last, today, past, sold }: IndexedRows, folder: string): Sql {
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
