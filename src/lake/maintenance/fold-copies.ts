/**
 * Folds the daily copies of a former lake format into intervals, one month after the other, and proves that the intervals reproduce the copies.
 *
 * The columns of a listing about its dealer's deliveries follow from `former_deliveries`; the time at which a listing was last checked becomes that
 * of its dealer's delivery.
 */
import { join as joinPath } from "node:path";
import { integerIn } from "../../base/json.ts";
import { UserError } from "../../base/user-error.ts";
import type { Session } from "../../db/duckdb.ts";
import { columnType, ident, join, literal, pathLiteral, type Sql, sql } from "../../db/sql.ts";
import { rowsOfFiles } from "../file-rows.ts";
import type { FormerTables } from "../former-tables.ts";
import type { LakeFile } from "../manifest.ts";
import { activeColumns } from "../market.ts";
import { listingColumns, tableOf } from "../tables.ts";

/** A table of daily copies, and the table of intervals that it becomes. */
export const foldedTables = { snapshots: "snapshots", contenders: "contenders" } as const;
export type FoldedTable = keyof typeof foldedTables;

export interface Fold {
  readonly session: Session;
  readonly lake: string;
  readonly former: FormerTables;
  /** All published days, in order. */
  readonly days: readonly string[];
}

const intervalColumns = Object.entries(tableOf("listings").columns);

/** Columns that are not compared with the row of the day before. */
const unlikeColumns = ["file", "row", "valid_from", "valid_to"];
const state = sql`hash(${join(intervalColumns.filter(([column]) => !unlikeColumns.includes(column)).map(([column]) => ident(column)))})`;

/** Returns the copies of some days, as one-day intervals. */
const copies = ({ lake, former }: Fold, table: FoldedTable, days: readonly string[]): Sql =>
  rowsOfFiles("listings", filesOn(former[table], days), lake);

const filesOn = (files: readonly LakeFile[] = [], days: readonly string[]): readonly LakeFile[] =>
  files.filter(({ partition }) => days.includes(partition ?? ""));

/**
 * Creates the tables `published_days` (day, place) and `former_deliveries`: the deliveries of all days in the current columns.
 */
export async function createFormerDeliveries(fold: Fold): Promise<void> {
  const { session, lake, former, days } = fold;
  const rows = days.map((day, place) => sql`(DATE ${literal(day)}, ${place}::INTEGER)`);
  await session.createTempTable("published_days", sql`SELECT * FROM (VALUES ${join(rows)}) AS days("day", place)`);
  const checked = (["snapshots", "contenders"] as const).map((table) => copies(fold, table, days));
  await session.createTempTable(
    "dealers_by_day",
    sql`SELECT dealer_id, "day" AS delivery_date, max(dealer_key) AS dealer_key, max(checked_at) AS checked_at
        FROM (SELECT dealer_key, valid_from AS "day", max(last_checked_at) FILTER (last_seen = valid_from) AS checked_at
              FROM (${join(checked, sql` UNION ALL `)}) GROUP BY ALL)
        JOIN (${rowsOfFiles("dealers", former.dealers ?? [], lake)}) USING (dealer_key) GROUP BY ALL`,
  );
  const isDelivered = sql`verdict <> 'none'`;
  const columns = Object.keys(tableOf("deliveries").columns).map((column) => ident(column));
  await session.createTempTable(
    "former_deliveries",
    sql`SELECT ${join(columns)} FROM (
          SELECT delivered.* EXCLUDE (dealer_key, last_delivered_at, deliveries, accepted_deliveries), of_day.dealer_key,
                 last_value(if(${isDelivered}, greatest(delivered_at, checked_at), NULL) IGNORE NULLS) OVER so_far AS last_delivered_at,
                 (count(*) FILTER (${isDelivered}) OVER so_far)::INTEGER AS deliveries,
                 (count(*) FILTER (verdict IN ('accepted', 'resized')) OVER so_far)::INTEGER AS accepted_deliveries
          FROM (${rowsOfFiles("deliveries", former.deliveries ?? [], lake)}) AS delivered
          LEFT JOIN dealers_by_day AS of_day USING (dealer_id, delivery_date)
          WINDOW so_far AS (PARTITION BY dealer_id ORDER BY delivery_date))`,
  );
}

/** Selects the copies of some days as rows of intervals, one for each day, with the claims behind them. */
function storedCopies(fold: Fold, table: FoldedTable, days: readonly string[]): Sql {
  const derived: Readonly<Record<string, Sql>> = {
    unseen_deliveries: sql`coalesce(today.deliveries, 0) + copied.unseen_deliveries`,
    last_seen: sql`nullif(copied.last_seen, today.last_delivered_on)`,
    last_checked_at: sql`CASE WHEN copied.last_seen IS DISTINCT FROM today.last_delivered_on
      THEN coalesce(seen.last_delivered_at, copied.last_checked_at) END`,
    ...{ claimed_since: sql`claims.claimed_since`, decided_by: sql`claims.decided_by` },
    ...{ file: sql`claims.file`, row: sql`claims."row"` },
  };
  const columns = intervalColumns.map(
    ([column, type]) => sql`(${derived[column] ?? ident("copied", column)})::${columnType(type)} AS ${ident(column)}`,
  );
  return sql`
    SELECT ${join(columns)} FROM (${copies(fold, table, days)}) AS copied
    LEFT JOIN former_deliveries AS today ON today.dealer_key = copied.dealer_key AND today.delivery_date = copied.valid_from
    LEFT JOIN former_deliveries AS seen ON seen.dealer_id = today.dealer_id AND seen.delivery_date = copied.last_seen
    LEFT JOIN (${claimsOn(fold, days)}) AS claims
      ON claims.vin = copied.vin AND claims.dealer_id = today.dealer_id AND claims.claim_date = copied.valid_from`;
}

