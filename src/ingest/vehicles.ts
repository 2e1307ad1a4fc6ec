/** What today's delivery says of each VIN at each dealer that has it, in the row shape of listings. */
import { all, integerLiteral, join, literal, name, type Sql, sql } from "../base/sql.ts";
import type { Session } from "../lake/duckdb.ts";
import { keywordBits } from "../lake/layout.ts";
import { spell, spellingTable } from "./spellings.ts";
import { isBuildOf } from "./star.ts";

const colors = ["exterior_color", "interior_color"] as const;

/** Makes `vehicles`, a view: a row for each claim sighted today, with all of a listing but what its history decides, and `is_owner`. */
export async function describeVehicles(session: Session, day: string): Promise<void> {
  for (const color of colors) await spellColor(session, color);
  const observedAt = sql`coalesce(inventory.observed_at, ${literal(`${day} 00:00:00`)}::TIMESTAMP)`;
  await session.show(
    "vehicles",
    sql`
    SELECT inventory.vin, inventory.dealer_id, is_owner, build_key, dealer_key, build_keys.make_spelled AS make,
           build_keys.model_spelled AS model, inventory."year", price, miles, base_msrp,
           coalesce(inventory.msrp, base_msrp + coalesce(options_total.total, 0)) AS msrp,
           ${join(colors.flatMap(colorsOf))},
           inventory_type, availability_status, trim(stock_number) AS stock_number, vdp_url, vhr_url,
           coalesce(photo_urls, []) AS photo_urls, coalesce(window_sticker_verified, false) AS window_sticker_verified,
           coalesce(keys_of_features.keys, []) AS features, coalesce(keys_of_options_packages.keys, []) AS options_packages,
           ${keywordMask(sql`coalesce(inventory.keywords, [])`)} AS keywords, ${pricing()} AS pricing,
           date_trunc('second', ${observedAt}) AS observed_at, greatest(${observedAt}, deliveries.delivered_at) AS last_checked_at
    FROM parsed_inventory AS inventory
    JOIN (SELECT vin, dealer_id, is_owner FROM claims_today WHERE sighted_on = ${literal(day)}::DATE) AS claims
      ON claims.vin = inventory.vin AND claims.dealer_id = inventory.dealer_id
    JOIN build_keys ON ${isBuildOf(sql`inventory`)}
    JOIN dealer_keys ON dealer_keys.dealer_id = inventory.dealer_id
    JOIN deliveries_today AS deliveries ON deliveries.dealer_id = inventory.dealer_id
    LEFT JOIN options_total ON options_total.make = inventory.make AND options_total.list = inventory.options_packages
    LEFT JOIN keys_of_features ON keys_of_features.list = inventory.features
    LEFT JOIN keys_of_options_packages ON keys_of_options_packages.list = inventory.options_packages
    ${join(colors.flatMap(colorJoins), sql` `)}`,
  );
}

/** Decides the spellings of a color and of its base color, and the base color that a reported one implies. */
async function spellColor(session: Session, color: (typeof colors)[number]): Promise<void> {
  await spell(session, {
    attribute: color,
    inUse: sql`SELECT ${name(color)} AS value, count(*) AS n FROM parsed_inventory GROUP BY value`,
    inLake: sql`SELECT ${name(color)} AS value FROM lake_active`,
  });
  const given = sql`SELECT ${name(`base_${color}`)} AS value, count(*) AS n FROM parsed_inventory GROUP BY value`;
  const known = sql`SELECT ${name(`base_${color}`)} AS value FROM lake_active`;
  await spell(session, { attribute: "base_color", inUse: given, inLake: known });
  await session.keep(spellingTable(`base_${color}`), sql`FROM ${name(spellingTable("base_color"))}`);
  await session.keep(
    `base_of_${color}`,
    sql`
    SELECT as_written, arg_min(base_color, place) AS base_color
    FROM (SELECT as_written, generate_subscripts(words, 1) AS place, unnest(words) AS word
          FROM (SELECT DISTINCT as_written, regexp_extract_all(lower(as_written), '[a-z]+') AS words FROM ${name(spellingTable(color))}))
    JOIN color_words USING (word) GROUP BY as_written`,
  );
}

function colorsOf(color: string): readonly Sql[] {
  const [reported, given, implied] = [spellingTable(color), spellingTable(`base_${color}`), `base_of_${color}`];
  return [
    sql`${name(reported, "spelling")} AS ${name(color)}`,
    sql`coalesce(${name(given, "spelling")}, ${name(implied, "base_color")}) AS ${name(`base_${color}`)}`,
  ];
}

function colorJoins(color: string): readonly Sql[] {
  const joined = (table: string, column: string): Sql =>
    sql`LEFT JOIN ${name(table)} ON ${name(table, "as_written")} = ${name("inventory", column)}`;
  return [
    joined(spellingTable(color), color),
    joined(spellingTable(`base_${color}`), `base_${color}`),
    joined(`base_of_${color}`, color),
  ];
}

function keywordMask(keywords: Sql): Sql {
  const bits = Object.entries(keywordBits).map(
    ([keyword, bit]) => sql`if(list_contains(${keywords}, ${literal(keyword)}), ${integerLiteral(bit)}, 0)`,
  );
  return join(bits, sql` + `);
}

/** Provider data of the specification's section 2.5; null where the provider shows none of it. */
function pricing(): Sql {
  const amounts = [
    "displayed_provider_current_price_usd",
    "seller_total_before_taxes_and_registration_usd",
    "seller_total_before_manufacturer_incentives_usd",
    "dealer_adjusted_vehicle_price_usd",
  ];
  const parts = [...amounts, "line_items"].map((field) => name("inventory", field));
  const isAbsent = all(parts.map((part) => sql`${part} IS NULL`));
  const packed = amounts.map((field) => sql`${name(field)} := ${name("inventory", field)}`);
  return sql`CASE WHEN NOT ${isAbsent} THEN struct_pack(${join(packed)}, line_items := coalesce(inventory.line_items, [])) END`;
}
