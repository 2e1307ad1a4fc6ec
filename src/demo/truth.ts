/**
 * Ground truth of the demo market: the counts that ingest must report for each day, such as listed rows, sold listings and collapsed feeds.
 *
 * Derived in closed form from stays, dirt and feed failures. Shares no code with `src/ingest`.
 */
import type { Session } from "../db/duckdb.ts";
import { ident, join, literal, numberLiteral, type Sql, sql } from "../db/sql.ts";
import { hasDirtOutcome, hasObservation, isInFeed, isOpen, kindsWithOutcome } from "./deliveries/dirt.ts";
import { failureFreeDays, type MarketShape } from "./market-shape.ts";

/** Accepted feeds without a car after which it is sold. */
const soldAfterFeeds = 3;
/** Days without a delivery after which a dealer is silent. */
const silentDays = 7;
/** Days after which a missing listing ends. */
const endedAfterDays = 90;

/** The count columns of `truth.csv`, which has one row per day. */
const truthColumns = [
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

/**
 * Creates the tables `events` (day, event, n), `contenders` (claims that do not win, from `from_day` until before `end_day`), and the empty
 * tables `truth` and `dirt`.
 */
export async function createTruthTables(session: Session, { days }: MarketShape): Promise<void> {
  await session.createTempTable("claims", claims(days));
  await session.createTempTable("claim_pairs", claimPairs);
  await session.createTempTable(
    "events",
    sql`SELECT day, event, sum(n)::INTEGER AS n FROM (${events}) WHERE day < ${numberLiteral(days)} GROUP BY ALL`,
  );
  await session.createTempTable("contenders", contenders);
  await session.drop("claims", "claim_pairs");
  const columns = truthColumns.map((column) => sql`${ident(column)} INTEGER`);
  await session.run(sql`CREATE OR REPLACE TEMPORARY TABLE truth ("day" VARCHAR, ${join(columns)})`);
  await session.run(
    sql`CREATE OR REPLACE TEMPORARY TABLE dirt ("day" VARCHAR, kind VARCHAR, outcome VARCHAR, "rows" INTEGER)`,
  );
}

/** Adds a day to `truth` and `dirt`. Reads `day_rows`. */
export async function writeTruth(session: Session, day: number, date: string): Promise<void> {
  const values = { ...rowCounts(day), ...feedCounts(day), ...listingCounts(day) };
  await session.run(sql`INSERT INTO truth SELECT ${date}, ${join(truthColumns.map((column) => values[column]))}`);
  const outcomes = (["rejected", "unknown", "noted", "merged"] as const).map(
    (outcome) => sql`WHEN dirt IN (${join(kindsWithOutcome(outcome).map(literal))}) THEN ${outcome}`,
  );
  await session.run(sql`INSERT INTO dirt SELECT ${date}, dirt, CASE ${join(outcomes, sql` `)} ELSE 'nothing' END, count(*)::INTEGER FROM day_rows
    WHERE dirt IS NOT NULL GROUP BY dirt ORDER BY dirt`);
}

const countOf = (rows: Sql): Sql => sql`(SELECT count(*)::INTEGER FROM ${rows})`;

/** Inventory rows by what becomes of them. */
function rowCounts(day: number) {
  const today = numberLiteral(day);
  const rowsWhere = (condition: Sql): Sql => countOf(sql`day_rows WHERE ${condition}`);
  const rows = rowsWhere(sql`true`);
  const elsewhere = countOf(
    sql`day_rows SEMI JOIN (SELECT car, nth FROM contenders WHERE from_day <= ${today} AND ${today} < end_day) USING (car, nth)`,
  );
  const merged = rowsWhere(sql`copy = 0 AND ${hasDirtOutcome("merged")}`);
  const rejected = rowsWhere(hasDirtOutcome("rejected"));
  return {
    rows,
    listed: sql`${rows} - ${elsewhere} - ${merged} - ${rejected}`,
    elsewhere,
    merged,
    rejected,
    unknown: rowsWhere(hasDirtOutcome("unknown")),
    // The lake accepts earlier observations on its first day only.
    noted: sql`${rowsWhere(hasDirtOutcome("noted"))} + ${rowsWhere(sql`as_of < ${today} AND ${today} > 0 AND ${hasObservation}`)}`,
  };
}

/** Feeds by failure. Partial and empty feeds collapse. */
function feedCounts(day: number) {
  const today = numberLiteral(day);
  const failures = (failure: string): Sql => countOf(sql`feed_failures WHERE day = ${today} AND failure = ${failure}`);
  return {
    feeds: sql`${countOf(sql`dealers WHERE ${isOpen(today)}`)} - ${failures("absent")}`,
    late: failures("late"),
    partial: failures("partial"),
    empty: failures("empty"),
    absent: failures("absent"),
    collapsed: sql`${failures("partial")} + ${failures("empty")}`,
  };
}

/** Active listings, and listings by what happens to them on the day. */
function listingCounts(day: number) {
  const today = numberLiteral(day);
  const eventCount = (...events: readonly string[]): Sql =>
    sql`(SELECT coalesce(sum(n), 0)::INTEGER FROM events WHERE day = ${today} AND event IN (${join(events.map((event) => sql`${event}`))}))`;
  return {
    active: sql`(SELECT coalesce(sum(CASE WHEN event IN ('listed', 'returned') THEN n WHEN event IN ('missing', 'superseded') THEN -n ELSE 0 END), 0)::INTEGER
      FROM events WHERE day <= ${today})`,
    missing: eventCount("missing"),
    returned: eventCount("returned"),
    sold: eventCount("sold"),
    relisted: eventCount("relisted"),
    transferred: eventCount("transferred"),
    ended: eventCount("transferred", "expired"),
  };
}

/**
 * Returns each stay as a claim of its dealer: first day in a feed, the first day on which it is known to be absent (`gone_on`), and the first
 * day on which it can be sold (`sold_on`). On the first day, an earlier observation is one more day. Stays that cover the whole span are not examined day by day.
 */
function claims(days: number): Sql {
  return sql`
    WITH all_stays AS (
      SELECT stays.car, nth, stays.dealer, stays.slot_at_dealer, dirt, begins, ends, closes_on, slots FROM stays JOIN (SELECT car, dirt FROM cars) AS cars USING (car)
      JOIN (SELECT dealer, closes_on, slots FROM dealers) USING (dealer) WHERE NOT ${hasDirtOutcome("rejected")}
    ), edges AS (
      SELECT *, unnest(list_distinct([greatest(begins, 0), greatest(begins, 0) + 1, greatest(begins, 0) + 2, ends - 2, ends - 1, ends])) AS day
      FROM all_stays WHERE begins > 0 OR ends < ${numberLiteral(days)}
    ), seen AS (
      SELECT car, nth, min(day)::INTEGER AS first_seen, max(day)::INTEGER AS last_seen
      FROM edges LEFT JOIN feed_failures USING (dealer, day) WHERE day BETWEEN 0 AND ${numberLiteral(days - 1)} AND ${isInFeed(sql`day`)} GROUP BY car, nth
    ), accepted AS (
      SELECT car, nth, list(day ORDER BY day) AS days FROM (
        SELECT car, nth, dealer, closes_on, unnest(range(last_seen + 1, least(last_seen + ${numberLiteral(soldAfterFeeds * failureFreeDays + 1)}, coalesce(closes_on, 100000), ${numberLiteral(days)})))::INTEGER AS day
        FROM seen JOIN all_stays USING (car, nth) WHERE ends < ${numberLiteral(days)}
      ) LEFT JOIN feed_failures USING (dealer, day) WHERE coalesce(failure, 'late') = 'late' GROUP BY car, nth
    )
    SELECT car, nth, dealer, coalesce(first_seen, 0) AS first_seen, 
           first_seen IS NULL OR first_seen < last_seen OR (first_seen = 0 AND begins < 0 AND ${hasObservation}) AS is_seen_twice,
           coalesce(days[1], CASE WHEN closes_on IS NOT NULL AND ends < ${numberLiteral(days)} THEN last_seen + ${numberLiteral(silentDays)} END) AS gone_on, days[${numberLiteral(soldAfterFeeds)}] AS sold_on
    FROM all_stays LEFT JOIN seen USING (car, nth) LEFT JOIN accepted USING (car, nth)
    WHERE first_seen IS NOT NULL OR begins <= 0 AND ends >= ${numberLiteral(days)}`;
}

/**
 * Pairs the claims to a car, earlier first; most cars have one. `relation` is their relation, `taken_on` the day on which the later claim's dealer
 * takes the car over.
 */
const claimPairs = sql`
  WITH paired AS (
    SELECT *, row_number() OVER claims_of AS rank, lead(dealer) OVER claims_of AS next_dealer, lead(first_seen) OVER claims_of AS next_seen,
           lead(gone_on) OVER claims_of AS next_gone, lead(is_seen_twice) OVER claims_of AS next_twice, lead(sold_on) OVER claims_of AS next_sold, lead(nth) OVER claims_of AS next_nth
    FROM claims WINDOW claims_of AS (PARTITION BY car ORDER BY first_seen, nth)
  )
  SELECT *, CASE
      WHEN next_dealer IS NULL THEN 'single claim'
      WHEN next_dealer = dealer AND coalesce(gone_on, 100000) >= next_seen THEN 'continued'
      WHEN next_dealer = dealer THEN 'returned'
      WHEN coalesce(next_gone, 100000) <= coalesce(gone_on, 100000) THEN 'contender lost'
      ELSE 'taken over' END AS relation,
    if(next_dealer <> dealer AND gone_on < coalesce(next_gone, 100000), greatest(next_seen, gone_on), NULL) AS taken_on
  FROM paired WHERE rank = 1`;

/** The first listing of each car: its first day, and the days on which it becomes missing, can be sold, or is replaced (`next_on`). */
const firstListings = sql`
  SELECT relation, first_seen AS listed_on, CASE relation WHEN 'continued' THEN next_gone ELSE gone_on END AS missing_on,
         CASE relation WHEN 'continued' THEN next_sold ELSE sold_on END AS sold_on, is_seen_twice OR relation = 'continued' AS is_seen_twice,
         CASE relation WHEN 'returned' THEN next_seen WHEN 'taken over' THEN taken_on END AS next_on FROM claim_pairs`;

/** The second listing of each car, after a takeover, a return, or a new start at the same dealer. */
const secondListings = sql`
  SELECT relation, taken_on AS listed_on, next_gone AS missing_on, next_sold AS sold_on, next_twice AS is_seen_twice FROM claim_pairs WHERE relation = 'taken over'
  UNION ALL
  SELECT if(is_sold_before, 'relisted', 'returned'), next_seen, next_gone, next_sold, next_twice OR NOT is_sold_before
  FROM (SELECT *, coalesce(sold_on < next_seen, false) AND is_seen_twice AS is_sold_before FROM claim_pairs WHERE relation = 'returned')`;

/** Everything that happens to listings, counted by day and event. */
const events = sql`
  WITH first_listings AS (${firstListings}), second_listings AS (${secondListings}),
  with_sale AS (SELECT *, CASE WHEN is_seen_twice AND sold_on < coalesce(next_on, 100000) THEN sold_on END AS effective_sold_on FROM first_listings)
  SELECT listed_on AS day, 'listed' AS event, count(*) AS n FROM first_listings GROUP BY ALL
  UNION ALL SELECT missing_on, 'missing', count(*) FROM first_listings WHERE missing_on < coalesce(next_on, 100000) GROUP BY ALL
  UNION ALL SELECT effective_sold_on, 'sold', count(*) FROM with_sale WHERE effective_sold_on IS NOT NULL GROUP BY ALL
  UNION ALL SELECT missing_on + ${numberLiteral(endedAfterDays)}, 'expired', count(*) FROM with_sale WHERE effective_sold_on IS NULL AND missing_on + ${numberLiteral(endedAfterDays)} < coalesce(next_on, 100000) GROUP BY ALL
  UNION ALL SELECT next_on, 'transferred', count(*) FROM with_sale WHERE relation = 'taken over' AND effective_sold_on IS NULL GROUP BY ALL
  UNION ALL SELECT next_on, 'superseded', count(*) FROM first_listings WHERE relation = 'taken over' AND missing_on >= next_on GROUP BY ALL
  UNION ALL SELECT listed_on, if(relation = 'returned', 'returned', 'listed'), count(*) FROM second_listings GROUP BY ALL
  UNION ALL SELECT listed_on, 'relisted', count(*) FROM second_listings WHERE relation = 'relisted' GROUP BY ALL
  UNION ALL SELECT missing_on, 'missing', count(*) FROM second_listings WHERE missing_on IS NOT NULL GROUP BY ALL
  UNION ALL SELECT sold_on, 'sold', count(*) FROM second_listings WHERE sold_on IS NOT NULL AND is_seen_twice GROUP BY ALL
  UNION ALL SELECT missing_on + ${numberLiteral(endedAfterDays)}, 'expired', count(*) FROM second_listings WHERE missing_on IS NOT NULL AND (sold_on IS NULL OR NOT is_seen_twice) GROUP BY ALL`;

/** Claims that do not win, with the days on which they are contenders. */
const contenders = sql`
  SELECT car, next_nth AS nth, next_seen AS from_day, coalesce(CASE relation WHEN 'contender lost' THEN next_gone ELSE taken_on END, 100000) AS end_day
  FROM claim_pairs WHERE relation IN ('contender lost', 'taken over')`;
