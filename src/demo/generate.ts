/**
 * A market of any size from a seed: the United States in miniature, as the daily deliveries of its dealers.
 *
 * A car is a number; its version, dealer, days, prices and troubles are functions of it and of the seed, computed by set-based SQL
 * over facts in `data/reference/market`. Narrow columns of all cars are kept, the wide rows of a day stream to files in parts, so
 * that memory does not grow with what is written. The same seed gives the same bytes, on any number of threads.
 */
import { mkdir, readdir } from "node:fs/promises";
import { join as joinPath } from "node:path";
import { plusDays } from "../base/day.ts";
import { integerIn } from "../base/json.ts";
import { UserError } from "../base/user-error.ts";
import { type DatabaseOptions, DuckDatabase, type Session } from "../db/duckdb.ts";
import { ident, literal, numberLiteral, type Sql, sql } from "../db/sql.ts";
import { createFeedFailures, isOpen } from "./deliveries/feed-failures.ts";
import { inventoryRows } from "./deliveries/inventory.ts";
import { createTodayTable } from "./deliveries/today.ts";
import { createCars } from "./market/cars.ts";
import { createDealers } from "./market/dealers.ts";
import { createStays } from "./market/stays.ts";
import type { MarketShape } from "./market-shape.ts";
import { type RandomDraws, randomDraws } from "./random.ts";
import { loadFactTables } from "./reference.ts";
import { createTruthTables, writeTruth } from "./truth.ts";
import { createCatalogue } from "./vehicles/catalogue.ts";
import { createEquipment } from "./vehicles/equipment.ts";
import { createVariants } from "./vehicles/variants.ts";

/** Rows of a file: what is sorted at once, and what a second thread is no help with. */
const rowsOfFile = 100_000;
/** Enough for a market of millions; what does not fit spills. */
const memoryLimit = "3GiB";

/** Told as each step begins: its number, how many there are, and what it does. */
export type OnGenerateStep = (step: number, steps: number, what: string) => void;

export type GenerateOptions = DatabaseOptions & { readonly onStep?: OnGenerateStep };

/** One day's deliveries, written. */
export interface GeneratedDay {
  readonly folder: string;
  /** Rows of inventory. */
  readonly rows: number;
}

export interface GeneratedMarket {
  readonly days: number;
  /** Rows of inventory, over all days. */
  readonly rows: number;
}

/** Writes a market's deliveries below a folder, all of them; see `delivering`. */
export async function generate(
  out: string,
  shape: MarketShape,
  options: GenerateOptions = {},
): Promise<GeneratedMarket> {
  let rows = 0;
  for await (const delivered of generateDays(out, shape, options)) rows += delivered.rows;
  return { days: shape.days, rows };
}

/**
 * Writes a market's deliveries below a folder, one dated folder a day, each when it is asked for, and at last beside them `truth.csv`
 * (what happened, day by day) and `dirt.csv` (which rows were written wrongly). Fails when the folder has something in it.
 */
export async function* generateDays(
  out: string,
  shape: MarketShape,
  options: GenerateOptions = {},
): AsyncGenerator<GeneratedDay, void, undefined> {
  await mkdir(out, { recursive: true });
  if ((await readdir(out)).length > 0) throw new UserError(`${out}: the folder is not empty.`);
  const database = await DuckDatabase.open({
    memoryLimit,
    ...(shape.listings <= rowsOfFile ? { threads: 1 } : {}),
    ...options,
    temporaryFolder: options.temporaryFolder ?? joinPath(out, ".spilled"),
  });
  const steps = shape.days + 1;
  const draws = randomDraws(shape.seed);
  const session = await database.connect();
  try {
    options.onStep?.(1, steps, "makes the market");
    await makeMarket(session, draws, shape);
    for (let day = 0; day < shape.days; day += 1) {
      const date = plusDays(shape.end, day - shape.days + 1);
      const folder = joinPath(out, date);
      options.onStep?.(day + 2, steps, `delivers ${date}`);
      const rows = await writeDay(session, draws, shape, { day, date, folder });
      await writeTruth(session, day, date);
      yield { folder, rows };
    }
    for (const table of ["truth", "dirt"]) await copy(session, sql`FROM ${ident(table)}`, joinPath(out, table), "csv");
  } finally {
    session.close();
    database.close();
  }
}

async function makeMarket(session: Session, draws: RandomDraws, shape: MarketShape): Promise<void> {
  await loadFactTables(session);
  await createVariants(session, shape.end);
  await createCatalogue(session);
  await createEquipment(session, draws, shape.options);
  await createDealers(session, draws, shape);
  await createCars(session, draws, shape);
  await createStays(session, draws, shape);
  await createFeedFailures(session, draws, shape);
  await createTruthTables(session, shape);
}

/** Writes the files of a day; gives how many rows of inventory. */
async function writeDay(
  session: Session,
  draws: RandomDraws,
  shape: MarketShape,
  { day, date, folder }: { readonly day: number; readonly date: string; readonly folder: string },
): Promise<number> {
  const { format } = shape;
  await mkdir(folder);
  await createTodayTable(session, day);
  const openDealers = sql`FROM dealers WHERE ${isOpen(numberLiteral(day))}`;
  const troubled = (trouble: string): Sql =>
    sql`dealer IN (SELECT dealer FROM troubles WHERE day = ${numberLiteral(day)} AND trouble = ${literal(trouble)})`;
  const makes = format === "csv" ? sql`array_to_string(makes, '|')` : sql`makes`;
  await copy(
    session,
    sql`SELECT dealer_id, name, if(store IS NULL, 'independent', 'franchise') AS "type", line1, city, state, postal_code, 'US' AS country, latitude, longitude,
    phone, 'https://www.' || host || '/' AS website, ${makes} AS makes ${openDealers} ORDER BY dealer`,
    joinPath(folder, "dealers"),
    format,
  );
  await copy(
    session,
    sql`SELECT make, code, name, msrp FROM options_facts JOIN makes_facts USING (maker) ORDER BY make, options_facts.line`,
    joinPath(folder, "options"),
    format,
  );
  await copy(
    session,
    sql`SELECT dealer_id, strftime(${literal(`${date} 08:30:00`)}::TIMESTAMP + to_seconds(reads_at), '%Y-%m-%dT%H:%M:%SZ') AS delivered_at
    ${openDealers} AND NOT ${troubled("absent")} ORDER BY dealer`,
    joinPath(folder, "deliveries"),
    format,
  );
  const rows = integerIn(await session.row(sql`SELECT count(*)::INTEGER AS n FROM today`), "n");
  const parts = Math.max(1, Math.ceil(rows / rowsOfFile));
  for (let part = 0; part < parts; part += 1) {
    const file = parts === 1 ? "inventory" : `inventory-${String(part + 1).padStart(3, "0")}`;
    const within = sql`line BETWEEN ${numberLiteral(part * rowsOfFile)} AND ${numberLiteral((part + 1) * rowsOfFile - 1)}`;
    await copy(session, inventoryRows(draws, shape, day, within), joinPath(folder, file), format);
  }
  return rows;
}

async function copy(session: Session, rows: Sql, path: string, format: MarketShape["format"]): Promise<void> {
  const form = format === "csv" ? sql`FORMAT csv, HEADER true` : sql`FORMAT parquet, COMPRESSION zstd`;
  await session.run(sql`COPY (${rows}) TO ${literal(`${path}.${format}`)} (${form})`);
}
