/**
 * The market: the listings of a day, or of those that have left, as relations with the columns of a listing (`listingColumns`).
 *
 * A day's active listings are the rows of `listings` and `past_listings` whose interval contains it. What counts days follows from the day, from
 * `listed_at`, and from the dealer's feeds up to the day.
 */
import { calendarMonth, plusDays } from "../base/day.ts";
import { columnType, ident, integerLiteral, join, literal, type Sql, sql } from "../db/sql.ts";
import type { DerivedName } from "../listing/schema.ts";
import { derivedColumns, rowsOfFiles } from "./derived-relations.ts";
import type { LakeFile, Manifest } from "./manifest.ts";
import { listingColumns, openPartition, type TableName, tableOf, valuedColumns } from "./tables.ts";

/** Listings of one state: the files that hold them, in order. */
export interface Inventory {
  readonly files: readonly LakeFile[];
  readonly count: number;
  /** The day whose active listings these are; undefined for listings that have left. */
  readonly day?: string;
  /** The first and last day of a range in which the rows hold: these are intervals, not listings of a day. */
  readonly between?: readonly [first: string, last: string];
  /** Whether every row of the files is one of the listings. */
  readonly isWhole: boolean;
  /** The feeds of the dealers up to the day. */
  readonly feeds: readonly LakeFile[];
  /** The valuations of the listings; none but those of the published day have some. */
  readonly valuations: readonly LakeFile[];
}

/**
 * How to read an inventory: from `folder`, and either with the columns that follow from feeds, or with the values of those columns in its
 * rows.
 */
export interface ReadOptions {
  readonly folder: string;
  readonly hasFeeds: boolean;
}

export function activeOn(manifest: Pick<Manifest, "tables" | "days" | "as_of">, day: string): Inventory {
  const { tables, days, as_of } = manifest;
  const isWhole = day === as_of;
  return {
    files: isWhole ? tables.listings : intervalFiles(manifest, day),
    count: days[day] ?? 0,
    day,
    isWhole,
    feeds: filesOfDay(tables.feeds, day),
    valuations: isWhole ? tables.valuations : [],
  };
}

/** Returns the intervals that hold on a day from `first` to `last`. Their number is not known: `count` is that of the rows in the files. */
export function intervalsBetween(manifest: Pick<Manifest, "tables">, first: string, last: string): Inventory {
  const files = intervalFiles(manifest, first);
  const count = files.reduce((sum, { rows }) => sum + rows, 0);
  return { files, count, between: [first, last], isWhole: false, feeds: [], valuations: [] };
}

/** Returns the listings of some files of `absent` or `sold`. */
export function goneIn(files: readonly LakeFile[]): Inventory {
  return {
    files,
    count: files.reduce((sum, { rows }) => sum + rows, 0),
    isWhole: true,
    feeds: [],
    valuations: [],
  };
}

/** Returns the listings that are missing on the published day. */
export const missingIn = ({ tables }: Pick<Manifest, "tables">): Inventory =>
  goneIn(filesIn(tables.absent, openPartition));

/** Returns the claims of the published day that did not win, as listings without an id. */
export const contendersIn = ({ tables, as_of }: Pick<Manifest, "tables" | "as_of">): Inventory => ({
  ...goneIn(filesIn(tables.contenders, openPartition)),
  day: as_of,
  feeds: filesOfDay(tables.feeds, as_of),
});

export const filesIn = (files: readonly LakeFile[], partition: string): readonly LakeFile[] =>
  files.filter((file) => file.partition === partition);

/** Returns the files of `feeds` or `rejects` that can have rows of a day. */
export const filesOfDay = (files: readonly LakeFile[], day: string): readonly LakeFile[] =>
  filesIn(files, calendarMonth(day)).filter(({ min, max }) => day >= (min ?? "") && day <= (max ?? day));

export const rowsOfDay = (table: "feeds" | "rejects", files: readonly LakeFile[], folder: string, day: string): Sql =>
  sql`SELECT * FROM (${rowsOfFiles(table, filesOfDay(files, day), folder)}) WHERE delivery_date = DATE ${literal(day)}`;

/** A condition on `valid_from` and `valid_to`: the row holds on a day. */
export const holdsOn = (day: Sql): Sql => sql`(valid_from <= ${day} AND (valid_to IS NULL OR valid_to > ${day}))`;

