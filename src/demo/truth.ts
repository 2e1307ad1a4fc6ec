/**
 * What a market did, told by what caused it: which cars left, came back, changed hands or were written wrongly, on which days a
 * reader of the feeds can know it by the rules of a listing's life, and how many rows of each kind there are.
 *
 * It follows from stays and troubles alone, in closed form, and shares no code with `src/ingest`.
 */

import type { Session } from "../db/duckdb.ts";
import { ident, join, literal, numberLiteral, type Sql, sql } from "../db/sql.ts";
import { hasDirtOutcome, kindsWithOutcome } from "./deliveries/dirt.ts";
import { isInFeed, isOpen } from "./deliveries/feed-failures.ts";
import { failureFreeDays, type MarketShape } from "./market-shape.ts";

/** Feeds without a car before it is sold; days of silence before a dealer has no claims; days missing before a listing ends. */
const feedsWithout = 3;
const silentDays = 7;
const endedDays = 90;

/** The columns of the truth, one row a day, beside `day`. */
export const truthColumns = [
  ...[
    "feeds",
    "late",
    "partial",
    "empty",
    "absent",
    "rows",
    "listed",
    "elsewhere",
    "merged",
    "rejected",
    "unknown",
    "noted",
  ],
  ...["active", "missing", "returned", "sold", "relisted", "transferred", "ended", "collapsed"],
] as const;

/** Makes `events` (day, event, n), `contending` (claims that are not the owner's, with their days) and `truth`, empty. */
export async function createTruthTables(session: Session, { days }: MarketShape): Promise<void> {
  await session.createTempTable("claims", claims(days));
  await session.createTempTable("rivals", rivals);
  await session.createTempTable(
    "events",
    sql`SELECT day, event, sum(n)::INTEGER AS n FROM (${events}) WHERE day < ${numberLiteral(days)} GROUP BY ALL`,
  );
  await session.createTempTable("contending", contending);
  await session.drop("claims", "rivals");
  const columns = truthColumns.map((column) => sql`${ident(column)} INTEGER`);
  await session.run(sql`CREATE OR REPLACE TEMPORARY TABLE truth ("day" VARCHAR, ${join(columns)})`);
  await session.run(
    sql`CREATE OR REPLACE TEMPORARY TABLE dirt ("day" VARCHAR, kind VARCHAR, outcome VARCHAR, "rows" INTEGER)`,
  );
}

/** Adds a day to `truth` and `dirt`, from what `today` shows. */
export async function writeTruth(session: Session, day: number, date: string): Promise<void> {
  const at = numberLiteral(day);
  const count = (from: Sql): Sql => sql`(SELECT count(*)::INTEGER FROM ${from})`;
  const rows = (condition: Sql): Sql => count(sql`today WHERE ${condition}`);
  const feeds = (trouble: string): Sql => count(sql`troubles WHERE day = ${at} AND trouble = ${trouble}`);
  const event = (...names: readonly string[]): Sql =>
    sql`(SELECT coalesce(sum(n), 0)::INTEGER FROM events WHERE day = ${at} AND event IN (${join(names.map((one) => sql`${one}`))}))`;
  const elsewhere = count(
    sql`today SEMI JOIN (SELECT car, nth FROM contending WHERE from_day <= ${at} AND ${at} < until) USING (car, nth)`,
  );
  const merged = rows(sql`copy = 0 AND ${hasDirtOutcome("merged")}`);
  const rejected = rows(hasDirtOutcome("rejected"));
  const values: Readonly<Record<(typeof truthColumns)[number], Sql>> = {
    feeds: sql`${count(sql`dealers WHERE ${isOpen(at)}`)} - ${feeds("absent")}`,
    late: feeds("late"),
    partial: feeds("partial"),
    empty: feeds("empty"),
    absent: feeds("absent"),
    rows: rows(sql`true`),
    listed: sql`${rows(sql`true`)} - ${elsewhere} - ${merged} - ${rejected}`,
    elsewhere,
    merged,
    rejected,
    unknown: rows(hasDirtOutcome("unknown")),
    noted: rows(hasDirtOutcome("noted")),
    active: sql`(SELECT coalesce(sum(CASE WHEN event IN ('listed', 'returned') THEN n WHEN event IN ('missing', 'left for another') THEN -n ELSE 0 END), 0)::INTEGER
      FROM events WHERE day <= ${at})`,
    missing: event("missing"),
    returned: event("returned"),
    sold: event("sold"),
    relisted: event("relisted"),
    transferred: event("transferred"),
    ended: event("transferred", "expired"),
    collapsed: sql`${feeds("partial")} + ${feeds("empty")}`,
  };
  await session.run(sql`INSERT INTO truth SELECT ${date}, ${join(truthColumns.map((column) => values[column]))}`);
  const outcomes = (["rejected", "unknown", "noted", "merged"] as const).map(
    (outcome) => sql`WHEN dirt IN (${join(kindsWithOutcome(outcome).map(literal))}) THEN ${outcome}`,
  );
  await session.run(sql`INSERT INTO dirt SELECT ${date}, dirt, CASE ${join(outcomes, sql` `)} ELSE 'nothing' END, count(*)::INTEGER FROM today
    WHERE dirt IS NOT NULL GROUP BY dirt ORDER BY dirt`);
}

