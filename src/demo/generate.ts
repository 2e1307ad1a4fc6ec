/**
 * Demo market generator: writes the daily deliveries of a scaled-down United States market, of any size, from a seed.
 *
 * A car is a number. Its variant, dealer, dates, prices and dirt are functions of that number and the seed, computed by set-based SQL over
 * the reference data in `data/reference/market`. Only narrow columns are held for all cars; the wide rows of a day are streamed to files in
 * parts, so memory does not grow with the output. The same seed produces the same bytes on any number of threads.
 */
import { mkdir, readdir } from "node:fs/promises";
import { join as joinPath } from "node:path";
import { plusDays } from "../base/day.ts";
import { createFolder } from "../base/files.ts";
import { integerIn } from "../base/json.ts";
import { projectPath } from "../base/project-files.ts";
import { UserError } from "../base/user-error.ts";
import { type DatabaseOptions, DuckDatabase, type Session } from "../db/duckdb.ts";
import { fileLiteral, ident, literal, numberLiteral, pathLiteral, type Sql, sql } from "../db/sql.ts";
import { inventoryParts, rowsPerFile, writeDialect } from "./deliveries/dialect-files.ts";
import { dialects } from "./deliveries/dialects.ts";
import { createFeedFailures, isOpen } from "./deliveries/dirt.ts";
import { createDayRows, inventoryRows } from "./deliveries/inventory.ts";
import { createAppeal } from "./market/appeal.ts";
import { createCars } from "./market/cars.ts";
import { createDealers } from "./market/dealers.ts";
import { createStays } from "./market/stays.ts";
import type { MarketShape } from "./market-shape.ts";
import { type RandomDraws, randomDraws } from "./random.ts";
import { createTruthTables, writeTruth } from "./truth.ts";
import { createCatalogue } from "./vehicles/catalogue.ts";
import { createEquipment } from "./vehicles/equipment.ts";
import { createVariants } from "./vehicles/variants.ts";

/** Default memory limit of the engine, which spills to disk beyond it. */
const memoryLimit = "3GiB";

/** Progress callback, called when a step begins: `step` counts from 1 to `steps`. */
type OnGenerateStep = (step: number, steps: number, description: string) => void;

type GenerateOptions = DatabaseOptions & { readonly onStep?: OnGenerateStep };

/** A day whose delivery was written. */
interface GeneratedDay {
  /** Path of the day's folder. */
  readonly folder: string;
  readonly rows: number;
}

export interface GeneratedMarket {
  readonly days: number;
  /** Number of inventory rows of all days. */
  readonly rows: number;
}

/** Writes all deliveries of a market to a folder. See `generateDays`. */
export async function generate(
  out: string,
  shape: MarketShape,
  options: GenerateOptions = {},
): Promise<GeneratedMarket> {
  let rows = 0;
  for await (const day of generateDays(out, shape, options)) rows += day.rows;
  return { days: shape.days, rows };
}

/**
 * Writes the deliveries of a market to a folder, lazily, one folder YYYY-MM-DD per iteration. Finally writes `truth.csv` (the expected counts
 * of each day) and `dirt.csv` (the number of rows with each kind of dirt). Throws a UserError if the folder is not empty.
 */
