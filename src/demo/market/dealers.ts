/** The dealers of a market: stores of the makes and independents, where people live, some of them in groups. */

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

/** How uneven dealers' sizes are: the deviation of their logarithm. */
const unevenness = 0.8;
/** How many franchised dealers belong to a group, and how many stores it has. */
const groupedShare = 0.4;
const storesOfGroup = 4;
/** How many dealers write their rows in a way of their own; see `habits.ts`. */
const habitShare = 0.25;

/**
 * Makes `places` (dealer by dealer, how many cars of which kind and make it has room for, from which one on: `first_slot` in the
 * market, `first_place` at the dealer) and `dealers` (one row each, with `slots`, `sister`, `closes_on` and what its feed says of it).
 */
export async function createDealers(session: Session, draws: RandomDraws, shape: MarketShape): Promise<void> {
  const scale = shape.listings / unitedStates.listings;
  const n = sql`dealer`;
  await session.createTempTable("stores", storesTo(scale, draws));
  await session.createTempTable("places", placesOf(Math.round(shape.listings * (1 + vacancyShare))));
  await session.createTempTable(
    "located",
    sql`
    WITH settled AS (
      SELECT dealer, ${draws.uniform("place", n)} * (SELECT max(people_before + population) FROM zips) AS person FROM stores
    )
    SELECT dealer, postal_code, city, state, latitude + (${draws.uniform("north", n)} - 0.5) / 100 AS latitude,
           longitude + (${draws.uniform("east", n)} - 0.5) / 100 AS longitude
    FROM settled ASOF JOIN zips ON settled.person >= zips.people_before`,
  );
  await session.createTempTable("grouped", groups(draws));
  await session.createTempTable("dealers", described(draws, shape));
}

/** Stores of the makes as often as the country has them, and independents, with their weight among the dealers. */
const storesTo = (scale: number, draws: RandomDraws): Sql => sql`
  SELECT dealer, store, makes, named, exp(${numberLiteral(unevenness)} * ${draws.normal("size", sql`dealer`)}) AS weight
  FROM (SELECT row_number() OVER (ORDER BY line, copy) AS dealer, store, makes, named
        FROM (SELECT line, store, string_split(makes, '|') AS makes, named, unnest(range(greatest(1, round(rooftops * ${numberLiteral(scale)}))::INTEGER)) AS copy FROM stores_facts
              UNION ALL SELECT 100000, NULL, [], 'independent', unnest(range(${numberLiteral(Math.max(3, Math.round(unitedStates.independentDealers * scale)))}::INTEGER))))`;

/** Room for cars: new and certified ones at the stores of their make, used ones everywhere. */
function placesOf(listings: number): Sql {
  const used = 1 - listingMix.new - listingMix.certified;
  const ofMakes = (kind: "new" | "certified"): Sql => sql`
    SELECT ${kind} AS kind, make, dealer, weight, ${numberLiteral(listingMix[kind])} * share AS share
    FROM (SELECT dealer, weight, unnest(makes) AS make FROM stores)
    JOIN (SELECT make, sum(weight) / sum(sum(weight)) OVER () AS share FROM variant_pools JOIN variants USING (variant)
          WHERE pool = ${kind} || ' ' || make AND make IN (SELECT unnest(makes) FROM stores) GROUP BY make) USING (make)`;
  const franchised = numberLiteral(used * listingMix.usedAtFranchise);
  return sql`
    WITH wanted AS (
      ${ofMakes("new")} UNION ALL ${ofMakes("certified")}
      UNION ALL SELECT 'used', own.make, dealer, weight, ${franchised} * ${numberLiteral(listingMix.usedOfOwnMake)} FROM (SELECT dealer, weight / len(makes) AS weight, unnest(makes) AS make FROM stores) AS own
      UNION ALL SELECT 'used', 'any', dealer, weight, ${franchised} * ${numberLiteral(1 - listingMix.usedOfOwnMake)} FROM stores WHERE store IS NOT NULL
      UNION ALL SELECT 'used', 'any', dealer, weight, ${numberLiteral(used * (1 - listingMix.usedAtFranchise))} FROM stores WHERE store IS NULL
    ), parts AS (
      SELECT kind, make, dealer, share * weight / sum(weight) OVER (PARTITION BY kind, if(kind = 'used', NULL, make), make = 'any', dealer IN (SELECT dealer FROM stores WHERE store IS NULL)) AS part
      FROM wanted
    ), edged AS (
      SELECT kind, make, dealer, floor(${numberLiteral(listings)} * sum(part) OVER (ORDER BY kind, make, dealer ROWS UNBOUNDED PRECEDING) / sum(part) OVER ())::BIGINT AS edge,
             row_number() OVER (ORDER BY kind, make, dealer) AS line
      FROM parts
    ), counted AS (
      SELECT kind, make, dealer, line, lag(edge, 1, 0) OVER (ORDER BY line) AS first_slot, edge - lag(edge, 1, 0) OVER (ORDER BY line) AS slots FROM edged
    )
    SELECT kind, make, dealer, first_slot, slots, (sum(slots) OVER (PARTITION BY dealer ORDER BY line ROWS UNBOUNDED PRECEDING) - slots)::BIGINT AS first_place
    FROM counted WHERE slots > 0`;
}

