/** Equipment of demo cars: factory options, and features that derive from trim, options and dealer. */
import type { Session } from "../../db/duckdb.ts";
import { ident, join, literal, numberLiteral, type Sql, sql } from "../../db/sql.ts";
import type { MarketShape } from "../market-shape.ts";
import type { RandomDraws } from "../random.ts";

/** Number of configurations per variant, if equipment is typical. */
const configurations = 5;
const optionShare = 0.3;
const optionShareMax = 0.7;
/** If equipment is distinct, a car has each standard feature with this probability. */
const featureShare = 0.85;
/** Probability of each accessory that dealers may fit. */
const accessoryShare = { typical: 0.035, distinct: 0.3 } as const;

/** Age in years from which cars get the accessories of used cars. */
const usedFromAge = 2;

const makersWithoutPhones = ["Tesla", "Rivian"];

/** Comfort level: list price in thousands, less what pays for payload or batteries rather than for features. */
const comfort = sql`floor(base_msrp / 1000.0 * pow(1.02, age) * CASE body_type WHEN 'Cargo Van' THEN 0.45 WHEN 'Pickup' THEN 0.74 WHEN 'Minivan' THEN 0.9 ELSE 1 END
  * if(powertrain_type = 'BEV', 0.88, 1))::INTEGER`;

/** A condition: a list of bodies, models or powertrains contains one of the row's `words`. `any` matches everything. */
const matchesAny = (bodies: string): Sql =>
  sql`(${ident(bodies)} = 'any' OR list_has_any(string_split(${ident(bodies)}, '|'), words))`;

/**
 * Creates the table `configured_equipment` (equipment_key, `codes`, `features`, `options_msrp`, `chosen`: options with their prices,
 * `accessories`: what dealers may fit). If equipment is typical, a variant has a few configurations; if it is distinct, it has one, which
 * holds all options, and `equipmentOf` draws from them per car.
 */
export async function createEquipment(
  session: Session,
  draws: RandomDraws,
  options: MarketShape["options"],
): Promise<void> {
  await createVariantEquipment(session);
  await session.createTempTable("configured_equipment", configuredEquipment(draws, options));
}

/** Creates the table `variant_equipment`: available factory options, standard features and accessories of each variant. */
async function createVariantEquipment(session: Session): Promise<void> {
  const makers = join(makersWithoutPhones.map((maker) => literal(maker)));
  await session.createTempTable(
    "equipment_inputs",
    sql`SELECT variant, line, maker, model, body_type, seats >= 7 AS is_long, maker NOT IN (${makers}) AS has_phones, powertrain_type, "year", ${comfort} AS comfort, age FROM variants`,
  );
  await session.createTempTable(
    "factory_options",
    sql`SELECT maker, model, list(struct_pack(code := code, msrp := msrp::INTEGER, feature := feature, choice := choice, turn := turn, turns := turns) ORDER BY line) AS factory
        FROM (SELECT *, dense_rank() OVER choices AS choice, if(one_of IS NULL, 1, count(*) OVER (PARTITION BY maker, model, one_of))::INTEGER AS turns,
                     if(one_of IS NULL, 0, row_number() OVER (PARTITION BY maker, model, one_of ORDER BY line) - 1)::INTEGER AS turn
              FROM (SELECT DISTINCT maker, model, [body_type, model] AS words FROM equipment_inputs) JOIN options_facts USING (maker) WHERE ${matchesAny("bodies")}
              WINDOW choices AS (PARTITION BY maker, model ORDER BY one_of)) GROUP BY ALL`,
  );
  await session.createTempTable(
    "variant_features",
    sql`SELECT body_type, is_long, has_phones, powertrain_type, "year", comfort, coalesce(list(feature ORDER BY feature) FILTER (fitted = 'maker'), []) AS standard,
               coalesce(list(feature ORDER BY feature) FILTER (fitted = 'dealer' OR fitted = 'used' AND age >= ${numberLiteral(usedFromAge)}), []) AS accessories
        FROM (SELECT DISTINCT body_type, is_long, has_phones, powertrain_type, "year", age, comfort,
                     [body_type, powertrain_type, if(is_long, 'three rows', ''), if(has_phones, 'phones', '')] AS words FROM equipment_inputs)
        JOIN features_facts ON "year" BETWEEN since AND coalesce("until", 9999) AND comfort >= from_msrp
        WHERE ${matchesAny("bodies")} AND ${matchesAny("powertrains")} GROUP BY ALL`,
  );
  await session.createTempTable(
    "variant_equipment",
    sql`SELECT variant, line, if(age > 12, [], coalesce(factory, [])) AS factory, standard, accessories
        FROM equipment_inputs LEFT JOIN factory_options USING (maker, model)
        JOIN variant_features USING (body_type, is_long, has_phones, powertrain_type, "year", comfort)`,
  );
}

