/** Creates the dealers of the demo market: franchised stores and independents, located by population, some of them in groups. */
import type { Session } from "../../db/duckdb.ts";
import { numberLiteral, type Sql, sql } from "../../db/sql.ts";
import {
  failureFreeDays,
  largeDealerSlots,
  listingMix,
  type MarketShape,
  unitedStates,
  vacancyShare,
} from "../market-shape.ts";
import type { RandomDraws } from "../random.ts";
import { priceLevelOf } from "../vehicles/prices.ts";

/** A smaller market has fewer and smaller dealers: with very few stores of a make, one of them would decide what is common in its state. */
const dealersExponent = 0.75;
/** Standard deviation of the logarithm of dealer size. */
const sizeDeviation = 0.8;
/** Share of franchised dealers that belong to a group. */
const groupedShare = 0.4;
const storesPerGroup = 4;
/** Share of dealers whose feeds have no version of used cars. */
const versionlessShare = 1 / 3;
/** Share of dealers with a writing style (see `inventory.ts`). */
const habitShare = 0.25;

/**
 * Creates the tables `slot_counts` (the number of `slots` per dealer, inventory type and make, numbered from `first_slot` in the market and from
 * `first_slot_at_dealer` at the dealer) and `dealers` (one row each: feed fields, `slots`, `closes_on`, and `sister`, another store of its group).
 */
export async function createDealers(session: Session, draws: RandomDraws, shape: MarketShape): Promise<void> {
  const scale = (shape.listings / unitedStates.listings) ** dealersExponent;
  const dealer = sql`dealer`;
  await session.createTempTable("stores", stores(scale, draws));
  await session.createTempTable("slot_counts", slotCounts(Math.round(shape.listings * (1 + vacancyShare))));
  await session.createTempTable(
    "locations",
    sql`
    WITH spans AS (
      SELECT line, people_before, people, sum(weight) OVER up_to_state / sum(weight) OVER (PARTITION BY line) AS span_end, weight / sum(weight) OVER (PARTITION BY line) AS span
      FROM (SELECT line, state, people_before, people, people * ${appealOfMakes} AS weight
            FROM (SELECT DISTINCT line, makes FROM stores) AS kinds_of_stores CROSS JOIN state_people)
      WINDOW up_to_state AS (PARTITION BY line ORDER BY weight DESC, state ROWS UNBOUNDED PRECEDING)
    ), settled AS (
      SELECT dealer, people_before + people * (position - span_end + span) / span AS person
      FROM (SELECT dealer, line, (copy + ${draws.uniform("place", dealer)}) / copies AS position FROM stores) AS stores
      ASOF JOIN (SELECT *, span_end - span AS span_start FROM spans) AS spans ON stores.line = spans.line AND stores.position >= spans.span_start
    )
    SELECT dealer, postal_code, city, state, region, latitude + (${draws.uniform("north", dealer)} - 0.5) / 100 AS latitude,
           longitude + (${draws.uniform("east", dealer)} - 0.5) / 100 AS longitude
    FROM settled ASOF JOIN zips ON settled.person >= zips.people_before JOIN states_facts USING (state)`,
  );
  await session.createTempTable("dealer_groups", dealerGroups(draws));
  await session.createTempTable("dealers", dealerDetails(draws, shape));
}

/** The mean appeal of the makes of a kind of stores in the region of a row of `state_people`. */
const appealOfMakes = sql`coalesce((SELECT sum(appeal) + len(makes) - count(*) FROM make_appeal
  WHERE make_appeal.region = state_people.region AND list_contains(makes, make)) / len(makes), 1)`;

/** Franchised stores and independents in national proportions, each with its weight (relative size). */
const stores = (scale: number, draws: RandomDraws): Sql => sql`
  SELECT dealer, line, copy, copies, store, makes, named, exp(${numberLiteral(sizeDeviation)} * ${draws.normal("size", sql`dealer`)}) AS weight
  FROM (SELECT row_number() OVER (ORDER BY line, copy) AS dealer, count(*) OVER (PARTITION BY line) AS copies, *
        FROM (SELECT line, store, string_split(makes, '|') AS makes, named, unnest(range(greatest(1, round(rooftops * ${numberLiteral(scale)}))::INTEGER)) AS copy FROM stores_facts
              UNION ALL SELECT 100000, NULL, [], 'independent', unnest(range(${numberLiteral(Math.max(3, Math.round(unitedStates.independentDealers * scale)))}::INTEGER))))`;

/**
 * Distributes slots over dealers: new and certified cars at the stores of their make, used cars everywhere. Quotients of sums are rounded: their last
 * digits depend on the number of threads.
 */
