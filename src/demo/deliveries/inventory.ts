/** The inventory rows of a day: those that its feeds contain, and every feed field of each car, in the writing style of its dealer. */
import type { Session } from "../../db/duckdb.ts";
import { ident, join, literal, numberLiteral, type Sql, sql } from "../../db/sql.ts";
import { listSeparator } from "../../ingest/feed/feed-schema.ts";
import type { MarketShape } from "../market-shape.ts";
import type { RandomDraws } from "../random.ts";
import { plantOf } from "../vehicles/catalogue.ts";
import { equipmentOf } from "../vehicles/equipment.ts";
import { isBranded, priceOn, pricingOf } from "../vehicles/prices.ts";
import { applyDirt, isInFeed, rowCopies } from "./dirt.ts";

/**
 * Creates the table `day_rows`: one row per inventory row of the day, in file order, numbered by `line` from 0. `as_of` is the day that the row describes
 * (the day before, in a late feed); `is_away` marks cars listed by a dealer other than their own.
 */
export async function createDayRows(session: Session, day: number): Promise<void> {
  await session.createTempTable(
    "day_rows",
    sql`
    SELECT row_number() OVER (ORDER BY dealer, car, nth, copy) - 1 AS line, * FROM (
      SELECT cars.* EXCLUDE (dealer, slot_at_dealer, is_large), listed.* EXCLUDE (car), cars.dealer <> listed.dealer AS is_away, unnest(range(${rowCopies})) AS copy
      FROM (SELECT car, nth, dealer, begins, if(failure = 'late', ${numberLiteral(day - 1)}, ${numberLiteral(day)}) AS as_of
            FROM stays JOIN (SELECT dealer, slots, closes_on FROM dealers) USING (dealer)
            LEFT JOIN (SELECT dealer, failure FROM feed_failures WHERE day = ${numberLiteral(day)}) USING (dealer)
            WHERE ${isInFeed(numberLiteral(day))}) AS listed
      JOIN cars USING (car)
    ) ORDER BY line`,
  );
}

/** Writing styles, by the value of a dealer's `habit`. Dealers without a habit write clean values. */
const styles = {
  upperCase: 0,
  aliases: 1,
  dollarSigns: 2,
  cents: 3,
  labels: 4,
  noBaseColors: 5,
  lowerCaseVins: 6,
} as const;

const hasStyle = (style: keyof typeof styles): Sql => sql`coalesce(habit = ${numberLiteral(styles[style])}, false)`;

/** Returns the feed rows of the `day_rows` that satisfy a condition, in file order. */
export function inventoryRows(draws: RandomDraws, shape: MarketShape, day: number, condition: Sql): Sql {
  const car = sql`car`;
  const equipment = equipmentOf(draws, shape.options, car);
  const daysListed = sql`(as_of - arrives)`;
  const rows = sql`
    SELECT day_rows.*, catalogue.* EXCLUDE (variant), dealers.* EXCLUDE (dealer), ${plantOf(draws, car)} AS plant, ${priceOn(draws, car, daysListed)} AS price,
           ${equipment.codes} AS codes, ${equipment.features} AS features, ${daysListed} AS days_listed,
           'https://images.' || host || '/' || lower(right(vin, 8)) || '/' AS gallery, paint, paint_base, interior, interior_base,
           ${draws.uniform("availability", car)} AS availability_draw, ${draws.occurs("sticker", car, sql`if(kind = 'new', 0.55, 0.3)`)} AS has_sticker,
           ${draws.uniform("history", car)} AS history_draw, ${isBranded(draws, car)} AS is_branded
    FROM (FROM day_rows WHERE ${condition}) AS day_rows JOIN catalogue USING (variant) JOIN dealers ON dealers.dealer = day_rows.dealer
    JOIN configured_equipment AS equipment USING (equipment_key) JOIN paints USING (paint_key) JOIN interior_colors USING (interior_key)`;
  const fields = Object.entries(fieldValues(draws, shape, day)).map(([field, value]) => {
    const isList = listFields.has(field);
    const written = applyDirt(field, value, (clean) => (isList ? clean : sql`${clean}::VARCHAR`));
    return sql`${isList && shape.format === "csv" ? sql`array_to_string(${written}, ${literal(listSeparator)})` : written} AS ${ident(field)}`;
  });
  const pricing = Object.entries(pricingOf(draws, shape.format)).map(
    ([field, value]) => sql`${value} AS ${ident(field)}`,
  );
  return sql`SELECT ${join([...fields, ...pricing])} FROM (${rows}) ORDER BY line`;
}

const listFields: ReadonlySet<string> = new Set(["photo_urls", "features", "options_packages", "keywords"]);

/** Returns the clean value of every field, in the dealer's writing style. */
function fieldValues(draws: RandomDraws, shape: MarketShape, day: number): Readonly<Record<string, Sql>> {
  return {
    vin: sql`if(${hasStyle("lowerCaseVins")}, lower(vin), vin)`,
    dealer_id: sql`dealer_id`,
    observed_at: observedAt(shape, day),
    ...statusValues,
    ...buildValues,
    ...colorValues,
    assembly_location: sql`plant.location`,
    assembly_country: sql`plant.country`,
    ...priceValues(draws),
    ...mediaValues(draws),
    features: sql`features`,
    options_packages: sql`codes`,
    keywords: keywords(shape),
    window_sticker_verified: sql`if(has_sticker, 'true', NULL)`,
  };
}

