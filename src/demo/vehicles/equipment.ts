/** What a car has beside its build: options from the factory's list, and the features that follow from trim, options and dealer. */

import type { Session } from "../../db/duckdb.ts";
import { ident, join, literal, numberLiteral, type Sql, sql } from "../../db/sql.ts";
import type { MarketShape } from "../market-shape.ts";
import type { RandomDraws } from "../random.ts";

/** In how many ways a variant is ordered, where equipment is typical. */
const recipes = 5;
const optionShare = 0.3;
const optionShareMost = 0.7;
/** Where every car is ordered for itself, it also lacks a feature here and there. */
const featureShare = 0.85;
const fittedShare = { typical: 0.035, distinct: 0.3 } as const;

/** Cars of this age are no new ones any more: what is done to used cars is done to them. */
const usedFromAge = 2;

/** Makers whose screens show no phone's. */
const withoutPhones = ["Tesla", "Rivian"];

/** How much of a list price is comfort, in thousands: a work truck is dear without being rich. */
const comfort = sql`floor(base_msrp / 1000.0 * pow(1.02, age) * CASE body_type WHEN 'Cargo Van' THEN 0.45 WHEN 'Pickup' THEN 0.74 WHEN 'Minivan' THEN 0.9 ELSE 1 END
  * if(powertrain_type = 'BEV', 0.88, 1))::INTEGER`;

/** Whether a list of bodies, or of models, has the car's; `any` has all. */
const fits = (bodies: string): Sql =>
  sql`(${ident(bodies)} = 'any' OR list_has_any(string_split(${ident(bodies)}, '|'), words))`;

/**
 * Makes `recipe_equipment` (equipment_key, `codes`, `features`, `options_msrp`; `chosen`: its options with their prices; `fitted`: what dealers
 * may add). Where equipment is typical, the cars of a line are ordered by a few recipes; else by each buyer in a way of his own.
 */
export async function createEquipment(
  session: Session,
  draws: RandomDraws,
  options: MarketShape["options"],
): Promise<void> {
  await session.createTempTable(
    "outfits",
    sql`SELECT variant, line, maker, model, body_type, seats >= 7 AS is_long, maker NOT IN (${join(withoutPhones.map((maker) => literal(maker)))}) AS has_phones, powertrain_type, "year", ${comfort} AS comfort, age FROM variants`,
  );
  await session.createTempTable(
    "factory_options",
    sql`SELECT maker, model, list(struct_pack(code := code, msrp := msrp::INTEGER, feature := feature, choice := choice, turn := turn, turns := turns) ORDER BY line) AS factory
        FROM (SELECT *, dense_rank() OVER choices AS choice, if(one_of IS NULL, 1, count(*) OVER (PARTITION BY maker, model, one_of))::INTEGER AS turns,
                     if(one_of IS NULL, 0, row_number() OVER (PARTITION BY maker, model, one_of ORDER BY line) - 1)::INTEGER AS turn
              FROM (SELECT DISTINCT maker, model, [body_type, model] AS words FROM outfits) JOIN options_facts USING (maker) WHERE ${fits("bodies")}
              WINDOW choices AS (PARTITION BY maker, model ORDER BY one_of)) GROUP BY ALL`,
  );
  await session.createTempTable(
    "outfit_features",
    sql`SELECT body_type, is_long, has_phones, powertrain_type, "year", comfort, coalesce(list(feature ORDER BY feature) FILTER (fitted = 'maker'), []) AS standard,
               coalesce(list(feature ORDER BY feature) FILTER (fitted = 'dealer' OR fitted = 'used' AND age >= ${numberLiteral(usedFromAge)}), []) AS fitted
        FROM (SELECT DISTINCT body_type, is_long, has_phones, powertrain_type, "year", age, comfort, [body_type, powertrain_type, if(is_long, 'three rows', ''), if(has_phones, 'phones', '')] AS words FROM outfits)
        JOIN features_facts ON "year" BETWEEN since AND coalesce("until", 9999) AND comfort >= from_msrp WHERE ${fits("bodies")} AND ${fits("powertrains")} GROUP BY ALL`,
  );
  await session.createTempTable(
    "variant_equipment",
    sql`SELECT variant, line, if(age > 12, [], coalesce(factory, [])) AS factory, standard, fitted
        FROM outfits LEFT JOIN factory_options USING (maker, model) JOIN outfit_features USING (body_type, is_long, has_phones, powertrain_type, "year", comfort)`,
  );
  const isTypical = options === "typical";
  const chosen = isTypical
    ? sql`SELECT variant, recipe, standard, fitted, ${some(draws, sql`factory`, sql`(line * ${numberLiteral(recipes)} + recipe)`)} AS chosen FROM variant_equipment, range(${numberLiteral(recipes)}) AS recipes(recipe)`
    : sql`SELECT variant, 0 AS recipe, standard, fitted, factory AS chosen FROM variant_equipment`;
  const accessories = isTypical
    ? drawn(draws, sql`fitted`, "fitted", sql`(variant * ${numberLiteral(recipes)} + recipe)`, fittedShare.typical)
    : sql`[]`;
  await session.createTempTable(
    "recipe_equipment",
    sql`SELECT variant::BIGINT * ${numberLiteral(recipes)} + recipe AS equipment_key, fitted, chosen, coalesce(list_sum(list_transform(chosen, lambda option: option.msrp)), 0)::INTEGER AS options_msrp,
          list_transform(chosen, lambda option: option.code) AS codes, list_concat(standard, ${without(sql`added`, sql`standard`)}) AS features
        FROM (SELECT *, list_concat(list_filter(list_transform(chosen, lambda option: option.feature), lambda feature: feature IS NOT NULL), ${accessories}) AS added FROM (${chosen}))`,
  );
}

