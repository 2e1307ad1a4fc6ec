/** Analysts' views of the past: the table macro `snapshot` of one day, and the view `price_changes`. */
import { ident, join, literal, type Sql, sql } from "../db/sql.ts";
import { rowsOfFiles } from "./file-rows.ts";
import type { LakeFile, Manifest, TableFiles } from "./manifest.ts";
import type { TableName } from "./tables.ts";

/**
 * Returns the statements that create the macro `snapshot(day)`: the rows of `active` as they were published for a day. Its argument is a
 * constant, so that only the day's files are read; a day without a snapshot is an error that names the nearest ones. The view `snapshots`
 * must exist.
 */
export function snapshotMacro({ snapshots }: TableFiles): readonly Sql[] {
  const days = [...new Set(snapshots.map(({ partition }) => partition ?? ""))].sort();
  const kept = sql`[${join(days.map((day) => literal(day)))}]::DATE[]`;
  const nearest = sql`concat_ws(' and ', list_max(list_filter(${kept}, lambda kept: kept < day::DATE)),
    list_min(list_filter(${kept}, lambda kept: kept > day::DATE)))`;
  return [
    sql`CREATE OR REPLACE MACRO kept_day(day) AS CASE WHEN list_contains(${kept}, day::DATE) THEN day::DATE
      ELSE error('Invalid day "' || day::VARCHAR || '" for snapshot: expected a day with a snapshot; the nearest: ' || ${nearest} || '.') END`,
    sql`CREATE OR REPLACE MACRO snapshot(day) AS TABLE
      SELECT * EXCLUDE (snapshot_date) FROM snapshots WHERE snapshot_date = kept_day(day)`,
  ];
}

/** The tables that together hold every listing in its newest state, and whether only the files of the published day do. */
const newestStates: readonly (readonly [table: TableName, isOfDay: boolean])[] = [
  ["snapshots", true],
  ["missing", true],
  ["sold", false],
  ["ended", false],
];

/**
 * Returns the view `price_changes`: one row for each change of a listing's price, of all listings in their newest state. `dealers` must
 * exist.
 */
export function priceChangesView({ tables, as_of }: Manifest, folder: string): Sql {
  const columns = ["id", "vin", "dealer_key", "year", "make", "model", "price_history"].map((column) => ident(column));
  const rows = newestStates.map(([table, isOfDay]) => {
    const files: readonly LakeFile[] = tables[table].filter(({ partition }) => !isOfDay || partition === as_of);
    return sql`SELECT ${join(columns)} FROM (${rowsOfFiles(table, files, folder)})`;
  });
  return sql`CREATE OR REPLACE VIEW price_changes AS
    SELECT id AS listing_id, vin, dealer_id, change.changed_at AS changed_at, change.changed_at::DATE AS "date",
           change.price AS price, change.price_before AS price_before, change.miles AS miles, year, make, model
    FROM (SELECT * EXCLUDE (price_history), unnest(price_history) AS change FROM (${join(rows, sql` UNION ALL `)}))
    LEFT JOIN (SELECT dealer_key, dealer_id FROM dealers) USING (dealer_key)`;
}