const upperCased = (value: Sql): Sql => sql`if(${hasStyle("upperCase")}, upper(${value}), ${value})`;

const aliased = (aliasColumn: string, value: Sql): Sql =>
  sql`if(${hasStyle("aliases")}, ${ident(aliasColumn)}, ${value})`;

const availability = sql`CASE WHEN kind <> 'new' THEN 'stock' WHEN availability_draw < 0.05 AND days_listed < 20 THEN 'build'
  WHEN availability_draw < 0.18 AND days_listed < 12 THEN 'transit' ELSE 'stock' END`;

const statusValues = {
  inventory_type: sql`if(${hasStyle("labels")}, CASE kind WHEN 'new' THEN 'New' WHEN 'used' THEN 'Pre-Owned' ELSE 'CPO' END, kind)`,
  availability_status: sql`if(${hasStyle("labels")}, CASE ${availability} WHEN 'stock' THEN 'In Stock' WHEN 'transit' THEN 'In Transit' ELSE 'Build' END, ${availability})`,
  stock_number: sql`if(kind = 'new', left(vin, 1), 'U') || right(vin, 5) || if(kind = 'certified', 'C', '')`,
};

const buildValues = {
  year: sql`"year"`,
  make: aliased("make_alias", upperCased(sql`make`)),
  model: upperCased(sql`model`),
  model_code: sql`model_code`,
  trim: upperCased(sql`trim`),
  version: sql`if(kind = 'new' OR NOT omits_versions, version, NULL)`,
  body_type: aliased("body_alias", sql`body_type`),
  drivetrain: aliased("drivetrain_alias", sql`drivetrain`),
  fuel_type: aliased("fuel_alias", sql`fuel_type`),
  powertrain_type: sql`powertrain_type`,
  transmission: sql`transmission`,
  engine: sql`engine`,
  cylinders: sql`cylinders`,
  doors: sql`doors`,
  seating_capacity: sql`seats`,
};

const colorValues = {
  exterior_color: upperCased(sql`paint`),
  interior_color: upperCased(sql`interior`),
  base_exterior_color: sql`if(${hasStyle("noBaseColors")}, NULL, paint_base)`,
  base_interior_color: sql`if(${hasStyle("noBaseColors")}, NULL, interior_base)`,
};

/** Prices in dollars and miles. Used cars have an MSRP only if the dealer has the window sticker. */
function priceValues(draws: RandomDraws) {
  const price = sql`(price + if(copy = 0 AND dirt = 'listed twice', 500, 0))`;
  const hasMsrp = sql`(kind = 'new' OR has_sticker)`;
  return {
    price: sql`CASE WHEN ${hasStyle("dollarSigns")} THEN '$' || format('{:,}', ${price}) WHEN ${hasStyle("cents")} THEN ${price} || '.00' ELSE ${price}::VARCHAR END`,
    base_msrp: sql`CASE WHEN ${hasMsrp} THEN base_msrp END`,
    msrp: sql`CASE WHEN ${hasMsrp} AND ${draws.occurs("msrp", sql`car`, 0.7)} THEN base_msrp + options_msrp END`,
    miles: sql`(miles + if(kind = 'new', greatest(days_listed, 0) // 30, 0))`,
  };
}

function mediaValues(draws: RandomDraws) {
  const photos = draws.integerBelow("photos", sql`car`, sql`if(kind = 'new', 4, 7)`);
  return {
    vdp_url: sql`'https://www.' || host || '/inventory/' || kind || '-' || slug || '-' || lower(vin)`,
    vhr_url: sql`CASE WHEN kind <> 'new' AND ${draws.occurs("report", sql`car`, 0.6)} THEN 'https://reports.vehiclehistory.example/' || vin END`,
    photo_urls: sql`CASE WHEN NOT is_away THEN list_transform(range(1, 2 + ${photos}),
      lambda photo: gallery || photo || '.jpg') ELSE []::VARCHAR[] END`,
  };
}

/** The history keywords of a car. One draw decides all of them, so that they are consistent. */
function keywords({ end }: MarketShape): Sql {
  const endYear = numberLiteral(Number(end.slice(0, 4)));
  return sql`list_filter([if(kind <> 'new' AND NOT is_branded AND history_draw < 0.5 - 0.03 * least(10, ${endYear} - "year"), 'one_owner', NULL),
    if(kind <> 'new' AND NOT is_branded AND history_draw < 0.9, 'clean_title', NULL), if(is_branded, 'branded', NULL),
    if(kind <> 'new' AND history_draw BETWEEN 0.45 AND 0.56 AND miles BETWEEN 15000 AND 80000, 'fleet', NULL)], lambda word: word IS NOT NULL)`;
}

/**
 * Returns when the dealer's inventory was read. The first delivery contains cars that have been listed for a while; each is observed on its
 * first day, so that a market of a single day has varied days on market.
 */
function observedAt({ days, end }: MarketShape, day: number): Sql {
  const observedDay = day === 0 ? sql`least(begins, 0)` : sql`as_of`;
  return sql`strftime(${literal(`${end} 02:00:00`)}::TIMESTAMP + to_days((${observedDay} - ${numberLiteral(days - 1)})::INTEGER) + to_seconds(reads_at), '%Y-%m-%dT%H:%M:%SZ')`;
}