/** The words of a short list that another list does not have. */
const without = (words: Sql, others: Sql): Sql =>
  sql`list_filter(${words}, lambda word, place: NOT list_contains(${others}, word) AND list_position(${words}, word) = place)`;

/** The key of the equipment of a car, of its variant by the recipe that it was ordered by; the first recipe is the commonest. */
export const equipmentKey = (draws: RandomDraws, options: MarketShape["options"], car: Sql): Sql => {
  const recipe = sql`least(${draws.integerBelow("recipe", car, recipes)}, ${draws.integerBelow("other recipe", car, recipes)})`;
  return sql`(variant::BIGINT * ${numberLiteral(recipes)} + ${options === "typical" ? recipe : sql`0`})`;
};

/** Some of the options in a list; of those that exclude each other (`one_of` in the facts), one at most. */
const some = (draws: RandomDraws, options: Sql, about: Sql): Sql => sql`list_filter(${options}, lambda option, place:
  ${draws.occurs("option", sql`${about} * 64 + place`, sql`least(${numberLiteral(optionShareMost)}, ${numberLiteral(optionShare)} * option.turns)`)}
  AND ${draws.integerBelow("turn", sql`${about} * 64 + option.choice`, 1_000_000)} % option.turns = option.turn)`;

/** Some of the words of a list. */
const drawn = (draws: RandomDraws, list: Sql, purpose: string, about: Sql, share: number): Sql =>
  sql`list_filter(${list}, lambda word, place: ${draws.occurs(purpose, sql`${about} * 64 + place`, share)})`;

/** A car's option codes, their price and its features, from a row of `recipe_equipment` called `equipment`. */
export function equipmentOf(
  draws: RandomDraws,
  options: MarketShape["options"],
  car: Sql,
): { readonly codes: Sql; readonly features: Sql; readonly msrp: Sql } {
  if (options === "typical") {
    return { codes: sql`equipment.codes`, features: sql`equipment.features`, msrp: sql`equipment.options_msrp` };
  }
  const own = (list: Sql, purpose: string, share: number): Sql => drawn(draws, list, purpose, car, share);
  const codes = some(draws, sql`equipment.chosen`, car);
  return {
    codes: sql`list_transform(${codes}, lambda option: option.code)`,
    features: sql`list_concat(${own(sql`equipment.features`, "own feature", featureShare)}, ${own(sql`equipment.fitted`, "fitted", fittedShare.distinct)})`,
    msrp: sql`coalesce(list_sum(list_transform(${codes}, lambda option: option.msrp)), 0)::INTEGER`,
  };
}