function configuredEquipment(draws: RandomDraws, options: MarketShape["options"]): Sql {
  const isTypical = options === "typical";
  const count = numberLiteral(configurations);
  const chosen = isTypical
    ? sql`SELECT variant, configuration, standard, accessories, ${chooseOptions(draws, sql`factory`, sql`(line * ${count} + configuration)`)} AS chosen
          FROM variant_equipment, range(${count}) AS configurations(configuration)`
    : sql`SELECT variant, 0 AS configuration, standard, accessories, factory AS chosen FROM variant_equipment`;
  const fitted = isTypical
    ? sampleList(draws, sql`accessories`, {
        purpose: "fitted",
        key: sql`(variant * ${count} + configuration)`,
        share: accessoryShare.typical,
      })
    : sql`[]`;
  return sql`
    SELECT variant::BIGINT * ${count} + configuration AS equipment_key, accessories, chosen,
           coalesce(list_sum(list_transform(chosen, lambda option: option.msrp)), 0)::INTEGER AS options_msrp,
           list_transform(chosen, lambda option: option.code) AS codes, list_concat(standard, ${exceptList(sql`added`, sql`standard`)}) AS features
    FROM (SELECT *, list_concat(list_filter(list_transform(chosen, lambda option: option.feature), lambda feature: feature IS NOT NULL), ${fitted}) AS added
          FROM (${chosen}))`;
}

/** Returns the distinct items of a short list that another list lacks. */
const exceptList = (items: Sql, excluded: Sql): Sql =>
  sql`list_filter(${items}, lambda word, position: NOT list_contains(${excluded}, word) AND list_position(${items}, word) = position)`;

/** Returns the key of a car's equipment: its variant and its configuration. The first configuration is the most common. */
export const equipmentKey = (draws: RandomDraws, options: MarketShape["options"], car: Sql): Sql => {
  const configuration = sql`least(${draws.integerBelow("recipe", car, configurations)}, ${draws.integerBelow("other recipe", car, configurations)})`;
  return sql`(variant::BIGINT * ${numberLiteral(configurations)} + ${options === "typical" ? configuration : sql`0`})`;
};

/** Draws some of the options in a list, at most one of each group of mutually exclusive options (`one_of` in the reference data). */
const chooseOptions = (
  draws: RandomDraws,
  options: Sql,
  key: Sql,
): Sql => sql`list_filter(${options}, lambda option, position:
  ${draws.occurs("option", sql`${key} * 64 + position`, sql`least(${numberLiteral(optionShareMax)}, ${numberLiteral(optionShare)} * option.turns)`)}
  AND ${draws.integerBelow("turn", sql`${key} * 64 + option.choice`, 1_000_000)} % option.turns = option.turn)`;

/** Draws each item of a list with a probability of `share`. */
const sampleList = (
  draws: RandomDraws,
  list: Sql,
  { purpose, key, share }: { readonly purpose: string; readonly key: Sql; readonly share: number },
): Sql =>
  sql`list_filter(${list}, lambda word, position: ${draws.occurs(purpose, sql`${key} * 64 + position`, share)})`;

/** Returns a car's option codes, features and option prices. Reads a row of `configured_equipment` with the alias `equipment`. */
export function equipmentOf(
  draws: RandomDraws,
  options: MarketShape["options"],
  car: Sql,
): { readonly codes: Sql; readonly features: Sql; readonly msrp: Sql } {
  if (options === "typical") {
    return { codes: sql`equipment.codes`, features: sql`equipment.features`, msrp: sql`equipment.options_msrp` };
  }
  const codes = chooseOptions(draws, sql`equipment.chosen`, car);
  const features = { purpose: "own feature", key: car, share: featureShare };
  const accessories = { purpose: "fitted", key: car, share: accessoryShare.distinct };
  return {
    codes: sql`list_transform(${codes}, lambda option: option.code)`,
    features: sql`list_concat(${sampleList(draws, sql`equipment.features`, features)}, ${sampleList(draws, sql`equipment.accessories`, accessories)})`,
    msrp: sql`coalesce(list_sum(list_transform(${codes}, lambda option: option.msrp)), 0)::INTEGER`,
  };
}
