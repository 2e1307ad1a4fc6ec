/**
 * The rows of each search index of a version.
 *
 * The index of today has the listings of the published day, those that are missing, and the rows of the month that have ended or left and lie in
 * small files: it is built for each version. Each large group of files of the month has its own index, which is built once. The months that are
 * over are indexed together, up to a number of rows, with every row that holds on one of their days: one file answers for each of these days.
 */
import { calendarMonth, lastDayIn, plusDays } from "../../base/day.ts";
import { ident, integerLiteral, join, literal, type Sql, sql } from "../../db/sql.ts";
import { rowsOfFiles } from "../../lake/derived-relations.ts";
import { hashOfFiles } from "../../lake/listed-file.ts";
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
import { listingColumns, openPartition } from "../../lake/tables.ts";
import { tiersOf } from "../../lake/writer/table-files.ts";
import { gone, type IndexInput } from "./build.ts";

export interface IndexedRows {
  /** The first and last day whose rows it has. */
  readonly first: string;
  readonly last: string;
  /** Content hash of the index's input. */
  readonly source: string;
  /** The listings of the published day, with their valuations; undefined in all indexes but one. */
  readonly today: Inventory | undefined;
  /** The files of `price_effects` of that day. */
  readonly effects: readonly LakeFile[];
  /** The files of rows that hold on a past day. */
  readonly past: readonly LakeFile[];
  readonly sold: readonly LakeFile[];
  /** The files of listings that are missing, or ended without a sale. */
  readonly absent: readonly LakeFile[];
}

/** When rows have a separate index. Tests change it. */
export const indexSizes = {
  /** Files of the published month that were written together, if they have more rows than this, and than this share of today's listings. */
  tierRows: 20_000,
  tierShare: 1 / 8,
  /** The months that are over are indexed together until this many rows have ended in them. */
  historyRows: 4_000_000,
};

/** Returns the rows of each index of a version, today's first. */
export function indexedRows(manifest: Manifest): readonly IndexedRows[] {
  const { as_of, days, tables } = manifest;
  const published = calendarMonth(as_of);
  const left = [...tables.sold, ...tables.absent].map(({ partition }) => partition ?? "");
  const months = [...Object.keys(days).map(calendarMonth), ...left];
  const closed = [...new Set(months)].filter((month) => month < published).sort();
  const endedIn = (month: string): number =>
    rowsOf([...filesIn(tables.past_listings, month), ...filesIn(tables.sold, month), ...filesIn(tables.absent, month)]);
  const history = groupsOf(closed, endedIn).map((group) => closedMonths(manifest, group));
  return [...publishedMonth(manifest, published), ...history].filter((rows) => rowsIn(rows) > 0);
}

function publishedMonth(manifest: Manifest, month: string): readonly IndexedRows[] {
  const today = activeOn(manifest, manifest.as_of);
  const tiers = (["past_listings", "sold"] as const).flatMap((table) =>
    tiersOf(filesIn(manifest.tables[table], month)).map((files) => ({ table, files })),
  );
  const isSmall = ({ files }: (typeof tiers)[number]): boolean =>
    rowsOf(files) <= Math.max(indexSizes.tierRows, today.count * indexSizes.tierShare);
  const smallOf = (table: "past_listings" | "sold"): readonly LakeFile[] =>
    tiers.filter((tier) => tier.table === table && isSmall(tier)).flatMap(({ files }) => files);
  const past = smallOf("past_listings");
  const sold = smallOf("sold");
  const absent = [openPartition, month].flatMap((partition) => filesIn(manifest.tables.absent, partition));
  const effects = manifest.tables.price_effects;
  const files = [...today.files, ...past, ...sold, ...absent, ...today.valuations, ...effects];
  const source = hashOfFiles(files, [manifest.as_of]);
  const large = tiers.filter((tier) => !isSmall(tier));
  return [
    { ...daysIn(month, month), today, effects, past, sold, absent, source },
    ...large.map(({ table, files }): IndexedRows => {
      const rows = { past: [], sold: [], absent: [], [table === "sold" ? "sold" : "past"]: files };
      return { ...daysIn(month, month), ...notToday, ...rows, source: hashOfFiles(files, [table]) };
    }),
  ];
}