/**
 * Each stay as its dealer's claim: first and last day seen, the day on which it is known to be gone, and the day on which it can
 * count as sold. What begins before the span or outlasts it needs no look at its edges.
 */
function claims(days: number): Sql {
  return sql`
    WITH all_stays AS (
      SELECT stays.car, nth, stays.dealer, stays.place, begins, ends, closes_on, slots FROM stays JOIN (SELECT car, dirt FROM cars) AS cars USING (car)
      JOIN (SELECT dealer, closes_on, slots FROM dealers) USING (dealer) WHERE NOT ${hasDirtOutcome("rejected")}
    ), edges AS (
      SELECT *, unnest(list_distinct([greatest(begins, 0), greatest(begins, 0) + 1, greatest(begins, 0) + 2, ends - 2, ends - 1, ends])) AS day
      FROM all_stays WHERE begins > 0 OR ends < ${numberLiteral(days)}
    ), seen AS (
      SELECT car, nth, min(day)::INTEGER AS first_seen, max(day)::INTEGER AS last_seen
      FROM edges LEFT JOIN troubles USING (dealer, day) WHERE day BETWEEN 0 AND ${numberLiteral(days - 1)} AND ${isInFeed(sql`day`)} GROUP BY car, nth
    ), accepted AS (
      SELECT car, nth, list(day ORDER BY day) AS days FROM (
        SELECT car, nth, dealer, closes_on, unnest(range(last_seen + 1, least(last_seen + ${numberLiteral(feedsWithout * failureFreeDays + 1)}, coalesce(closes_on, 100000), ${numberLiteral(days)})))::INTEGER AS day
        FROM seen JOIN all_stays USING (car, nth) WHERE ends < ${numberLiteral(days)}
      ) LEFT JOIN troubles USING (dealer, day) WHERE coalesce(trouble, 'late') = 'late' GROUP BY car, nth
    )
    SELECT car, nth, dealer, coalesce(first_seen, 0) AS first_seen, if(first_seen IS NULL, true, first_seen < last_seen) AS is_seen_twice,
           coalesce(days[1], CASE WHEN closes_on IS NOT NULL AND ends < ${numberLiteral(days)} THEN last_seen + ${numberLiteral(silentDays)} END) AS gone_on, days[${numberLiteral(feedsWithout)}] AS sold_on
    FROM all_stays LEFT JOIN seen USING (car, nth) LEFT JOIN accepted USING (car, nth)
    WHERE first_seen IS NOT NULL OR begins <= 0 AND ends >= ${numberLiteral(days)}`;
}

