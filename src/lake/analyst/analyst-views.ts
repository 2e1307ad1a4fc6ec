/**
 * Views of a version for analysts. Those named by a plural noun hold the published day (`active`, `missing`, `contenders`); the same with `_days`
 * hold every day; `listing_intervals` holds the rows of the files.
 */
import { ident, integerLiteral, join, literal, type Sql, sql } from "../../db/sql.ts";
import { namesIn } from "../../listing/schema.ts";
import { rowsOfFiles } from "../derived-relations.ts";
import { type LakeFile, type Manifest, tableFilesOf } from "../manifest.ts";
import { activeColumns, activeOn, filesIn, goneColumns, goneIn, unorderedListings } from "../market.ts";
import { listingColumns, openPartition, type TableName } from "../tables.ts";
import { flatListings, tokensInOrder } from "./flat-listings.ts";

/** What the views of a version depend on. */
export type Market = Pick<Manifest, "tables" | "as_of" | "days">;

/** Tables whose view holds their rows unchanged. */
const plainTables = [
  "builds",
  "dealers",
  "tokens",
  "options",
  "valuations",
  "price_effects",
] as const satisfies readonly TableName[];

/** Returns the statements that create the views and table macros of a version. */
export const viewsOf = (manifest: Market, folder: string): readonly Sql[] => [
  ...Object.entries(viewQueriesOf(manifest, folder)).map(
    ([name, query]) => sql`CREATE OR REPLACE VIEW ${ident(name)} AS ${query}`,
  ),
  ...snapshotMacrosOf(manifest, folder),
];

/** The files that each view and table macro of a version reads, those of the views in its query among them. */
const filesOfRelations = new WeakMap<Market, ReadonlyMap<string, readonly LakeFile[]>>();

/** Returns the files that statements can read: those of all views and macros whose names occur in their text. */
export function filesNamedIn(text: string, manifest: Market): readonly LakeFile[] {
  const relations = filesOfRelations.get(manifest) ?? relationsOf(manifest);
  filesOfRelations.set(manifest, relations);
  return namedFiles(text, relations);
}

function relationsOf(manifest: Market): ReadonlyMap<string, readonly LakeFile[]> {
  const relations = new Map<string, readonly LakeFile[]>();
  const tableFiles = tableFilesOf(manifest);
  for (const { text } of viewsOf(manifest, "")) {
    const [, name = "", query = ""] = /^CREATE OR REPLACE (?:VIEW|MACRO) "?(\w+)(.*)/s.exec(text) ?? [];
    const own = tableFiles.filter(({ path }) => query.includes(path));
    relations.set(name, [...new Set([...own, ...namedFiles(query, relations)])]);
  }
  return relations;
}

function namedFiles(text: string, relations: ReadonlyMap<string, readonly LakeFile[]>): readonly LakeFile[] {
  const words = new Set(text.toLowerCase().match(/\w+/g));
  return [...new Set([...relations].flatMap(([name, files]) => (words.has(name) ? files : [])))];
}

/** Returns the query of each view of a version, each over those before it. */
export function viewQueriesOf(manifest: Market, folder: string): Readonly<Record<string, Sql>> {
  const { tables, as_of } = manifest;
  const options = { folder, hasFeeds: true };
  const rows = (table: TableName, files: readonly LakeFile[] = tables[table]): Sql => rowsOfFiles(table, files, folder);
  const today = sql`DATE ${literal(as_of)}`;
  const days = dayRelations(manifest, folder);
  const goneBy = (month: string, table: TableName, files: readonly LakeFile[]): Sql =>
    flat(sql`SELECT ${join(goneColumns)}, ${ident(month)} FROM (${rowsOfFiles(table, files, folder, "partition")})`, [
      sql`left(${ident("facts", month)}::VARCHAR, 7) AS ${ident(month)}`,
    ]);
  return {
    ...basesOf(manifest, folder),
    rejects: rows("rejects"),
    active: flatOf(unorderedListings(activeOn(manifest, as_of), options), true),
    listing_intervals: listingIntervals,
    missing: flat(unorderedListings(goneIn(filesIn(tables.absent, openPartition)), options)),
    missing_days: flat(days.missing, [sql`as_of`]),
    contender_intervals: rows("contenders"),
    contenders_days: flat(days.contenders, [sql`snapshot_date AS as_of`]),
    contenders: sql`SELECT * EXCLUDE (as_of) FROM contenders_days WHERE as_of = ${today}`,
    sold: goneBy("sold_month", "sold", tables.sold),
    ended: goneBy("ended_month", "absent", endedFiles(manifest)),
    claims_days: claimDays(),
    claims: sql`SELECT * EXCLUDE (as_of) FROM claims_days WHERE as_of = ${today}`,
    price_changes: priceChanges(["listings", "absent", "sold"].map((table) => rows(table as TableName))),
  };
}