/** Groups partitions in order, so that one joins those before it while they have few rows. */
function groupsOf(
  partitions: readonly string[],
  rowsIn: (partition: string) => number,
): readonly (readonly string[])[] {
  const groups: string[][] = [];
  let rows = indexSizes.historyRows;
  for (const partition of partitions) {
    if (rows >= indexSizes.historyRows) {
      groups.unshift([]);
      rows = 0;
    }
    groups[0]?.push(partition);
    rows += rowsIn(partition);
  }
  return groups;
}

/** Months that are over. Rows that held on their last day may have ended since; their feeds and departed listings have not changed. */
function closedMonths({ tables, days }: Manifest, months: readonly string[]): IndexedRows {
  const { first, last } = daysIn(months[0] ?? "", months.at(-1) ?? "");
  const isIn = ({ partition }: LakeFile): boolean => months.includes(calendarMonth(partition ?? ""));
  const published = Object.entries(days).filter(([day]) => months.includes(calendarMonth(day)));
  const unchanging = [tables.feeds, tables.past_listings, tables.sold, tables.absent].flat().filter(isIn);
  return {
    first,
    last,
    ...notToday,
    sold: tables.sold.filter(isIn),
    absent: tables.absent.filter(isIn),
    past: published.length === 0 ? [] : intervalFiles({ tables }, first),
    source: hashOfFiles(unchanging, published.flat().map(String)),
  };
}

const rowsOf = (files: readonly LakeFile[]): number => files.reduce((sum, { rows }) => sum + rows, 0);

const notToday = { today: undefined, effects: [] } as const;

/** Returns the first day of a month and the last one of another. */
const daysIn = (from: string, to: string): Pick<IndexedRows, "first" | "last"> => ({
  first: `${from}-01`,
  last: lastDayIn(to),
});

/** Returns the number of rows in the files of an index, which is that of its rows or more. */
export const rowsIn = ({ today, past, sold, absent }: IndexedRows): number =>
  (today?.count ?? 0) + rowsOf([...past, ...sold, ...absent]);

/** Returns whether an index has rows that hold on a past day. */
export const hasDay = ({ first, last, today, past }: IndexedRows, day: string): boolean =>
  first <= day && day <= last && (today !== undefined || past.length > 0);

export const filesToIndex = ({ today, effects, past, sold, absent }: IndexedRows): readonly LakeFile[] => [
  ...(today?.files ?? []),
  ...(today?.valuations ?? []),
  ...effects,
  ...past,
  ...sold,
  ...absent,
];

/**
 * Returns the rows of an index: those of the published day with their positions, and the others. `valid_to` is null where a row holds on the published
 * day, at most the day after `last` where it has ended, and a day of `gone` where a listing has left.
 */
export function rowsToIndex(rows: IndexedRows, folder: string): IndexInput {
  const { today, effects } = rows;
  const listings = listingsToIndex(rows, folder);
  if (today === undefined) return { listings };
  const valuations = rowsOfFiles("valuations", today.valuations, folder);
  return { listings, market: { valuations, effects: rowsOfFiles("price_effects", effects, folder) } };
}

/** Rows that are not of the published day. */
const unpositioned = sql`NULL::BIGINT AS row_number`;

function listingsToIndex({ first, last, today, past, ...left }: IndexedRows, folder: string): Sql {
  const names = Object.keys(listingColumns).map((column) => ident(column));
  const ended = sql`least(coalesce(valid_to, DATE 'infinity'), DATE ${literal(plusDays(last, 1))})`;
  const others = [
    ...(past.length === 0
      ? []
      : [
          sql`SELECT ${join(names)}, valid_from, ${ended} AS valid_to, ${unpositioned} FROM (${intervalRows(past, folder, first, last)})`,
        ]),
    ...(["sold", "absent"] as const).flatMap((state) => {
      if (left[state].length === 0) return [];
      const day = sql`DATE '1970-01-01' + ${integerLiteral(gone[state])}`;
      const days = [sql`${day} AS valid_from`, sql`${day} AS valid_to`, unpositioned];
      return [unorderedListings(goneIn(left[state]), { folder, hasFeeds: false }, days)];
    }),
  ];
  const ofToday =
    today === undefined
      ? []
      : [positionedListings(today, { folder, hasFeeds: false }, [sql`valid_from`, sql`NULL::DATE AS valid_to`])];
  return join([...others, ...ofToday], sql` UNION ALL BY NAME `);
}
