/** The columns of `inventory`, from the rows of a day: what each dealer says of each car, in its own way. */
import { ident, join, literal, numberLiteral, type Sql, sql } from "../../db/sql.ts";
import { listSeparator } from "../../ingest/feed/feed-schema.ts";
import type { MarketShape } from "../market-shape.ts";
import type { RandomDraws } from "../random.ts";
import { plantOf } from "../vehicles/catalogue.ts";
import { equipmentOf } from "../vehicles/equipment.ts";
import { pricingOf } from "../vehicles/price-breakdown.ts";
import { isBranded, priceOn } from "../vehicles/prices.ts";
import { written } from "./dirt.ts";

/** The ways of their own in which dealers write, by the number that a dealer has as its habit. */
const habit = { shouts: 0, nicknames: 1, money: 2, cents: 3, words: 4, bareColors: 5, smallVins: 6 } as const;

const has = (one: keyof typeof habit): Sql => sql`coalesce(habit = ${numberLiteral(habit[one])}, false)`;

/** The rows of a part of `today`, as the feed has them, in order. */
export function inventoryRows(draws: RandomDraws, shape: MarketShape, day: number, part: Sql): Sql {
  const car = sql`car`;
  const equipment = equipmentOf(draws, shape.options, car);
  const daysThere = sql`(as_of - arrives)`;
  const known = sql`
    SELECT today.*, catalogue.* EXCLUDE (variant), dealers.* EXCLUDE (dealer), ${plantOf(draws, car)} AS plant, ${priceOn(draws, car, daysThere)} AS price,
           ${equipment.codes} AS codes, ${equipment.features} AS features, ${daysThere} AS days_there,
           'https://images.' || host || '/' || lower(right(vin, 8)) || '/' AS gallery, paint, paint_base, trimming, trimming_base,
           ${draws.uniform("availability", car)} AS expected, ${draws.occurs("sticker", car, sql`if(kind = 'new', 0.55, 0.3)`)} AS has_sticker,
           ${draws.uniform("history", car)} AS history, ${isBranded(draws, car)} AS is_branded
    FROM (FROM today WHERE ${part}) AS today JOIN catalogue USING (variant) JOIN dealers ON dealers.dealer = today.dealer
    JOIN recipe_equipment AS equipment USING (equipment_key) JOIN paints USING (paint_key) JOIN trimmings USING (trimming_key)`;
  const fields = Object.entries(valuesOf(draws, shape, day)).map(([field, value]) => {
    const isList = lists.has(field);
    const dirty = written(field, value, (clean) => (isList ? clean : sql`${clean}::VARCHAR`));
    return sql`${isList && shape.format === "csv" ? sql`array_to_string(${dirty}, ${literal(listSeparator)})` : dirty} AS ${ident(field)}`;
  });
  const pricing = Object.entries(pricingOf(draws, shape.format)).map(
    ([field, value]) => sql`${value} AS ${ident(field)}`,
  );
  return sql`SELECT ${join([...fields, ...pricing])} FROM (${known}) ORDER BY line`;
}

const lists: ReadonlySet<string> = new Set(["photo_urls", "features", "options_packages", "keywords"]);