/** Stores of a group lie in one state; the sister of a store is the next one of its group. */
const groups = (draws: RandomDraws): Sql => sql`
  WITH members AS (
    SELECT dealer, state, (row_number() OVER (PARTITION BY state ORDER BY dealer) - 1) // ${numberLiteral(storesOfGroup)} AS party
    FROM stores JOIN located USING (dealer) WHERE named = 'franchise' AND ${draws.occurs("grouped", sql`dealer`, groupedShare)}
  )
  SELECT dealer, min(dealer) OVER party_of AS head, coalesce(lead(dealer) OVER (PARTITION BY state, party ORDER BY dealer), min(dealer) OVER party_of) AS next_store
  FROM members WINDOW party_of AS (PARTITION BY state, party)`;

function described(draws: RandomDraws, { days, shares }: MarketShape): Sql {
  const n = sql`stores.dealer`;
  const names = (kind: string): Sql => sql`(SELECT string_split(names, '|') FROM names_facts WHERE kind = ${kind})`;
  const closes = sql`CASE WHEN grouped.dealer IS NULL AND ${numberLiteral(days)} > ${numberLiteral(2 * failureFreeDays)} AND ${draws.occurs("closes", n, shares.closing)}
    THEN ${numberLiteral(failureFreeDays)} + ${draws.integerBelow("closes on", n, Math.max(1, days - failureFreeDays))} END`;
  const template = sql`CASE named WHEN 'independent' THEN ${draws.pick("name", n, names("independent"))} WHEN 'direct' THEN ${draws.pick("name", n, names("direct"))}
    ELSE ${draws.pick("name", n, names("franchise"))} END`;
  const surname = draws.pick("surname", sql`coalesce(grouped.head, ${n})`, names("surname"));
  const named = sql`replace(replace(replace(${template}, '{surname}', ${surname}), '{city}', located.city), '{store}', coalesce(store, ''))`;
  return sql`
    WITH sized AS (SELECT dealer, sum(slots)::INTEGER AS slots FROM places GROUP BY dealer), known AS (
      SELECT ${n}::INTEGER AS dealer, slots, store, makes, ${named} AS name, md5('dealer ' || ${draws.integerBelow("id", n, 2 ** 31 - 1)} || ' ' || ${n})::UUID::VARCHAR AS dealer_id,
             (100 + ${draws.integerBelow("house", n, 9800)}) || ' ' || ${draws.pick("street", n, names("street"))} AS line1, city, state, postal_code,
             round(latitude, 4) AS latitude, round(longitude, 4) AS longitude, '(' || area_code || ') 555-' || lpad((100 + ${draws.integerBelow("phone", n, 100)})::VARCHAR, 4, '0') AS phone,
             ${closes} AS closes_on, slots >= ${numberLiteral(largeDealerSlots)} AS is_steady, grouped.next_store,
             if(${draws.occurs("has habit", n, habitShare)}, ${draws.integerBelow("habit", n, 7)}, NULL) AS habit, ${draws.integerBelow("hour", n, 6 * 3600)} AS reads_at,
             ${draws.pick("ending", n, sql`[-1, 95, 95, 90, 98, 0, 88, 99]`)} AS price_ending
      FROM stores JOIN sized USING (dealer) JOIN located USING (dealer) JOIN states_facts USING (state) LEFT JOIN grouped USING (dealer)
    )
    SELECT known.*, CASE WHEN known.is_steady AND sister.is_steady AND sister.dealer <> known.dealer THEN sister.dealer END AS sister,
           regexp_replace(lower(strip_accents(known.name)), '[^a-z0-9]', '', 'g') || known.dealer || '.example' AS host
    FROM known LEFT JOIN known AS sister ON sister.dealer = known.next_store ORDER BY known.dealer`;
}
