/**
 * Attributes each VIN to one owner among the dealers that claim it, by rules in a fixed order (section 1 of the
 * specification: public inventory is deduplicated by VIN). Every claim is kept, with the rule that decided.
 */
import { join, name, type Sql, sql } from "../base/sql.ts";
import type { Session } from "../lake/duckdb.ts";

/** The rules, strongest first: the claim with the smaller value wins. All read a row of `contested`. */
const rules: readonly (readonly [rule: string, rank: Sql])[] = [
  ["current owner", sql`if(is_current_owner, 0, 1)`],
  ["franchise of the make", sql`if(is_new_at_franchise, 0, 1)`],
  ["has a price", sql`if(price IS NULL, 1, 0)`],
  ["has photos", sql`if(coalesce(len(photo_urls), 0) = 0, 1, 0)`],
  ["earliest claim", sql`claimed_since`],
  ["lowest dealer id", sql`dealer_id`],
];

/**
 * Makes `claims_today` (columns of the claims table): one row for each VIN and dealer that claims it as of the day. A dealer
 * that delivered claims what it delivered; one that did not keeps the claims it had.
 */
export async function attributeClaims(session: Session, day: string): Promise<void> {
  await mergeTwice(session);
  await session.keep(
    "sighted",
    sql`
    SELECT vin, dealer_id, coalesce(earlier.claimed_since, ${day}::DATE) AS claimed_since, ${day}::DATE AS sighted_on, file, "row",
           inventory_type = 'new' AND list_contains(dealer_keys.makes, spelling_of_make.spelling) AS is_new_at_franchise,
           price, photo_urls
    FROM parsed_inventory
    JOIN dealer_keys USING (dealer_id)
    LEFT JOIN spelling_of_make ON spelling_of_make.as_written = parsed_inventory.make
    LEFT JOIN (SELECT vin, dealer_id, claimed_since FROM lake_claims) AS earlier USING (vin, dealer_id)`,
  );
  await session.keep(
    "standing",
    sql`
    SELECT vin, dealer_id, claimed_since, sighted_on, file, "row" FROM lake_claims AS earlier
    WHERE dealer_id NOT IN (SELECT dealer_id FROM delivered)`,
  );
  await session.keep(
    "contested",
    sql`
    SELECT claims.*, coalesce(owners.dealer_id = claims.dealer_id, false) AS is_current_owner
    FROM (FROM sighted UNION ALL BY NAME FROM standing) AS claims
    JOIN (SELECT vin FROM (FROM sighted UNION ALL BY NAME FROM standing) GROUP BY vin HAVING count(*) > 1) USING (vin)
    LEFT JOIN (SELECT vin, dealer_id FROM lake_claims WHERE is_owner) AS owners USING (vin)`,
  );
  await session.keep(
    "claims_today",
    sql`
    WITH ranked AS (
      SELECT vin, dealer_id, row_number() OVER claims_of_vin AS place, ${decidingRule()} AS decided_by
      FROM contested WINDOW claims_of_vin AS (PARTITION BY vin ORDER BY ${join(rules.map(([, rank]) => rank))})
    )
    SELECT claims.vin, claims.dealer_id, claimed_since, sighted_on, coalesce(place = 1, true) AS is_owner,
           coalesce(first_value(decided_by) OVER (PARTITION BY claims.vin ORDER BY place), 'only claimant') AS decided_by, file, "row"
    FROM (FROM sighted UNION ALL BY NAME FROM standing) AS claims LEFT JOIN ranked USING (vin, dealer_id)`,
  );
  await session.drop("sighted", "standing", "contested");
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
  await session.keep(
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

/** Makes `delivered` (dealer_id, delivered_at, rows): the dealers whose inventory of the day is in this delivery. */
export async function noteDelivered(session: Session, day: string): Promise<void> {
  const midnight = sql`${`${day} 00:00:00`}::TIMESTAMP`;
  await session.keep(
    "delivered",
    sql`
    SELECT dealer_id, coalesce(max(delivered_at), ${midnight}) AS delivered_at, count(file)::INTEGER AS ${name("rows")}
    FROM (SELECT dealer_id, NULL::TIMESTAMP AS delivered_at, file FROM parsed_inventory
          UNION ALL SELECT dealer_id, delivered_at, NULL FROM parsed_deliveries)
    GROUP BY dealer_id`,
  );
}