/** Returns the queries of the views from which the listings of every day follow, each over those before it. */
function basesOf(manifest: Market, folder: string): Readonly<Record<string, Sql>> {
  const rows = (table: TableName): Sql => rowsOfFiles(table, manifest.tables[table], folder);
  return {
    ...Object.fromEntries(plainTables.map((table) => [table, rows(table)])),
    tokens_in_order: tokensInOrder,
    days: publishedDays(manifest),
    feeds: rows("feeds"),
    intervals: sql`${rows("listings")} UNION ALL ${rows("past_listings")}`,
    active_days: flat(dayRelations(manifest, folder).active, [sql`snapshot_date`]),
  };
}

const flatOf = (listings: Sql, hasValues: boolean, extra: readonly Sql[] = []): Sql =>
  sql`SELECT * EXCLUDE (row_number) FROM (${flatListings(sql`SELECT *, NULL::BIGINT AS row_number FROM (${listings})`, hasValues, extra)})`;

const flat = (listings: Sql, extra: readonly Sql[] = []): Sql => flatOf(listings, false, extra);

const endedFiles = ({ tables }: Market): readonly LakeFile[] =>
  tables.absent.filter(({ partition }) => partition !== openPartition);

/** Returns the listings of every day in each state that is not final, over the views of a version. */
export function dayRelations(
  manifest: Market,
  folder: string,
): Readonly<Record<"active" | "missing" | "contenders", Sql>> {
  const ended = rowsOfFiles("absent", endedFiles(manifest), folder);
  return {
    active: activeDays(sql`intervals`),
    missing: missingDays(rowsOfFiles("sold", manifest.tables.sold, folder), ended),
    contenders: activeDays(sql`contender_intervals`),
  };
}

/** The published days, with the number of active listings of each. */
export function publishedDays({ days }: Pick<Manifest, "days">): Sql {
  const rows = Object.entries(days).map(
    ([day, listings]) => sql`(DATE ${literal(day)}, ${integerLiteral(listings)}::INTEGER)`,
  );
  return rows.length === 0
    ? sql`SELECT NULL::DATE AS snapshot_date, NULL::INTEGER AS listings WHERE false`
    : sql`SELECT * FROM (VALUES ${join(rows)}) AS days(snapshot_date, listings)`;
}

/** The feeds of each dealer up to each day, for `activeColumns`. */
const deliveredByDay = sql`(SELECT dealer_key, delivery_date AS snapshot_date, feeds, accepted_feeds, last_delivered_on, last_delivered_at
  FROM feeds) AS delivered`;

/** Joins intervals with the published days on which they hold. */
const heldOn = sql`snapshot_date >= valid_from AND snapshot_date < coalesce(valid_to, DATE '9999-12-31')`;

/** Returns a listing for each published day of its intervals, with `snapshot_date`. */
const activeDays = (intervals: Sql): Sql => sql`
  SELECT ${join(activeColumns(sql`snapshot_date`, true))}, snapshot_date
  FROM ${intervals} JOIN days ON ${heldOn}
  LEFT JOIN ${deliveredByDay} USING (dealer_key, snapshot_date)`;

/** Columns of flat listings that no interval has. */
const absentFromIntervals = namesIn("listings")
  .filter((name) =>
    ["days_on_market", "days_seen", "last_checked_at", "missing_since", "sold_date", "sold_on_record"].includes(name),
  )
  .map((name) => ident(name));

/** The rows of the files of active listings, each with the days from which and until which it holds. */
const listingIntervals = sql`SELECT * EXCLUDE (${join(absentFromIntervals)}) FROM (${flat(
  sql`SELECT ${join(activeColumns(sql`NULL::DATE`, false))}, valid_from, valid_to FROM intervals`,
  [sql`valid_from`, sql`valid_to`],
)})`;

/**
 * Returns a listing for each published day on which it was missing, with `as_of`: from the end of an interval to the listing's return, its sale,
 * its end, or the published day. Its attributes are those of its last active day.
 */
