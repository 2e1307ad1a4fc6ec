/** Judges each dealer's feed of a day: delivered or not, accepted or collapsed, and whether the dealer has fallen silent. */
import type { Session } from "../../db/duckdb.ts";
import { type Sql, sql } from "../../db/sql.ts";
import type { DecisionName, FeedDecision } from "../../lake/feed-decisions.ts";
import {
  type CollapseThresholds,
  type ComparedFeed,
  collapseOf,
  feedVerdict,
  isSilent,
  life,
  vinsMinOf,
} from "../../listing/lifecycle-rules.ts";

/** By what the feeds of a day are judged. */
export interface FeedJudgement {
  readonly thresholds: CollapseThresholds;
  /** What operators have decided about feeds that collapsed, and about silent dealers. */
  readonly decisions: readonly FeedDecision[];
}

/**
 * Creates the table `feeds_today`: one row per dealer that ever delivered, with the columns of the feeds table except `owned`, and
 * `is_accepted` (VINs that are not in the feed are absent) and `is_silent` (the dealer's claims lapse). Removes the rows of feeds whose prices
 * collapsed, and of rejected ones, from `parsed_inventory`, and records them as held: the listings stay as they were. Records the files of feeds whose
 * rows collapsed.
 */
export async function judgeFeeds(session: Session, day: string, judgement: FeedJudgement): Promise<void> {
  const { thresholds } = judgement;
  const feed: ComparedFeed = {
    vins: sql`vins`,
    acceptedVins: sql`usual_vins`,
    collapsedInARow: sql`counted_in_a_row`,
    knownPrices: sql`if(released_vins IS NULL, known_prices, 0)`,
    jumpedPrices: sql`jumped_prices`,
    isReleased: sql`is_released`,
    isRejected: sql`is_rejected`,
  };
  await session.createTempTable(
    "feeds_today",
    sql`
    WITH compared AS (${comparedFeeds(day, judgement)}), judged AS (
      SELECT *, CASE WHEN vins IS NULL THEN 'none' ELSE ${feedVerdict(feed, thresholds)} END AS verdict, 
             if(is_rejected, 'rejected', ${collapseOf(feed, thresholds)}) AS collapse,
             ${vinsMinOf(sql`usual_vins`, thresholds)} AS min_vins
      FROM compared JOIN (SELECT dealer_id, dealer_key FROM dealer_keys) USING (dealer_id)
    ), keyed AS (SELECT *, verdict <> 'none' AS is_delivered, verdict IN ('accepted', 'resized') AS is_accepted FROM judged)
    SELECT dealer_id, verdict, delivered_at, vins, if(verdict = 'none', last_delivered_on, ${day}::DATE) AS last_delivered_on,
           CASE verdict WHEN 'accepted' THEN list_append(usual_vins, vins)[-${life.usualFeeds}:] WHEN 'resized' THEN [vins]
             ELSE accepted_vins END AS accepted_vins,
           CASE verdict WHEN 'collapsed' THEN counted_in_a_row + 1 WHEN 'none' THEN collapsed_in_a_row ELSE 0 END AS collapsed_in_a_row,
           dealer_key, if(is_delivered, greatest(delivered_at, observed_at), last_delivered_at) AS last_delivered_at,
           feeds + is_delivered::INTEGER AS feeds, accepted_feeds + is_accepted::INTEGER AS accepted_feeds,
           if(verdict = 'collapsed', collapse, NULL) AS collapse, if(is_delivered, min_vins, NULL) AS min_vins,
           if(is_delivered, known_prices, NULL) AS known_prices, if(is_delivered, jumped_prices, NULL) AS jumped_prices,
           is_accepted, verdict = 'none' AND (is_ended OR (${isSilent(sql`${day}::DATE - last_delivered_on`)} AND NOT is_awaited)) AS is_silent
    FROM keyed`,
  );
  if (await session.hasRows(sql`FROM feeds_today WHERE verdict = 'collapsed'`)) await recordCollapsed(session);
  if (await session.hasRows(sql`FROM (${heldDealers})`)) await holdRows(session);
}

/**
 * Today's feeds beside what their dealers delivered before. A released feed is the dealer's usual one for the next, whose prices are not judged; a
 * rejected one is none of the collapsed feeds in a row before the next.
 */