function claimsOn({ lake, former }: Fold, days: readonly string[]): Sql {
  const paths = filesOn(former.claims, days).map(({ path }) => pathLiteral(joinPath(lake, path)));
  const columns = sql`vin, dealer_id, claimed_since, decided_by, file, "row", claim_date::DATE AS claim_date`;
  return paths.length === 0
    ? sql`SELECT NULL::VARCHAR AS vin, NULL::VARCHAR AS dealer_id, NULL::DATE AS claimed_since, NULL::VARCHAR AS decided_by,
        NULL::VARCHAR AS file, NULL::BIGINT AS "row", NULL::DATE AS claim_date WHERE false`
    : sql`SELECT ${columns} FROM read_parquet([${join(paths)}], union_by_name = true, hive_partitioning = true)`;
}

/**
 * Creates the table `folded`: the intervals of a month of days. Those that hold after its last day have no end. `held` are the intervals that
 * held before its first day.
 */
export async function foldMonth(fold: Fold, table: FoldedTable, days: readonly string[], held: Sql): Promise<void> {
  const [first = "", last = ""] = [days[0], days.at(-1)];
  const rows = sql`
    SELECT copied.*, place, valid_from AS since FROM (${storedCopies(fold, table, days)}) AS copied
    JOIN published_days ON "day" = copied.valid_from
    UNION ALL
    SELECT held.*, (SELECT place - 1 FROM published_days WHERE "day" = DATE ${literal(first)}), valid_from FROM (${held}) AS held`;
  await fold.session.createTempTable(
    "folded",
    sql`
    SELECT folded.* EXCLUDE (place, since, state, island, first_day, valid_from, valid_to), first_day AS valid_from,
           if(folded.place = (SELECT place FROM published_days WHERE "day" = DATE ${literal(last)}), NULL, next."day") AS valid_to
    FROM (
      SELECT *, min(since) OVER alike AS first_day FROM (
        SELECT *, place - row_number() OVER (PARTITION BY vin, dealer_key, state ORDER BY place) AS island
        FROM (SELECT *, ${state} AS state FROM (${rows})))
      WINDOW alike AS (PARTITION BY vin, dealer_key, state, island) QUALIFY place = max(place) OVER alike
    ) AS folded LEFT JOIN published_days AS next ON next.place = folded.place + 1`,
  );
}

/** Columns whose value may differ between a copy and the interval that holds it: see the module. */
const redefined = "last_checked_at";

/** Throws a UserError unless the table `folded` reproduces the copies of some days. */
export async function proveMonth(fold: Fold, table: FoldedTable, days: readonly string[]): Promise<void> {
  const names = Object.keys(listingColumns).filter((column) => column !== redefined);
  const selected = join([...names.map((column) => ident(column)), sql`"day"`]);
  const listed = join(days.map((day) => sql`DATE ${literal(day)}`));
  const expanded = sql`SELECT ${selected} FROM (
    SELECT ${join(activeColumns(sql`"day"`, true))}, "day" FROM folded
    JOIN published_days ON "day" >= valid_from AND "day" < coalesce(valid_to, DATE '9999-12-31') AND "day" IN (${listed})
    LEFT JOIN (SELECT dealer_key, delivery_date AS "day", deliveries, last_delivered_on, last_delivered_at FROM former_deliveries) AS delivered
      USING (dealer_key, "day"))`;
  // A copy has its own values in the columns that follow from deliveries.
  const plain = sql`SELECT ${selected} FROM (
    SELECT ${join(activeColumns(sql`valid_from`, true))}, valid_from AS "day" FROM (${copies(fold, table, days)})
    CROSS JOIN (SELECT 0 AS deliveries, NULL::DATE AS last_delivered_on, NULL::TIMESTAMP AS last_delivered_at) AS delivered)`;
  const differing = await fold.session.row(sql`
    SELECT count(*)::INTEGER AS n, min("day")::VARCHAR AS first FROM (
      (${expanded} EXCEPT ALL ${plain}) UNION ALL (${plain} EXCEPT ALL ${expanded}))`);
  if (integerIn(differing, "n") === 0) return;
  throw new UserError(
    `${table}: ${integerIn(differing, "n")} rows from ${days[0]} to ${days.at(-1)} differ from their copies, the first of ${String(differing?.first)}: expected none. The lake is unchanged.`,
  );
}