function missingDays(sold: Sql, ended: Sql): Sql {
  const computed: Readonly<Record<string, Sql>> = {
    missing_since: sql`missing_since`,
    feeds_without: sql`(accepted_by_then - delivered.accepted_feeds)::INTEGER`,
  };
  const names = Object.keys(listingColumns);
  const values = activeColumns(sql`snapshot_date`, true).map((column, index) => {
    const name = names[index] ?? "";
    return computed[name] === undefined ? column : sql`${computed[name]} AS ${ident(name)}`;
  });
  return sql`
    WITH absences AS (
      SELECT id, valid_from, valid_to AS missing_since, last_day, coalesce(next_from, closed_on, DATE '9999-12-31') AS until
      FROM (SELECT id, valid_from, valid_to, lead(valid_from) OVER (PARTITION BY id ORDER BY valid_from) AS next_from FROM intervals)
      JOIN (SELECT snapshot_date AS valid_to, lag(snapshot_date) OVER (ORDER BY snapshot_date) AS last_day FROM days) USING (valid_to)
      LEFT JOIN (SELECT id, sold_on_record AS closed_on FROM (${sold}) UNION ALL SELECT id, ended_on FROM (${ended})) USING (id)
      WHERE next_from IS DISTINCT FROM valid_to
    ), absent AS (
      SELECT intervals.*, missing_since, last_day AS snapshot_date, days.snapshot_date AS as_of, dealer_id
      FROM absences JOIN intervals USING (id, valid_from)
      JOIN days ON days.snapshot_date >= missing_since AND days.snapshot_date < until
      JOIN (SELECT dealer_key, dealer_id FROM dealers) AS dealers ON dealers.dealer_key = intervals.dealer_key
    )
    SELECT ${join(values)}, as_of
    FROM absent LEFT JOIN ${deliveredByDay} USING (dealer_key, snapshot_date)
    LEFT JOIN (SELECT dealer_id, delivery_date AS as_of, accepted_feeds AS accepted_by_then FROM feeds) USING (dealer_id, as_of)`;
}

/** Returns every claim of each day: that of the owner, which is the active listing, and those of contenders. */
function claimDays(): Sql {
  const claims = (intervals: Sql, isOwner: Sql): Sql => sql`
    SELECT snapshot_date AS as_of, vin, dealer_id, claimed_since, coalesce(last_seen, last_delivered_on) AS sighted_on,
           ${isOwner} AS is_owner, decided_by, file, "row"
    FROM ${intervals} JOIN days ON ${heldOn}
    JOIN (SELECT dealer_key, dealer_id FROM dealers) USING (dealer_key) LEFT JOIN ${deliveredByDay} USING (dealer_key, snapshot_date)`;
  return sql`${claims(sql`intervals`, sql`true`)} UNION ALL ${claims(sql`contender_intervals`, sql`false`)}`;
}

/**
 * Returns the statements that create the macros `snapshot(day)`, the rows of `active` as they were published for a day, and `between_days(first,
 * last)`, those of all days from one to another with `snapshot_date`. A day that was not published is an error that names the nearest ones. A
 * macro refers to no view, because it is bound in the database that calls it.
 */
export function snapshotMacrosOf(manifest: Market, folder: string): readonly Sql[] {
  const published = sql`[${join(Object.keys(manifest.days).map((day) => literal(day)))}]::DATE[]`;
  const nearest = sql`concat_ws(' and ', list_max(list_filter(${published}, lambda kept: kept < day::DATE)),
    list_min(list_filter(${published}, lambda kept: kept > day::DATE)))`;
  const keptDay = sql`CASE WHEN list_contains(${published}, day::DATE) THEN day::DATE
    ELSE error('Invalid day "' || day::VARCHAR || '" for snapshot: expected a day with a snapshot; the nearest: ' || ${nearest} || '.') END`;
  const relations = join(
    Object.entries(basesOf(manifest, folder)).map(
      ([name, query]) => sql`${ident(name)} AS NOT MATERIALIZED (${query})`,
    ),
  );
  return [
    sql`CREATE OR REPLACE MACRO snapshot(day) AS TABLE
      WITH ${relations} SELECT * EXCLUDE (snapshot_date) FROM active_days WHERE snapshot_date = ${keptDay}`,
    sql`CREATE OR REPLACE MACRO between_days(first_day, last_day) AS TABLE
      WITH ${relations} SELECT * FROM active_days WHERE snapshot_date >= first_day::DATE AND snapshot_date <= last_day::DATE`,
  ];
}

/** Returns one row for each change of a listing's price. `newest` are relations that together hold every listing in its newest state. */
function priceChanges(newest: readonly Sql[]): Sql {
  const columns = ["id", "vin", "dealer_key", "year", "make", "model", "price_history"].map((column) => ident(column));
  const rows = newest.map((relation) => sql`SELECT ${join(columns)} FROM (${relation})`);
  return sql`
    SELECT id AS listing_id, vin, dealer_id, change.changed_at AS changed_at, change.changed_at::DATE AS "date",
           change.price AS price, change.price_before AS price_before, change.miles AS miles, year, make, model
    FROM (SELECT * EXCLUDE (price_history), unnest(price_history) AS change FROM (${join(rows, sql` UNION ALL `)}))
    LEFT JOIN (SELECT dealer_key, dealer_id FROM dealers) USING (dealer_key)`;
}