function slotCounts(listings: number): Sql {
  const used = 1 - listingMix.new - listingMix.certified;
  const atStoresOfMake = (kind: "new" | "certified"): Sql => sql`
    SELECT ${kind} AS kind, make, dealer, weight, ${numberLiteral(listingMix[kind])} * share AS share
    FROM (SELECT dealer, weight, unnest(makes) AS make FROM stores)
    JOIN (SELECT make, sum(weight) / sum(sum(weight)) OVER () AS share FROM variant_pools JOIN variants USING (variant)
          WHERE pool = ${kind} || ' ' || make AND make IN (SELECT unnest(makes) FROM stores) GROUP BY make) USING (make)`;
  const franchisedShare = numberLiteral(used * listingMix.usedAtFranchise);
  return sql`
    WITH shares AS (
      ${atStoresOfMake("new")} UNION ALL ${atStoresOfMake("certified")}
      UNION ALL SELECT 'used', own_makes.make, dealer, weight, ${franchisedShare} * ${numberLiteral(listingMix.usedOfOwnMake)} FROM (SELECT dealer, weight / len(makes) AS weight, unnest(makes) AS make FROM stores) AS own_makes
      UNION ALL SELECT 'used', 'any', dealer, weight, ${franchisedShare} * ${numberLiteral(1 - listingMix.usedOfOwnMake)} FROM stores WHERE store IS NOT NULL
      UNION ALL SELECT 'used', 'any', dealer, weight, ${numberLiteral(used * (1 - listingMix.usedAtFranchise))} FROM stores WHERE store IS NULL
    ), normalized AS (
      SELECT kind, make, dealer, share * weight / sum(weight) OVER (PARTITION BY kind, if(kind = 'used', NULL, make), make = 'any', dealer IN (SELECT dealer FROM stores WHERE store IS NULL)) AS normalized_share
      FROM shares
    ), bounded AS (
      SELECT kind, make, dealer, floor(round(${numberLiteral(listings)} * sum(normalized_share) OVER (ORDER BY kind, make, dealer ROWS UNBOUNDED PRECEDING) / sum(normalized_share) OVER (), 6))::BIGINT AS end_slot,
             row_number() OVER (ORDER BY kind, make, dealer) AS line
      FROM normalized
    ), counted AS (
      SELECT kind, make, dealer, line, lag(end_slot, 1, 0) OVER (ORDER BY line) AS first_slot, end_slot - lag(end_slot, 1, 0) OVER (ORDER BY line) AS slots FROM bounded
    )
    SELECT kind, make, dealer, first_slot, slots, (sum(slots) OVER (PARTITION BY dealer ORDER BY line ROWS UNBOUNDED PRECEDING) - slots)::BIGINT AS first_slot_at_dealer
    FROM counted WHERE slots > 0`;
}

/** Groups franchised stores within a region. The sister of a store is the next store of its group. */
const dealerGroups = (draws: RandomDraws): Sql => sql`
  WITH members AS (
    SELECT dealer, region, (row_number() OVER (PARTITION BY region ORDER BY dealer) - 1) // ${numberLiteral(storesPerGroup)} AS group_number
    FROM stores JOIN locations USING (dealer) WHERE named = 'franchise' AND ${draws.occurs("grouped", sql`dealer`, groupedShare)}
  )
  SELECT dealer, min(dealer) OVER members_of_group AS first_store, coalesce(lead(dealer) OVER (PARTITION BY region, group_number ORDER BY dealer), min(dealer) OVER members_of_group) AS next_store
  FROM members WINDOW members_of_group AS (PARTITION BY region, group_number)`;

function dealerDetails(draws: RandomDraws, { days, shares }: MarketShape): Sql {
  const dealer = sql`stores.dealer`;
  const names = (kind: string): Sql => sql`(SELECT string_split(names, '|') FROM names_facts WHERE kind = ${kind})`;
  const closesOn = sql`CASE WHEN dealer_groups.dealer IS NULL AND ${numberLiteral(days)} > ${numberLiteral(2 * failureFreeDays)} AND ${draws.occurs("closes", dealer, shares.closing)}
    THEN ${numberLiteral(failureFreeDays)} + ${draws.integerBelow("closes on", dealer, Math.max(1, days - failureFreeDays))} END`;
  const template = sql`CASE named WHEN 'independent' THEN ${draws.pick("name", dealer, names("independent"))} WHEN 'direct' THEN ${draws.pick("name", dealer, names("direct"))}
    ELSE ${draws.pick("name", dealer, names("franchise"))} END`;
  const surname = draws.pick("surname", sql`coalesce(dealer_groups.first_store, ${dealer})`, names("surname"));
  const name = sql`replace(replace(replace(${template}, '{surname}', ${surname}), '{city}', locations.city), '{store}', coalesce(store, ''))`;
  return sql`
    WITH sized AS (SELECT dealer, sum(slots)::INTEGER AS slots FROM slot_counts GROUP BY dealer), details AS (
      SELECT ${dealer}::INTEGER AS dealer, slots, store, makes, ${name} AS name, md5('dealer ' || ${draws.integerBelow("id", dealer, 2 ** 31 - 1)} || ' ' || ${dealer})::UUID::VARCHAR AS dealer_id,
             (100 + ${draws.integerBelow("house", dealer, 9800)}) || ' ' || ${draws.pick("street", dealer, names("street"))} AS line1, city, state, locations.region, postal_code,
             round(latitude, 4) AS latitude, round(longitude, 4) AS longitude, '(' || area_code || ') 555-' || lpad((100 + ${draws.integerBelow("phone", dealer, 100)})::VARCHAR, 4, '0') AS phone,
             ${closesOn} AS closes_on, slots >= ${numberLiteral(largeDealerSlots)} AS is_large, dealer_groups.next_store,
             if(${draws.occurs("has habit", dealer, habitShare)}, ${draws.integerBelow("habit", dealer, 7)}, NULL) AS habit, ${draws.integerBelow("hour", dealer, 6 * 3600)} AS reads_at,
             ${priceLevelOf(draws, dealer)} AS price_level, ${draws.occurs("omits versions", dealer, versionlessShare)} AS omits_versions,
             ${draws.pick("ending", dealer, sql`[-1, 95, 95, 90, 98, 0, 88, 99]`)} AS price_ending
      FROM stores JOIN sized USING (dealer) JOIN locations USING (dealer) JOIN states_facts USING (state) LEFT JOIN dealer_groups USING (dealer)
    )
    SELECT details.*, CASE WHEN details.is_large AND sister.is_large AND sister.dealer <> details.dealer THEN sister.dealer END AS sister,
           regexp_replace(lower(strip_accents(details.name)), '[^a-z0-9]', '', 'g') || details.dealer || '.example' AS host
    FROM details LEFT JOIN details AS sister ON sister.dealer = details.next_store ORDER BY details.dealer`;
}