/** The claims to a car, the earlier one first; most cars have one. `taken_on`: when the later one's dealer takes the car over. */
const rivals = sql`
  WITH paired AS (
    SELECT *, row_number() OVER claims_of AS place, lead(dealer) OVER claims_of AS next_dealer, lead(first_seen) OVER claims_of AS next_seen,
           lead(gone_on) OVER claims_of AS next_gone, lead(is_seen_twice) OVER claims_of AS next_twice, lead(sold_on) OVER claims_of AS next_sold, lead(nth) OVER claims_of AS next_nth
    FROM claims WINDOW claims_of AS (PARTITION BY car ORDER BY first_seen, nth)
  )
  SELECT *, CASE
      WHEN next_dealer IS NULL THEN 'alone'
      WHEN next_dealer = dealer AND coalesce(gone_on, 100000) >= next_seen THEN 'went on'
      WHEN next_dealer = dealer THEN 'came back'
      WHEN coalesce(next_gone, 100000) <= coalesce(gone_on, 100000) THEN 'kept'
      ELSE 'gave up' END AS story,
    if(next_dealer <> dealer AND gone_on < coalesce(next_gone, 100000), greatest(next_seen, gone_on), NULL) AS taken_on
  FROM paired WHERE place = 1`;

/** A listing from its first day, on which it is listed, to where it is told that it was sold or has expired. */
const lives = sql`
  SELECT story, first_seen AS listed_on, CASE story WHEN 'went on' THEN next_gone ELSE gone_on END AS missing_on,
         CASE story WHEN 'went on' THEN next_sold ELSE sold_on END AS sold_on, is_seen_twice OR story = 'went on' AS is_seen_twice,
         CASE story WHEN 'came back' THEN next_seen WHEN 'gave up' THEN taken_on END AS next_on FROM rivals`;

const afterlives = sql`
  SELECT story, taken_on AS listed_on, next_gone AS missing_on, next_sold AS sold_on, next_twice AS is_seen_twice FROM rivals WHERE story = 'gave up'
  UNION ALL
  SELECT if(is_sold_before, 'relisted', 'returned'), next_seen, next_gone, next_sold, next_twice OR NOT is_sold_before
  FROM (SELECT *, coalesce(sold_on < next_seen, false) AND is_seen_twice AS is_sold_before FROM rivals WHERE story = 'came back')`;

const events = sql`
  WITH lives AS (${lives}), afterlives AS (${afterlives}),
  told AS (SELECT *, CASE WHEN is_seen_twice AND sold_on < coalesce(next_on, 100000) THEN sold_on END AS counts_as_sold_on FROM lives)
  SELECT listed_on AS day, 'listed' AS event, count(*) AS n FROM lives GROUP BY ALL
  UNION ALL SELECT missing_on, 'missing', count(*) FROM lives WHERE missing_on < coalesce(next_on, 100000) GROUP BY ALL
  UNION ALL SELECT counts_as_sold_on, 'sold', count(*) FROM told WHERE counts_as_sold_on IS NOT NULL GROUP BY ALL
  UNION ALL SELECT missing_on + ${numberLiteral(endedDays)}, 'expired', count(*) FROM told WHERE counts_as_sold_on IS NULL AND missing_on + ${numberLiteral(endedDays)} < coalesce(next_on, 100000) GROUP BY ALL
  UNION ALL SELECT next_on, 'transferred', count(*) FROM told WHERE story = 'gave up' AND counts_as_sold_on IS NULL GROUP BY ALL
  UNION ALL SELECT next_on, 'left for another', count(*) FROM lives WHERE story = 'gave up' AND missing_on >= next_on GROUP BY ALL
  UNION ALL SELECT listed_on, if(story = 'returned', 'returned', 'listed'), count(*) FROM afterlives GROUP BY ALL
  UNION ALL SELECT listed_on, 'relisted', count(*) FROM afterlives WHERE story = 'relisted' GROUP BY ALL
  UNION ALL SELECT missing_on, 'missing', count(*) FROM afterlives WHERE missing_on IS NOT NULL GROUP BY ALL
  UNION ALL SELECT sold_on, 'sold', count(*) FROM afterlives WHERE sold_on IS NOT NULL AND is_seen_twice GROUP BY ALL
  UNION ALL SELECT missing_on + ${numberLiteral(endedDays)}, 'expired', count(*) FROM afterlives WHERE missing_on IS NOT NULL AND (sold_on IS NULL OR NOT is_seen_twice) GROUP BY ALL`;

/** What the other dealer claims in vain, and until when. */
const contending = sql`
  SELECT car, next_nth AS nth, next_seen AS from_day, coalesce(CASE story WHEN 'kept' THEN next_gone ELSE taken_on END, 100000) AS until
  FROM rivals WHERE story IN ('kept', 'gave up')`;