export async function* generateDays(
  out: string,
  shape: MarketShape,
  options: GenerateOptions = {},
): AsyncGenerator<GeneratedDay, void, undefined> {
  await createFolder(out);
  if ((await readdir(out)).length > 0)
    throw new UserError(`${out}: folder is not empty: expected an empty or new folder.`);
  const database = await DuckDatabase.open({
    memoryLimit,
    ...(shape.listings <= rowsPerFile ? { threads: 1 } : {}),
    ...options,
    temporaryFolder: options.temporaryFolder ?? joinPath(out, ".spilled"),
  });
  const steps = shape.days + 1;
  const draws = randomDraws(shape.seed);
  const session = await database.connect();
  try {
    options.onStep?.(1, steps, "creating the market");
    await createMarket(session, draws, shape);
    for (let day = 0; day < shape.days; day += 1) {
      const date = plusDays(shape.end, day - shape.days + 1);
      const folder = joinPath(out, date);
      options.onStep?.(day + 2, steps, `writing the delivery of ${date}`);
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

async function createMarket(session: Session, draws: RandomDraws, shape: MarketShape): Promise<void> {
  await loadFactTables(session);
  await createVariants(session, shape.end);
  await createAppeal(session);
  await createCatalogue(session);
  await createEquipment(session, draws, shape.options);
  await createDealers(session, draws, shape);
  await createCars(session, draws, shape);
  await createStays(session, draws, shape);
  await createFeedFailures(session, draws, shape);
  await createTruthTables(session, shape);
}

/** The position of a day in the span, its date, and its folder. */
interface DayTarget {
  readonly day: number;
  readonly date: string;
  readonly folder: string;
}

/** Writes the feed files of a day. Returns the number of inventory rows. */
async function writeDay(
  session: Session,
  draws: RandomDraws,
  shape: MarketShape,
  { day, date, folder }: DayTarget,
): Promise<number> {
  const { format, dialect } = shape;
  await mkdir(folder);
  await createDayRows(session, day);
  const rows = integerIn(await session.row(sql`SELECT count(*)::INTEGER AS n FROM day_rows`), "n");
  const carsIn = (condition: Sql): Sql => inventoryRows(draws, shape, day, condition);
  if (dialect !== undefined) {
    await writeDialect(session, folder, { dialect: dialects[dialect], rows, carsIn });
    return rows;
  }
  await copy(session, dealerRows(day, format), joinPath(folder, "dealers"), format);
  await copy(session, optionRows, joinPath(folder, "options"), format);
  await copy(session, deliveryRows(day, date), joinPath(folder, "deliveries"), format);
  for (const { suffix, condition } of inventoryParts(rows))
    await copy(session, carsIn(condition), joinPath(folder, `inventory${suffix}`), format);
  return rows;
}

const openDealers = (day: number): Sql => sql`FROM dealers WHERE ${isOpen(numberLiteral(day))}`;

function dealerRows(day: number, format: MarketShape["format"]): Sql {
  const makes = format === "csv" ? sql`array_to_string(makes, '|')` : sql`makes`;
  return sql`
    SELECT dealer_id, name, if(store IS NULL, 'independent', 'franchise') AS "type", line1, city, state, postal_code, 'US' AS country, latitude, longitude,
           phone, 'https://www.' || host || '/' AS website, ${makes} AS makes ${openDealers(day)} ORDER BY dealer`;
}

const optionRows = sql`
  SELECT make, code, name, msrp FROM options_facts JOIN makes_facts USING (maker) ORDER BY make, options_facts.line`;

/** Deliveries of all open dealers whose feed is not absent. */
function deliveryRows(day: number, date: string): Sql {
  const isAbsent = sql`dealer IN (SELECT dealer FROM feed_failures WHERE day = ${numberLiteral(day)} AND failure = 'absent')`;
  return sql`
    SELECT dealer_id, strftime(${literal(`${date} 08:30:00`)}::TIMESTAMP + to_seconds(reads_at), '%Y-%m-%dT%H:%M:%SZ') AS delivered_at
    ${openDealers(day)} AND NOT ${isAbsent} ORDER BY dealer`;
}

async function copy(session: Session, rows: Sql, path: string, format: MarketShape["format"]): Promise<void> {
  const settings = format === "csv" ? sql`FORMAT csv, HEADER true` : sql`FORMAT parquet, COMPRESSION zstd`;
  await session.run(sql`COPY (${rows}) TO ${fileLiteral(`${path}.${format}`)} (${settings})`);
}

const factFiles = "ages base_colors features lines makes models names options paints plants regions seasons".split(" ");

/** Creates a table `<file>_facts` per reference file, with the file's row number as `line`, and the tables `zips`, `state_people` and `aliases`. */
async function loadFactTables(session: Session): Promise<void> {
  for (const file of [...factFiles, "stores", "states"]) {
    await session.createTempTable(
      `${file}_facts`,
      sql`SELECT row_number() OVER () AS line, * FROM ${csv(`market/${file}.csv`)}`,
    );
  }
  await session.createTempTable(
    "zips",
    sql`SELECT *, sum(population) OVER (ORDER BY state, postal_code ROWS UNBOUNDED PRECEDING) - population AS people_before
        FROM ${csv("zip_codes.csv", "postal_code")} SEMI JOIN states_facts USING (state) WHERE population > 0`,
  );
  await session.createTempTable(
    "state_people",
    sql`SELECT state, region, min(people_before) AS people_before, sum(population) AS people FROM zips JOIN states_facts USING (state) GROUP BY ALL`,
  );
  await session.createTempTable(
    "aliases",
    sql`SELECT attribute, canonical, max(spelling) AS alias FROM ${csv("spellings.csv")} WHERE lower(canonical) <> spelling GROUP BY ALL`,
  );
}

const csv = (file: string, textColumn?: string) => {
  const types = textColumn === undefined ? sql`` : sql`, types = {${literal(textColumn)}: 'VARCHAR'}`;
  return sql`read_csv(${pathLiteral(projectPath(`data/reference/${file}`))}, header = true${types})`;
};