/** Returns all listings without positions, followed by extra columns. */
export function unorderedListings(inventory: Inventory, options: ReadOptions, extra: readonly Sql[] = []): Sql {
  const table = tableOfFiles(inventory);
  return asListings(inventory, rowsOfFiles(table, inventory.files, options.folder), options, extra);
}

/**
 * Returns all listings with `row_number`, the position of each, and extra columns. A position is the number of the row in all files, from 0.
 * The positions of a day's listings follow the partition's sort order, which breaks ties in every other sort.
 */
export function positionedListings(inventory: Inventory, options: ReadOptions, extra: readonly Sql[] = []): Sql {
  const rows = unionOfFiles(inventory, options.folder);
  return asListings(inventory, rows, options, [sql`row_number`, ...extra]);
}

/**
 * Returns the listings that a relation of matches identifies, with their `sort_key`: those of the published day by `row_number`, intervals by `id` and
 * `valid_from`, others by `id`.
 */
export function listingsOfMatches(inventory: Inventory, folder: string, matches: Sql): Sql {
  const { day, between, isWhole } = inventory;
  const options = { folder, hasFeeds: day !== undefined };
  const isPositioned = day !== undefined && isWhole;
  const listings = isPositioned ? positionedListings(inventory, options) : unorderedListings(inventory, options);
  const key = isPositioned ? sql`row_number` : between === undefined ? sql`id` : sql`id, valid_from`;
  return sql`SELECT listings.*, sort_key FROM (${listings}) AS listings JOIN (${matches}) AS matches USING (${key})`;
}

/** Returns rows of an inventory's files as listings, followed by extra columns. */
function asListings(
  inventory: Inventory,
  rows: Sql,
  { folder, hasFeeds }: ReadOptions,
  extra: readonly Sql[] = [],
): Sql {
  const { day, between, isWhole, feeds, valuations } = inventory;
  if (between !== undefined) return heldBetween(rows, between, extra);
  if (day === undefined) return sql`SELECT ${join([...goneColumns, ...extra])} FROM (${rows})`;
  const today = sql`DATE ${literal(day)}`;
  const where = isWhole ? sql`` : sql`WHERE ${holdsOn(today)}`;
  const joins = [
    ...(hasFeeds ? [sql`LEFT JOIN (${delivered(feeds, folder, day)}) AS delivered USING (dealer_key)`] : []),
    ...(valuations.length > 0 ? [sql`LEFT JOIN (${valuesIn(valuations, folder)}) AS valued USING (id)`] : []),
  ];
  const columns = activeColumns(today, hasFeeds, valuations.length > 0);
  return sql`SELECT ${join([...columns, ...extra])} FROM (${rows}) ${join(joins, sql` `)} ${where}`;
}

/** The columns of listings in files of `valuations`, with the id of each listing. */
const valuesIn = (files: readonly LakeFile[], folder: string): Sql =>
  sql`SELECT id, ${join(Object.keys(valuedColumns).map((column) => ident(column)))} FROM (${rowsOfFiles("valuations", files, folder)})`;

/** The values of listings that follow from the feeds of a day. */
const delivered = (files: readonly LakeFile[], folder: string, day: string): Sql =>
  sql`SELECT dealer_key, feeds, last_delivered_on, last_delivered_at FROM (${rowsOfDay("feeds", files, folder, day)})
      WHERE dealer_key IS NOT NULL`;

/** The columns of a listing that is no longer active. */
export const goneColumns = Object.entries(listingColumns).map(([column, type]) => {
  const value = column in valuedColumns ? sql`NULL` : derivedColumns[column as DerivedName];
  return value === undefined ? ident(column) : sql`(${value})::${columnType(type)} AS ${ident(column)}`;
});

/** The days on market on a day; null without a day, and for a claim that is not listed. */
export const daysOnMarket = (day: Sql): Sql =>
  sql`CASE WHEN ${day} < listed_at::DATE THEN 0 ELSE ${day} - listed_at::DATE END`;