/** Every field's clean value, as the dealer writes it. */
function valuesOf(draws: RandomDraws, shape: MarketShape, day: number): Readonly<Record<string, Sql>> {
  const number = (value: Sql): Sql =>
    sql`CASE WHEN ${has("money")} THEN '$' || format('{:,}', ${value}) WHEN ${has("cents")} THEN ${value} || '.00' ELSE ${value}::VARCHAR END`;
  const shouted = (value: Sql): Sql => sql`if(${has("shouts")}, upper(${value}), ${value})`;
  const called = (value: string, otherwise: Sql): Sql => sql`if(${has("nicknames")}, ${ident(value)}, ${otherwise})`;
  const isListed = sql`(kind = 'new' OR has_sticker)`;
  const availability = sql`CASE WHEN kind <> 'new' THEN 'stock' WHEN expected < 0.05 AND days_there < 20 THEN 'build' WHEN expected < 0.18 AND days_there < 12 THEN 'transit' ELSE 'stock' END`;
  return {
    vin: sql`if(${has("smallVins")}, lower(vin), vin)`,
    dealer_id: sql`dealer_id`,
    observed_at: observedAt(shape, day),
    inventory_type: sql`if(${has("words")}, CASE kind WHEN 'new' THEN 'New' WHEN 'used' THEN 'Pre-Owned' ELSE 'CPO' END, kind)`,
    availability_status: sql`if(${has("words")}, CASE ${availability} WHEN 'stock' THEN 'In Stock' WHEN 'transit' THEN 'In Transit' ELSE 'Build' END, ${availability})`,
    stock_number: sql`if(kind = 'new', left(vin, 1), 'U') || right(vin, 5) || if(kind = 'certified', 'C', '')`,
    year: sql`"year"`,
    make: called("make_called", shouted(sql`make`)),
    model: shouted(sql`model`),
    model_code: sql`model_code`,
    trim: shouted(sql`trim`),
    version: sql`version`,
    body_type: called("body_called", sql`body_type`),
    drivetrain: called("drivetrain_called", sql`drivetrain`),
    fuel_type: called("fuel_called", sql`fuel_type`),
    powertrain_type: sql`powertrain_type`,
    transmission: sql`transmission`,
    engine: sql`engine`,
    cylinders: sql`cylinders`,
    doors: sql`doors`,
    seating_capacity: sql`seats`,
    exterior_color: shouted(sql`paint`),
    interior_color: shouted(sql`trimming`),
    base_exterior_color: sql`if(${has("bareColors")}, NULL, paint_base)`,
    base_interior_color: sql`if(${has("bareColors")}, NULL, trimming_base)`,
    assembly_location: sql`plant.location`,
    assembly_country: sql`plant.country`,
    price: number(sql`(price + if(copy = 0 AND dirt = 'listed twice', 500, 0))`),
    base_msrp: sql`CASE WHEN ${isListed} THEN base_msrp END`,
    msrp: sql`CASE WHEN ${isListed} AND ${draws.occurs("msrp", sql`car`, 0.7)} THEN base_msrp + options_msrp END`,
    miles: sql`(miles + if(kind = 'new', greatest(days_there, 0) // 30, 0))`,
    vdp_url: sql`'https://www.' || host || '/inventory/' || kind || '-' || slug || '-' || lower(vin)`,
    vhr_url: sql`CASE WHEN kind <> 'new' AND ${draws.occurs("report", sql`car`, 0.6)} THEN 'https://reports.vehiclehistory.example/' || vin END`,
    photo_urls: sql`CASE WHEN NOT is_away THEN list_transform(range(1, 2 + ${draws.integerBelow("photos", sql`car`, sql`if(kind = 'new', 4, 7)`)}),
      lambda photo: gallery || photo || '.jpg') ELSE []::VARCHAR[] END`,
    features: sql`features`,
    options_packages: sql`codes`,
    keywords: sql`list_filter([if(kind <> 'new' AND NOT is_branded AND history < 0.5 - 0.03 * least(10, ${numberLiteral(Number(shape.end.slice(0, 4)))} - "year"), 'one_owner', NULL),
      if(kind <> 'new' AND NOT is_branded AND history < 0.9, 'clean_title', NULL), if(is_branded, 'branded', NULL),
      if(kind <> 'new' AND history BETWEEN 0.45 AND 0.56 AND miles BETWEEN 15000 AND 80000, 'fleet', NULL)], lambda word: word IS NOT NULL)`,
    window_sticker_verified: sql`if(has_sticker, 'true', NULL)`,
  };
}

/**
 * When the dealer's inventory was read. The first delivery brings cars that have been there for a while; each was observed when it
 * came, so that a market of a single day has its days on market too.
 */
function observedAt({ days, end }: MarketShape, day: number): Sql {
  const index = day === 0 ? sql`least(begins, 0)` : sql`as_of`;
  return sql`strftime(${literal(`${end} 02:00:00`)}::TIMESTAMP + to_days((${index} - ${numberLiteral(days - 1)})::INTEGER) + to_seconds(reads_at), '%Y-%m-%dT%H:%M:%SZ')`;
}
