/** Judges each dealer's feed of a day: delivered or not, accepted or collapsed, and whether the dealer has fallen silent. */
import type { Session } from "../../db/duckdb.ts";
import { sql } from "../../db/sql.ts";
import { life } from "../../listing/life.ts";
import { feedVerdict, isSilent } from "../../listing/lifecycle-rules.ts";

/**
 * Creates the table `deliveries_today`: one row per dealer that ever delivered, with the columns of the deliveries table except `owned`, and
 * `is_accepted` (VINs that are not in the feed are absent) and `is_silent` (the dealer's claims lapse).
 */
export async function judgeDeliveries(session: Session, day: string): Promise<void> {
  const delivered = sql`
    SELECT dealer_id, max(delivered_at) AS delivered_at, max(observed_at) AS observed_at, count(DISTINCT vin)::INTEGER AS vins
    FROM (SELECT dealer_id, vin, NULL::TIMESTAMP AS delivered_at, observed_at FROM parsed_inventory
          UNION ALL SELECT dealer_id, NULL, delivered_at, NULL FROM parsed_deliveries)
    GROUP BY dealer_id`;
  const verdict = feedVerdict({
    vins: sql`delivered.vins`,
    acceptedVins: sql`previous.accepted_vins`,
    collapsedInARow: sql`coalesce(previous.collapsed_in_a_row, 0)`,
  });
  await session.createTempTable(
    "deliveries_today",
    sql`
    WITH judged AS (
      SELECT dealer_id, CASE WHEN delivered.vins IS NULL THEN 'none' ELSE ${verdict} END AS verdict,
             CASE WHEN delivered.vins IS NOT NULL THEN coalesce(delivered_at, ${`${day} 00:00:00`}::TIMESTAMP) END AS delivered_at,
             delivered.observed_at, delivered.vins, previous.last_delivered_on, previous.accepted_vins, coalesce(previous.collapsed_in_a_row, 0) AS collapsed_in_a_row,
             previous.last_delivered_at, coalesce(previous.deliveries, 0) AS deliveries,
             coalesce(previous.accepted_deliveries, 0) AS accepted_deliveries
      FROM (${delivered}) AS delivered
      FULL JOIN (SELECT * EXCLUDE (delivered_at, vins, verdict, dealer_key, delivery_date) FROM lake_deliveries) AS previous USING (dealer_id)
    ), keyed AS (
      SELECT *, verdict <> 'none' AS is_delivered, verdict IN ('accepted', 'resized') AS is_accepted
      FROM judged JOIN (SELECT dealer_id, dealer_key FROM dealer_keys) USING (dealer_id)
    )
    SELECT dealer_id, verdict, delivered_at, vins, if(verdict = 'none', last_delivered_on, ${day}::DATE) AS last_delivered_on,
           CASE verdict WHEN 'accepted' THEN list_append(accepted_vins, vins)[-${life.usualFeeds}:] WHEN 'resized' THEN [vins]
             ELSE accepted_vins END AS accepted_vins,
           CASE verdict WHEN 'collapsed' THEN collapsed_in_a_row + 1 WHEN 'none' THEN collapsed_in_a_row ELSE 0 END AS collapsed_in_a_row,
           dealer_key, if(is_delivered, greatest(delivered_at, observed_at), last_delivered_at) AS last_delivered_at,
           deliveries + is_delivered::INTEGER AS deliveries, accepted_deliveries + is_accepted::INTEGER AS accepted_deliveries,
           is_accepted, verdict = 'none' AND ${isSilent(sql`${day}::DATE - last_delivered_on`)} AS is_silent
    FROM keyed`,
  );
}