/** The columns of an active listing on a day, over rows of intervals and perhaps `delivered` and `valued`. */
export function activeColumns(day: Sql, hasFeeds: boolean, hasValues = false): readonly Sql[] {
  const computed: Readonly<Record<string, Sql>> = {
    ...derivedColumns,
    days_on_market: daysOnMarket(day),
    days_seen: sql`-unseen_feeds`,
    ...(hasFeeds
      ? {
          days_seen: sql`coalesce(delivered.feeds, 0) - unseen_feeds`,
          last_seen: sql`coalesce(last_seen, last_delivered_on)`,
          last_checked_at: sql`coalesce(last_checked_at, last_delivered_at)`,
        }
      : {}),
    ...(hasValues
      ? Object.fromEntries(Object.keys(valuedColumns).map((column) => [column, ident("valued", column)]))
      : {}),
  };
  const { columns } = tableOf("listings");
  return Object.entries(listingColumns).map(([column, type]) => {
    const value = computed[column];
    if (value !== undefined) return sql`(${value})::${columnType(type)} AS ${ident(column)}`;
    return column in columns ? ident(column) : sql`NULL::${columnType(type)} AS ${ident(column)}`;
  });
}

/** The table whose columns the files have: `listings` and `past_listings` have the same, and so have `absent` and `sold`. */
const tableOfFiles = ({ day, between }: Inventory): TableName =>
  day === undefined && between === undefined ? "sold" : "listings";

/**
 * Returns the union of the relations that `select` returns for each file; undefined skips a file. `start` is the position of the file's
 * first row.
 */
function unionOfFiles(inventory: Inventory, folder: string): Sql {
  const table = tableOfFiles(inventory);
  let nextStart = 0;
  const relations = inventory.files.map((file) => {
    const start = nextStart;
    nextStart += file.rows;
    return sql`SELECT * EXCLUDE (file_row_number), file_row_number + ${integerLiteral(start)} AS row_number
      FROM (${rowsOfFiles(table, [file], folder, "file_row_number")})`;
  });
  if (relations.length === 0) return sql`SELECT *, NULL::BIGINT AS row_number FROM (${rowsOfFiles(table, [], folder)})`;
  return join(relations, sql` UNION ALL BY NAME `);
}

/**
 * Returns the rows of a file with `row_number` and the days from which and up to which each holds. Columns that count days are null, and so is
 * `last_checked_at` if it follows from the dealer's last feed. `values` is a relation of their values by `row_number`, if they have some.
 */
export function storedRows(table: "listings" | "sold", file: LakeFile, folder: string, values?: Sql): Sql {
  const columns =
    table === "listings"
      ? [...activeColumns(sql`NULL::DATE`, false, values !== undefined), sql`valid_from`, sql`valid_to`]
      : [...goneColumns, sql`NULL::DATE AS valid_from`, sql`NULL::DATE AS valid_to`];
  const rows = sql`SELECT * RENAME (file_row_number AS row_number) FROM (${rowsOfFiles(table, [file], folder, "file_row_number")})`;
  const joined = values === undefined ? sql`` : sql`LEFT JOIN ${values} AS valued USING (row_number)`;
  return sql`SELECT ${join(columns)}, row_number FROM (${rows}) ${joined}`;
}

/** Returns the values of the listings in a file, by `row_number`. */
export const valuesOfFile = (file: LakeFile, valuations: readonly LakeFile[], folder: string): Sql => sql`
  SELECT file_row_number AS row_number, valued.* EXCLUDE (id)
  FROM (${rowsOfFiles("listings", [file], folder, "file_row_number")}) JOIN (${valuesIn(valuations, folder)}) AS valued USING (id)
  ORDER BY row_number`;

/** Returns the files whose rows can hold on a day or later: all that still hold, and the months in which others ended since. */
export const intervalFiles = ({ tables }: Pick<Manifest, "tables">, day: string): readonly LakeFile[] => [
  ...tables.listings,
  ...tables.past_listings.filter(({ partition }) => (partition ?? "") >= calendarMonth(plusDays(day, 1))),
];

/** Returns the rows of files that hold on a day from `first` to `last`, with `valid_from` and `valid_to`. Columns that count days are null. */
export const intervalRows = (files: readonly LakeFile[], folder: string, first: string, last: string): Sql =>
  heldBetween(rowsOfFiles("listings", files, folder), [first, last], []);

function heldBetween(rows: Sql, [first, last]: readonly [string, string], extra: readonly Sql[]): Sql {
  const columns = [...activeColumns(sql`NULL::DATE`, false), sql`valid_from`, sql`valid_to`, ...extra];
  return sql`SELECT ${join(columns)} FROM (${rows})
    WHERE valid_from <= DATE ${literal(last)} AND (valid_to IS NULL OR valid_to > DATE ${literal(first)})`;
}
