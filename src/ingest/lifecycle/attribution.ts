/**
 * Attributes each VIN to one owner among the dealers that claim it, by rules in a fixed order (section 1 of the
 * specification: public inventory is deduplicated by VIN). Every claim is kept, with the rule that decided.
 */

import type { Session } from "../../db/duckdb.ts";
import { join, type Sql, sql } from "../../db/sql.ts";
import type { Spellings } from "../normalize/vocabularies.ts";

/** The rules, strongest first: the claim with the smaller value wins. All read a row of `contested`. */
const rules: readonly (readonly [rule: string, rank: Sql])[] = [
  ["current owner", sql`if(is_current_owner, 0, 1)`],
  ["franchise of the make", sql`if(is_new_at_franchise, 0, 1)`],
  ["has a price", sql`if(has_price, 0, 1)`],
  ["has photos", sql`if(has_photos, 0, 1)`],
  ["earliest claim", sql`claimed_since`],
  ["lowest dealer id", sql`dealer_id`],
];

/**
 * Makes `claims_today` (columns of the claims table): one row for each VIN and dealer that claims it as of the day. A dealer
 * claims what it delivered. What it claimed before stands while it delivers nothing, or a feed that is not believed, and
 * falls when it has been silent for too long.
 */
export async function attributeClaims(session: Session, spellings: Spellings, day: string): Promise<void> {
  await mergeTwice(session);
  await session.createTempTable(
    "sighted",
    sql`
    SELECT vin, dealer_id, ${day}::DATE AS sighted_on, file, "row", price IS NOT NULL AS has_price,
           coalesce(len(photo_urls), 0) > 0 AS has_photos,
           coalesce(inventory_type = 'new' AND list_contains(dealer_keys.makes, spelled_makes.spelling), false) AS is_new_at_franchise
    FROM parsed_inventory
    JOIN dealer_keys USING (dealer_id)
    LEFT JOIN ${spellings.table("make")} AS spelled_makes ON spelled_makes.as_written = parsed_inventory.make`,
  );
  await session.createTempTable(
    "standing",
    sql`
    SELECT claims.vin, claims.dealer_id, claims.sighted_on, claims.file, claims."row", known.price IS NOT NULL AS has_price,
           coalesce(len(known.photo_urls), 0) > 0 AS has_photos,
           coalesce(known.inventory_type = 'new' AND list_contains(dealer_keys.makes, known.make), false) AS is_new_at_franchise
    FROM lake_claims AS claims
    JOIN deliveries_today USING (dealer_id)
    JOIN dealer_keys USING (dealer_id)
    JOIN (FROM yesterday_claimed) AS known USING (vin, dealer_id)
    WHERE NOT is_accepted AND NOT is_silent AND NOT EXISTS (FROM sighted WHERE sighted.vin = claims.vin AND sighted.dealer_id = claims.dealer_id)`,
  );
  await session.createTempTable("claimed", sql`FROM sighted UNION ALL BY NAME FROM standing`);
  await session.drop("sighted", "standing");
  await session.createTempTable(
    "contested",
    sql`
    SELECT claimed.*, coalesce(owners.dealer_id = claimed.dealer_id, false) AS is_current_owner,
           coalesce(earlier.claimed_since, ${day}::DATE) AS claimed_since
    FROM claimed
    JOIN (SELECT vin FROM claimed GROUP BY vin HAVING count(*) > 1) USING (vin)
    LEFT JOIN (SELECT vin, dealer_id FROM yesterday) AS owners USING (vin)
    LEFT JOIN (SELECT vin, dealer_id, claimed_since FROM lake_claims) AS earlier ON earlier.vin = claimed.vin AND earlier.dealer_id = claimed.dealer_id`,
  );
  await session.createTempTable(
    "claims_today",
    sql`
    WITH ranked AS (
      SELECT vin, dealer_id, row_number() OVER claims_of_vin AS place, ${decidingRule()} AS decided_by
      FROM contested WINDOW claims_of_vin AS (PARTITION BY vin ORDER BY ${join(rules.map(([, rank]) => rank))})
    ), decided AS (
      SELECT vin, dealer_id, place = 1 AS is_owner, first_value(decided_by) OVER (PARTITION BY vin ORDER BY place) AS decided_by FROM ranked
    )
    SELECT claimed.vin, claimed.dealer_id, coalesce(earlier.claimed_since, ${day}::DATE) AS claimed_since, sighted_on,
           coalesce(decided.is_owner, true) AS is_owner, coalesce(decided.decided_by, 'only claimant') AS decided_by, file, "row"
    FROM claimed
    LEFT JOIN decided ON decided.vin = claimed.vin AND decided.dealer_id = claimed.dealer_id
    LEFT JOIN (SELECT vin, dealer_id, claimed_since FROM lake_claims) AS earlier ON earlier.vin = claimed.vin AND earlier.dealer_id = claimed.dealer_id`,
  );
  await session.drop("claimed", "contested");
}

/** The first rule in which a claim differs from the next one of its VIN. */
function decidingRule(): Sql {
  const cases = rules.map(
    ([rule, rank]) => sql`WHEN ${rank} IS DISTINCT FROM lead(${rank}) OVER claims_of_vin THEN ${rule}`,
  );
  return sql`CASE ${join(cases, sql` `)} END`;
}

/** Two rows of one VIN in one dealer's day: the later one counts, the other is recorded as merged. */
async function mergeTwice(session: Session): Promise<void> {
  await session.createTempTable(
    "merged",
    sql`SELECT file, "row", vin, dealer_id FROM parsed_inventory
        JOIN (SELECT vin, dealer_id FROM parsed_inventory GROUP BY ALL HAVING count(*) > 1) USING (vin, dealer_id)
        QUALIFY row_number() OVER (PARTITION BY vin, dealer_id ORDER BY file DESC, "row" DESC) > 1`,
  );
  await session.run(sql`
    INSERT INTO issues SELECT 'merged', 'inventory', file, "row", vin, dealer_id, 'vin', vin, 'a later row of this VIN and dealer counts' FROM merged`);
  await session.run(sql`
    DELETE FROM parsed_inventory USING merged
    WHERE parsed_inventory.file = merged.file AND parsed_inventory."row" = merged."row"`);
  await session.drop("merged");
}
