/**
 * Writes synthetic deliveries of any size with SQL over a counter. Volumes and lengths of values are realistic; for realistic
 * distributions, use the generator (`carquet generate`). Equal arguments produce equal deliveries.
 */
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { plusDays } from "../../src/base/day.ts";
import { DuckDatabase, type Session } from "../../src/db/duckdb.ts";
import { integerLiteral, literal, type Sql, sql } from "../../src/db/sql.ts";
import { checkDigitOf } from "../../src/listing/vins.ts";

export interface FeedShape {
  readonly listings: number;
  /** The fraction of a day's listings that are new, which equals the fraction of the previous day's listings that are gone. */
  readonly turnover: number;
  readonly format: "csv" | "parquet";
}

/** Writes the delivery of the day `index` days after `firstDay`. Returns its folder. */
export async function writeDelivery(out: string, firstDay: string, index: number, shape: FeedShape): Promise<string> {
  const folder = join(out, plusDays(firstDay, index));
  await mkdir(folder, { recursive: true });
  const database = await DuckDatabase.open();
  await database.using(async (session) => {
    const dealers = Math.max(20, Math.round(shape.listings / 150));
    await exportRows(session, dealerRows(dealers), join(folder, "dealers"), shape.format);
    await exportRows(session, inventoryRows(shape, index, dealers), join(folder, "inventory"), shape.format);
  });
  database.close();
  return folder;
}

async function exportRows(session: Session, query: Sql, path: string, format: FeedShape["format"]): Promise<void> {
  const options = format === "csv" ? sql`FORMAT csv, HEADER true` : sql`FORMAT parquet, COMPRESSION zstd`;
  await session.run(sql`COPY (${query}) TO ${literal(`${path}.${format}`)} (${options})`);
}

/** Returns an expression for a pseudo-random integer from 0 to `limit - 1`, derived from a counter and a salt. */
const randomInteger = (counter: Sql, salt: number, limit: number): Sql =>
  sql`(hash(${counter} + ${integerLiteral(salt * 1_000_003)}) % ${integerLiteral(limit)})::INTEGER`;

const randomChoice = (counter: Sql, salt: number, ...choices: readonly string[]): Sql =>
  sql`(${choices})[1 + ${randomInteger(counter, salt, choices.length)}]`;

function dealerRows(dealers: number): Sql {
  const dealer = sql`dealer`;
  return sql`
    SELECT md5('dealer' || dealer)::UUID::VARCHAR AS dealer_id, 'Dealer ' || dealer AS name, 'City ' || ${randomInteger(dealer, 1, 900)} AS city,
           ${randomChoice(dealer, 2, "CA", "TX", "FL", "NY", "PA", "IL", "OH", "GA", "NC", "MI", "NJ", "VA", "WA", "AZ", "MA", "TN")} AS state,
           lpad((10000 + ${randomInteger(dealer, 3, 80000)})::VARCHAR, 5, '0') AS postal_code, 'US' AS country,
           25 + ${randomInteger(dealer, 4, 2400)} / 100.0 AS latitude, -124 + ${randomInteger(dealer, 5, 5600)} / 100.0 AS longitude,
           'dealer' || dealer || '.example' AS website, '(555) 555-' || lpad((dealer % 10000)::VARCHAR, 4, '0') AS phone
    FROM range(${integerLiteral(dealers)}) AS dealers(dealer)`;
}

/** Columns `listing`, `build` and `dealer` are the numbers from which all values of a row are derived. */
function inventoryRows({ listings, turnover, format }: FeedShape, index: number, dealers: number): Sql {
  const listing = sql`listing`;
  const build = sql`build`;
  const first = Math.round(listings * turnover) * index;
  const features = sql`list_concat(list_transform(range(12), lambda n: 'feature_' || ((build * 7 + n * 13) % 140)),
    ['feature_' || (140 + ${randomInteger(listing, 20, 60)})])`;
  const options = sql`list_transform(range(5), lambda n: upper(substr(md5((build % 40 * 31 + n)::VARCHAR), 1, 3)))`;
  const photos = sql`list_transform(range(3), lambda n: 'https://images.dealer' || dealer || '.example/' || listing || '/' || n || '.jpg')`;
  const list = (items: Sql): Sql => (format === "csv" ? sql`array_to_string(${items}, '|')` : items);
  return sql`
    SELECT left(vin, 8) || ${checkDigitOf(sql`vin`)} || substr(vin, 10) AS vin,
           md5('dealer' || dealer)::UUID::VARCHAR AS dealer_id, ${randomChoice(listing, 7, "new", "used", "used", "certified")} AS inventory_type,
           'stock' AS availability_status, 'S' || ${randomInteger(listing, 8, 900000)} AS stock_number, 2015 + build % 12 AS "year",
           'Make ' || (build % 45) AS make, 'Model ' || (build % 350) AS model, 'Trim ' || (build % 9) AS trim, 'Version ' || build AS version,
           ${randomChoice(build, 9, "SUV", "Sedan", "Pickup", "Coupe", "Van")} AS body_type, ${randomChoice(build, 10, "FWD", "AWD", "RWD", "4WD")} AS drivetrain,
           ${randomChoice(build, 11, "Gasoline", "Diesel", "Electric", "Hybrid")} AS fuel_type, '8-Speed Automatic' AS transmission,
           ${randomChoice(build, 12, "2.0L I4", "3.5L V6", "5.0L V8")} AS engine, 4 + 2 * (build % 3) AS cylinders, 4 AS doors, 5 AS seating_capacity,
           'Color ' || ${randomInteger(listing, 13, 400)} AS exterior_color, 'Interior ' || ${randomInteger(listing, 14, 60)} AS interior_color,
           ${randomChoice(listing, 15, "Black", "White", "Gray", "Silver", "Blue", "Red")} AS base_exterior_color, 'Black' AS base_interior_color,
           'Dearborn, Michigan' AS assembly_location, 'United States' AS assembly_country,
           8000 + ${randomInteger(listing, 16, 60000)} - if(hash(listing + ${integerLiteral(index)}) % 50 = 0, 500, 0) AS price,
           20000 + ${randomInteger(build, 17, 60000)} AS msrp, ${randomInteger(listing, 18, 120000)} AS miles,
           'https://dealer' || dealer || '.example/used/' || listing AS vdp_url, ${list(photos)} AS photo_urls,
           ${list(features)} AS features, ${list(options)} AS options_packages, ${randomChoice(listing, 19, "clean_title", "one_owner", "fleet")} AS keywords
    FROM (SELECT listing, build, dealer, substr('1FA1FT1G13GC2T35YJJTDKM8WBAWA15XY4T1JF25NP3VW', 1 + 3 * (build % 15), 3) || substr(upper(md5(build::VARCHAR)), 1, 5)
            || '0S' || substr('ABCDEFGH', 1 + build % 8, 1) || lpad((listing % 1000000)::VARCHAR, 6, '0') AS vin
          FROM (SELECT listing, ${randomInteger(listing, 21, 12_000)} AS build, least(${randomInteger(listing, 22, dealers)}, ${randomInteger(listing, 23, dealers)}) AS dealer
                FROM range(${integerLiteral(first)}, ${integerLiteral(first + listings)}) AS counter(listing)))`;
}
