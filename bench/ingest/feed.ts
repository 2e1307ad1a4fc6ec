/**
 * Synthetic deliveries of any size, for measuring: plain SQL over a counter, the same for the same arguments. Not a market: for
 * that see the generator; here only volumes and lengths are true to life.
 */
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { plusDays } from "../../src/base/day.ts";
import { DuckDatabase, type Session } from "../../src/db/duckdb.ts";
import { integerLiteral, literal, type Sql, sql } from "../../src/db/sql.ts";
import { checkDigitOf } from "../../src/ingest/normalize/vin.ts";

export interface FeedShape {
  readonly listings: number;
  /** How many of a day's listings are new, and how many of the day before are gone. */
  readonly turnover: number;
  readonly format: "csv" | "parquet";
}

/** Writes the delivery of a day, the `index`th; gives its folder. */
export async function writeDelivery(out: string, firstDay: string, index: number, shape: FeedShape): Promise<string> {
  const folder = join(out, plusDays(firstDay, index));
  await mkdir(folder, { recursive: true });
  const database = await DuckDatabase.open();
  await database.using(async (session) => {
    const dealers = Math.max(20, Math.round(shape.listings / 150));
    await copy(session, dealersOf(dealers), join(folder, "dealers"), shape.format);
    await copy(session, inventoryOf(shape, index, dealers), join(folder, "inventory"), shape.format);
  });
  database.close();
  return folder;
}

async function copy(session: Session, query: Sql, path: string, format: FeedShape["format"]): Promise<void> {
  const options = format === "csv" ? sql`FORMAT csv, HEADER true` : sql`FORMAT parquet, COMPRESSION zstd`;
  await session.run(sql`COPY (${query}) TO ${literal(`${path}.${format}`)} (${options})`);
}

/** A number below `below` that follows from a counter and a salt. */
const draw = (counter: Sql, salt: number, below: number): Sql =>
  sql`(hash(${counter} + ${integerLiteral(salt * 1_000_003)}) % ${integerLiteral(below)})::INTEGER`;

const oneOf = (counter: Sql, salt: number, ...words: readonly string[]): Sql =>
  sql`(${words})[1 + ${draw(counter, salt, words.length)}]`;

function dealersOf(dealers: number): Sql {
  const d = sql`d`;
  return sql`
    SELECT md5('dealer' || d)::UUID::VARCHAR AS dealer_id, 'Dealer ' || d AS name, 'City ' || ${draw(d, 1, 900)} AS city,
           ${oneOf(d, 2, "CA", "TX", "FL", "NY", "PA", "IL", "OH", "GA", "NC", "MI", "NJ", "VA", "WA", "AZ", "MA", "TN")} AS state,
           lpad((10000 + ${draw(d, 3, 80000)})::VARCHAR, 5, '0') AS postal_code, 'US' AS country,
           25 + ${draw(d, 4, 2400)} / 100.0 AS latitude, -124 + ${draw(d, 5, 5600)} / 100.0 AS longitude,
           'dealer' || d || '.example' AS website, '(555) 555-' || lpad((d % 10000)::VARCHAR, 4, '0') AS phone
    FROM range(${integerLiteral(dealers)}) AS dealers(d)`;
}

function inventoryOf({ listings, turnover, format }: FeedShape, index: number, dealers: number): Sql {
  const [i, b] = [sql`i`, sql`b`];
  const first = Math.round(listings * turnover) * index;
  const features = sql`list_concat(list_transform(range(12), lambda f: 'feature_' || ((b * 7 + f * 13) % 140)),
    ['feature_' || (140 + ${draw(i, 20, 60)})])`;
  const options = sql`list_transform(range(5), lambda o: upper(substr(md5((b % 40 * 31 + o)::VARCHAR), 1, 3)))`;
  const photos = sql`list_transform(range(3), lambda p: 'https://images.dealer' || d || '.example/' || i || '/' || p || '.jpg')`;
  const list = (items: Sql): Sql => (format === "csv" ? sql`array_to_string(${items}, '|')` : items);
  return sql`
    SELECT left(vin, 8) || ${checkDigitOf(sql`vin`)} || substr(vin, 10) AS vin,
           md5('dealer' || d)::UUID::VARCHAR AS dealer_id, ${oneOf(i, 7, "new", "used", "used", "certified")} AS inventory_type,
           'stock' AS availability_status, 'S' || ${draw(i, 8, 900000)} AS stock_number, 2015 + b % 12 AS "year",
           'Make ' || (b % 45) AS make, 'Model ' || (b % 350) AS model, 'Trim ' || (b % 9) AS trim, 'Version ' || b AS version,
           ${oneOf(b, 9, "SUV", "Sedan", "Pickup", "Coupe", "Van")} AS body_type, ${oneOf(b, 10, "FWD", "AWD", "RWD", "4WD")} AS drivetrain,
           ${oneOf(b, 11, "Gasoline", "Diesel", "Electric", "Hybrid")} AS fuel_type, '8-Speed Automatic' AS transmission,
           ${oneOf(b, 12, "2.0L I4", "3.5L V6", "5.0L V8")} AS engine, 4 + 2 * (b % 3) AS cylinders, 4 AS doors, 5 AS seating_capacity,
           'Color ' || ${draw(i, 13, 400)} AS exterior_color, 'Interior ' || ${draw(i, 14, 60)} AS interior_color,
           ${oneOf(i, 15, "Black", "White", "Gray", "Silver", "Blue", "Red")} AS base_exterior_color, 'Black' AS base_interior_color,
           'Dearborn, Michigan' AS assembly_location, 'United States' AS assembly_country,
           8000 + ${draw(i, 16, 60000)} - if(hash(i + ${integerLiteral(index)}) % 50 = 0, 500, 0) AS price,
           20000 + ${draw(b, 17, 60000)} AS msrp, ${draw(i, 18, 120000)} AS miles,
           'https://dealer' || d || '.example/used/' || i AS vdp_url, ${list(photos)} AS photo_urls,
           ${list(features)} AS features, ${list(options)} AS options_packages, ${oneOf(i, 19, "clean_title", "one_owner", "fleet")} AS keywords
    FROM (SELECT i, b, d, substr('1FA1FT1G13GC2T35YJJTDKM8WBAWA15XY4T1JF25NP3VW', 1 + 3 * (b % 15), 3) || substr(upper(md5(b::VARCHAR)), 1, 5)
            || '0S' || substr('ABCDEFGH', 1 + b % 8, 1) || lpad((i % 1000000)::VARCHAR, 6, '0') AS vin
          FROM (SELECT i, ${draw(i, 21, 12_000)} AS b, least(${draw(i, 22, dealers)}, ${draw(i, 23, dealers)}) AS d
                FROM range(${integerLiteral(first)}, ${integerLiteral(first + listings)}) AS counter(i)))`;
}
