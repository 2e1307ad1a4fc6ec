/** The calendar of feeds: for each dealer and day, whether its feed came, was held, or is absent. It is derived from the lake. */
import { integerIn, type Row, textIn } from "../../base/json.ts";
import { integerLiteral, join, literal, type Sql, sql } from "../../db/sql.ts";
import { rowsOfFiles } from "../../lake/derived-relations.ts";
import { holdsOn } from "../../lake/market.ts";
import { life } from "../../listing/lifecycle-rules.ts";
import type { ParquetVersion } from "../../serving/feed-records.ts";
import { filesOfDays } from "./quality.ts";

/** `silent`: without a feed, after one in the 7 days before. `none`: without a feed for longer. */
type FeedState = "came" | "held" | "silent" | "none";

export interface CalendarFeed {
  readonly day: string;
  readonly state: FeedState;
  readonly vins: number;
  /** The size below which the feed is held; null if none is. */
  readonly min_vins: number | null;
  readonly known_prices: number | null;
  readonly jumped_prices: number | null;
  /** The day of the dealer's last feed up to this day. */
  readonly last: string | null;
}

export interface CalendarDealer {
  readonly dealerId: string;
  readonly feeds: readonly CalendarFeed[];
}

interface CalendarRequest {
  /** Published days, in order. */
  readonly days: readonly string[];
  /** Whether dealers whose feeds all came are left out. */
  readonly hasProblems: boolean;
  readonly limit: number;
}

/** Dealers, those with a problem on the last day first, then the largest; how many there are in all, and how many feeds of the last day are in each state. */
export interface FeedCalendar {
  readonly dealers: readonly CalendarDealer[];
  readonly total: number;
  readonly states: Readonly<Partial<Record<FeedState, number>>>;
}

export async function feedCalendar(source: ParquetVersion, request: CalendarRequest): Promise<FeedCalendar> {
  const { days, hasProblems, limit } = request;
  const last = days.at(-1) ?? source.manifest.as_of;
  const files = filesOfDays(source.manifest.tables.feeds, days);
  const rows = await source.rowsFrom(
    files,
    sql`
    WITH feeds AS (
      SELECT dealer_id, delivery_date::VARCHAR AS "day", ${feedState} AS state, coalesce(vins, 0) AS vins, min_vins, known_prices, jumped_prices,
             last_delivered_on::VARCHAR AS "last"
      FROM (${rowsOfFiles("feeds", files, source.folder)}) WHERE delivery_date IN (${join(days.map((day) => sql`DATE ${literal(day)}`))})),
    dealers AS (
      SELECT dealer_id, arg_max(vins, "day") FILTER (state IN ('came', 'held')) AS vins, max(state) FILTER ("day" = ${last}) AS state,
             to_json(list({"day": "day", state: state, vins: vins, min_vins: min_vins, known_prices: known_prices,
                           jumped_prices: jumped_prices, "last": "last"} ORDER BY "day"))::VARCHAR AS feeds,
             bool_or(state IN ('held', 'silent')) AS has_problem
      FROM feeds GROUP BY dealer_id HAVING bool_or(state <> 'none'))
    SELECT dealer_id, feeds, (count(*) OVER ())::INTEGER AS total,
           to_json((SELECT histogram(state) FROM dealers))::VARCHAR AS states
    FROM dealers ${hasProblems ? sql`WHERE has_problem` : sql``}
    ORDER BY list_position(['held', 'silent'], state) NULLS LAST, vins DESC NULLS LAST, dealer_id LIMIT ${integerLiteral(limit)}`,
  );
  const [first] = rows;
  return {
    dealers: rows.map((row) => ({
      dealerId: textIn(row, "dealer_id"),
      feeds: JSON.parse(textIn(row, "feeds")),
    })),
    total: first === undefined ? 0 : integerIn(first, "total"),
    states: first === undefined ? await statesWithoutProblems(source, request) : JSON.parse(textIn(first, "states")),
  };
}

/** Returns the states of the last day's feeds if no dealer has a problem. */
const statesWithoutProblems = async (
  source: ParquetVersion,
  { days, hasProblems }: CalendarRequest,
): Promise<FeedCalendar["states"]> =>
  hasProblems ? (await feedCalendar(source, { days, hasProblems: false, limit: 1 })).states : {};

const feedState: Sql = sql`CASE
  WHEN verdict = 'collapsed' THEN 'held'
  WHEN verdict <> 'none' THEN 'came'
  WHEN last_delivered_on >= delivery_date - ${integerLiteral(life.silentDays)} THEN 'silent' ELSE 'none' END`;

