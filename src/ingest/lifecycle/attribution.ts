/**
 * Attribution: chooses one owner for each VIN among the dealers that claim it, by the rules of `listing/lifecycle-rules.ts`. Every claim is recorded
 * with the rule that decided. Searches list each VIN once (operation `searchListings`).
 */
import type { Session } from "../../db/duckdb.ts";
import { type Sql, sql } from "../../db/sql.ts";
import { decidedClaims, onlyClaimant } from "../../listing/lifecycle-rules.ts";
import type { Spellings } from "../normalize/vocabularies.ts";

/**
 * Creates the table `claims_today` (vin, dealer_id, claimed_since, sighted_on, is_owner, decided_by, file, row): one row per VIN and claiming
 * dealer.
 *
 * A dealer claims every VIN that it delivered. Its earlier claims stand while it delivers nothing or a collapsed feed, and lapse once it is
 * silent.
 */
export async function attributeClaims(session: Session, spellings: Spellings, day: string): Promise<void> {
  await createCurrentClaims(session, spellings, day);
  const areContested = await session.hasRows(sql`FROM current_claims GROUP BY vin HAVING count(*) > 1`);
  if (areContested) await createContestedClaims(session, day);
  await session.createTempTable("claims_today", areContested ? rankedClaims(day) : uncontestedClaims(day));
  await session.drop("current_claims", "contested_claims");
}

/** Creates the table `current_claims`: claims delivered today, and earlier claims that still stand. */
async function createCurrentClaims(session: Session, spellings: Spellings, day: string): Promise<void> {
  await session.createTempTable(
    "current_claims",
    sql`
    SELECT vin, dealer_id, ${day}::DATE AS sighted_on, file, "row", price IS NOT NULL AS has_price,
           coalesce(len(photo_urls), 0) > 0 AS has_photos,
           coalesce(inventory_type = 'new' AND list_contains(dealer_keys.makes, make_spellings.spelling), false) AS is_new_at_franchise
    FROM parsed_inventory
    JOIN dealer_keys USING (dealer_id)
    LEFT JOIN ${spellings.table("make")} AS make_spellings ON make_spellings.raw_value = parsed_inventory.make`,
  );
  if (await session.hasRows(sql`FROM feeds_today WHERE ${keepsClaims}`)) await addStandingClaims(session);
}

/** A condition on a dealer of `feeds_today`: its earlier claims stand. */
const keepsClaims = sql`NOT is_accepted AND NOT is_silent`;

const addStandingClaims = (session: Session): Promise<void> =>
  session.run(sql`
    INSERT INTO current_claims BY NAME
    SELECT claims.vin, claims.dealer_id, claims.last_seen AS sighted_on, claims.file, claims."row", claims.price IS NOT NULL AS has_price,
           coalesce(len(claims.photo_urls), 0) > 0 AS has_photos,
           coalesce(claims.inventory_type = 'new' AND list_contains(dealer_keys.makes, claims.make), false) AS is_new_at_franchise
    FROM yesterday_claimed AS claims
    JOIN feeds_today USING (dealer_id)
    JOIN dealer_keys USING (dealer_id)
    WHERE ${keepsClaims}
      AND NOT EXISTS (FROM current_claims WHERE current_claims.vin = claims.vin AND current_claims.dealer_id = claims.dealer_id)`);

const previousClaims = sql`(SELECT vin, dealer_id, claimed_since FROM yesterday_claimed)`;

/** Creates the table `contested_claims`: the claims to VINs that several dealers claim, with everything that the rules read. */
async function createContestedClaims(session: Session, day: string): Promise<void> {
  await session.createTempTable(
    "contested_claims",
    sql`
    SELECT claims.*, coalesce(owners.dealer_id = claims.dealer_id, false) AS is_current_owner,
           coalesce(previous.claimed_since, ${day}::DATE) AS claimed_since
    FROM current_claims AS claims
    JOIN (SELECT vin FROM current_claims GROUP BY vin HAVING count(*) > 1) USING (vin)
    LEFT JOIN (SELECT vin, dealer_id FROM yesterday) AS owners USING (vin)
    LEFT JOIN ${previousClaims} AS previous ON previous.vin = claims.vin AND previous.dealer_id = claims.dealer_id`,
  );
}

/** All current claims, each the only one to its VIN. */
const uncontestedClaims = (day: string): Sql => sql`
  SELECT vin, dealer_id, coalesce(previous.claimed_since, ${day}::DATE) AS claimed_since, sighted_on, true AS is_owner,
         ${onlyClaimant} AS decided_by, file, "row"
  FROM current_claims LEFT JOIN ${previousClaims} AS previous USING (vin, dealer_id)`;

/** All current claims with their outcome. An uncontested claim wins. */
const rankedClaims = (day: string): Sql => sql`
  SELECT claims.vin, claims.dealer_id, coalesce(previous.claimed_since, ${day}::DATE) AS claimed_since, sighted_on,
         coalesce(decided.is_owner, true) AS is_owner, coalesce(decided.decided_by, ${onlyClaimant}) AS decided_by, file, "row"
  FROM current_claims AS claims
  LEFT JOIN (${decidedClaims(sql`contested_claims`)}) AS decided ON decided.vin = claims.vin AND decided.dealer_id = claims.dealer_id
  LEFT JOIN ${previousClaims} AS previous ON previous.vin = claims.vin AND previous.dealer_id = claims.dealer_id`;

/** Keeps the last row of each VIN and dealer in `parsed_inventory` and records the others as merged. */
export async function mergeDuplicateRows(session: Session): Promise<void> {
  await session.createTempTable(
    "merged_rows",
    sql`SELECT file, "row", vin, dealer_id FROM parsed_inventory
        JOIN (SELECT vin, dealer_id FROM parsed_inventory GROUP BY ALL HAVING count(*) > 1) USING (vin, dealer_id)
        QUALIFY row_number() OVER (PARTITION BY vin, dealer_id ORDER BY file DESC, "row" DESC) > 1`,
  );
  await session.run(sql`
    INSERT INTO issues
    SELECT 'merged', 'inventory', file, "row", vin, dealer_id, 'vin', vin, 'replaced by a later row of this VIN and dealer' FROM merged_rows`);
  await session.run(sql`
    DELETE FROM parsed_inventory USING merged_rows
    WHERE parsed_inventory.file = merged_rows.file AND parsed_inventory."row" = merged_rows."row"`);
  await session.drop("merged_rows");
}