function comparedFeeds(day: string, { thresholds, decisions }: FeedJudgement): Sql {
  const delivered = sql`
    SELECT dealer_id, max(delivered_at) AS delivered_at, max(observed_at) AS observed_at, count(DISTINCT vin)::INTEGER AS vins
    FROM (SELECT dealer_id, vin, NULL::TIMESTAMP AS delivered_at, observed_at FROM parsed_inventory
          UNION ALL SELECT dealer_id, NULL, delivered_at, NULL FROM parsed_deliveries)
    GROUP BY dealer_id`;
  const vinsOf = (decision: DecisionName, on: Sql): Sql => decidedVins(decisions, decision, on);
  const previous = sql`
    SELECT * EXCLUDE (delivered_at, vins, verdict, dealer_key, delivery_date, collapse, min_vins, known_prices, jumped_prices),
           if(collapsed_in_a_row > 0, ${vinsOf("release", sql`last_delivered_on`)}, NULL) AS released_vins,
           collapsed_in_a_row > 0 AND ${vinsOf("reject", sql`last_delivered_on`)} IS NOT NULL AS was_rejected,
           ${vinsOf("wait", sql`delivery_date`)} IS NOT NULL AS was_awaited, ${vinsOf("end", sql`delivery_date`)} IS NOT NULL AS was_ended
    FROM lake_feeds`;
  return sql`
    SELECT dealer_id, CASE WHEN vins IS NOT NULL THEN coalesce(delivered_at, ${`${day} 00:00:00`}::TIMESTAMP) END AS delivered_at, observed_at, vins,
           last_delivered_on, last_delivered_at, released_vins, accepted_vins, if(released_vins IS NULL, accepted_vins, [released_vins]) AS usual_vins,
           coalesce(collapsed_in_a_row, 0) AS collapsed_in_a_row, coalesce(collapsed_in_a_row - was_rejected::INTEGER, 0) AS counted_in_a_row, coalesce(feeds, 0) AS feeds, coalesce(accepted_feeds, 0) AS accepted_feeds,
           coalesce(known_prices, 0)::INTEGER AS known_prices, coalesce(jumped_prices, 0)::INTEGER AS jumped_prices,
           ${vinsOf("release", sql`DATE ${day}`)} IS NOT NULL AS is_released, ${vinsOf("reject", sql`DATE ${day}`)} IS NOT NULL AS is_rejected,
           coalesce(was_awaited, false) OR ${vinsOf("wait", sql`DATE ${day}`)} IS NOT NULL AS is_awaited,
           coalesce(was_ended, false) OR ${vinsOf("end", sql`DATE ${day}`)} IS NOT NULL AS is_ended
    FROM (${delivered}) FULL JOIN (${previous}) USING (dealer_id) LEFT JOIN (${comparedPrices(thresholds)}) USING (dealer_id)`;
}

/** The number of VINs of the dealer's feed of a day if operators have decided so about it, else null. */
function decidedVins(decisions: readonly FeedDecision[], decision: DecisionName, on: Sql): Sql {
  const feeds = decisions.filter((one) => one.decision === decision);
  if (feeds.length === 0) return sql`NULL::INTEGER`;
  const names = feeds.map(({ dealer_id, day }) => `${dealer_id} ${day}`);
  return sql`map(${names}, ${feeds.map(({ vins }) => vins)})[dealer_id || ' ' || (${on})::VARCHAR]`;
}

/** The prices of each dealer that were known the day before, and those that jumped. Requires one row for each VIN and dealer. */
const comparedPrices = ({ jumpFactor }: CollapseThresholds): Sql => sql`
  SELECT dealer_id, count(*) AS known_prices,
         count_if(now.price IS NULL OR now.price > ${jumpFactor} * was.price OR was.price > ${jumpFactor} * now.price) AS jumped_prices
  FROM (SELECT vin, dealer_id, price FROM yesterday_claimed WHERE price IS NOT NULL) AS was
  JOIN parsed_inventory AS now USING (vin, dealer_id) GROUP BY dealer_id`;

const heldDealers = sql`SELECT dealer_id FROM feeds_today WHERE collapse IN ('prices', 'rejected')`;

/** Records the files of feeds whose rows collapsed, each with the first of its rows: the held rows of other feeds name theirs. */
const recordCollapsed = (session: Session): Promise<void> =>
  session.run(sql`
    INSERT INTO issues
    SELECT 'collapsed', 'inventory', file, min("row"), NULL, dealer_id, 'vin', count(*)::VARCHAR, 'the rows of the feed collapsed'
    FROM parsed_inventory SEMI JOIN (SELECT dealer_id FROM feeds_today WHERE collapse = 'rows') USING (dealer_id) GROUP BY dealer_id, file`);

async function holdRows(session: Session): Promise<void> {
  await session.run(sql`
    INSERT INTO issues
    SELECT 'held', 'inventory', file, "row", vin, dealer_id, if(collapse = 'prices', 'price', 'vin'), if(collapse = 'prices', price::VARCHAR, vin),
           if(collapse = 'prices', 'the prices of the feed collapsed', 'an operator rejected the feed')
    FROM parsed_inventory JOIN (SELECT dealer_id, collapse FROM feeds_today WHERE dealer_id IN (${heldDealers})) USING (dealer_id)`);
  await session.run(sql`DELETE FROM parsed_inventory WHERE dealer_id IN (${heldDealers})`);
}