/** A car that was in its dealer's feed before that of the published day, and is not in that one. */
export interface MissingCar {
  /** The id of its listing. */
  readonly id: string;
  readonly vin: string;
}

/** Returns the first missing cars of a dealer by VIN. */
export async function missingCars(
  source: ParquetVersion,
  { dealer, limit }: { readonly dealer: string; readonly limit: number },
): Promise<readonly MissingCar[]> {
  const rows = await selectFromMissing(
    source,
    [dealer],
    sql`id, vin`,
    sql`ORDER BY vin LIMIT ${integerLiteral(limit)}`,
  );
  return rows.map((row) => ({ id: textIn(row, "id"), vin: textIn(row, "vin") }));
}

/** Returns how many cars of some dealers are missing, and the day of the feed that had them; nothing of dealers without any. */
export async function countMissingCars(
  source: ParquetVersion,
  dealers: readonly string[],
): Promise<ReadonlyMap<string, { readonly missing: number; readonly before: string }>> {
  const count = sql`dealer_id, before::VARCHAR AS before, count(*)::INTEGER AS missing`;
  const rows = await selectFromMissing(source, dealers, count, sql`GROUP BY dealer_id, before`);
  return new Map(
    rows.map((row) => [
      textIn(row, "dealer_id"),
      { missing: integerIn(row, "missing"), before: textIn(row, "before") },
    ]),
  );
}

/** Selects columns of the missing cars of some dealers: their listings, with the day `before` of the feed that had them. */
async function selectFromMissing(
  source: ParquetVersion,
  dealers: readonly string[],
  columns: Sql,
  end: Sql,
): Promise<readonly Row[]> {
  const { manifest, folder } = source;
  const before = Object.keys(manifest.days).findLast((day) => day < manifest.as_of);
  if (before === undefined) return [];
  const { listings, dealers: dealerFiles, feeds } = manifest.tables;
  const feedFiles = filesOfDays(feeds, [before]);
  return source.rowsFrom(
    [...listings, ...dealerFiles, ...feedFiles],
    sql`
    SELECT ${columns} FROM (${rowsOfFiles("listings", listings, folder)})
    JOIN (SELECT dealer_key, dealer_id FROM (${rowsOfFiles("dealers", dealerFiles, folder)})) USING (dealer_key)
    JOIN (SELECT dealer_id, last_delivered_on AS before FROM (${rowsOfFiles("feeds", feedFiles, folder)})
          WHERE delivery_date = DATE ${literal(before)}) USING (dealer_id)
    WHERE dealer_id IN (SELECT unnest(${dealers}::VARCHAR[])) AND ${holdsOn(sql`DATE ${literal(manifest.as_of)}`)} AND last_seen = before ${end}`,
  );
}

/** A file that brought a feed with a problem. */
export interface ProblemFile {
  /** Its name in the delivery. */
  readonly file: string;
  /** The first of its rows that were refused or held, or of the rows of a collapsed feed; and how many there are. */
  readonly firstRow: number;
  readonly rows: number;
}

/** Returns the files of the feeds of some dealers on a day that have refused or held rows, or whose rows collapsed, by dealer. */
export async function problemFiles(
  source: ParquetVersion,
  { dealers, day }: { readonly dealers: readonly string[]; readonly day: string },
): Promise<ReadonlyMap<string, readonly ProblemFile[]>> {
  const files = filesOfDays(source.manifest.tables.rejects, [day]);
  const rows = await source.rowsFrom(
    files,
    sql`SELECT dealer_id, file, min("row")::DOUBLE AS first_row,
               coalesce(max(try_cast("value" AS INTEGER)) FILTER (outcome = 'collapsed'), count(DISTINCT "row"))::INTEGER AS "rows"
        FROM (${rowsOfFiles("rejects", files, source.folder)})
        WHERE delivery_date = DATE ${literal(day)} AND dealer_id IN (SELECT unnest(${dealers}::VARCHAR[])) AND outcome IN ('rejected', 'held', 'collapsed')
        GROUP BY dealer_id, file ORDER BY dealer_id, file`,
  );
  const found = new Map<string, ProblemFile[]>();
  for (const row of rows) {
    const file = { file: textIn(row, "file"), firstRow: integerIn(row, "first_row"), rows: integerIn(row, "rows") };
    const dealer = textIn(row, "dealer_id");
    found.set(dealer, [...(found.get(dealer) ?? []), file]);
  }
  return found;
}
