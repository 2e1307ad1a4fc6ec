/**
 * Why the hot copy is stored and asked as it is: `node --import tsx bench/hot-copy/run.ts --lake DIR [--rounds 9]`.
 * The active listings of a lake (`npm run bench` keeps some in `bench/.data`) are stored in several ways, and the same question is put to
 * each in turn; what is in use stands last.
 */
import { mkdtemp, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join as joinPath, resolve } from "node:path";
import { parseArgs } from "node:util";
import { literal, name, type Sql, sql } from "../../src/base/sql.ts";
import { Database, type Session } from "../../src/lake/duckdb.ts";
import { columnsNumbered, hotStorage, makeHotTables } from "../../src/lake/hot-tables.ts";
import { filesIn, positioned } from "../../src/lake/views.ts";
import { manifestOf } from "../flat.ts";

const { values } = parseArgs({ options: { lake: { type: "string" }, rounds: { type: "string", default: "9" } } });
const lake = resolve(values.lake ?? "data/lake");
const rounds = Number(values.rounds);
const manifest = await manifestOf(lake);
const listings = positioned(filesIn(manifest.tables, "snapshots", manifest.as_of), lake);

interface Variant {
  readonly name: string;
  readonly query: () => Sql;
  /** Said to the engine before the query. */
  readonly setting?: Sql;
}

const always = (query: Sql) => () => query;
const groups = (column: Sql, from: Sql): Sql =>
  sql`SELECT count(*) FROM (SELECT ${column}, count(*) FROM ${from} GROUP BY ${column})`;
const tokens = (lists: Sql): Sql =>
  sql`SELECT token_key, sum(n) FROM (SELECT unnest(token_keys) AS token_key, n FROM (${lists})) GROUP BY token_key`;
const plainArrays = sql`SET perfect_ht_threshold = 20`;

/** Rows of a page whose listings lie anywhere, others each time. */
const page = (column: Sql, from: Sql) => (): Sql => {
  const places = Array.from({ length: 50 }, () => Math.floor(Math.random() * rows));
  return sql`SELECT ${column} FROM ${from} WHERE rowid IN (SELECT unnest(${places}))`;
};

const questions: Readonly<Record<string, readonly Variant[]>> = {
  "count by a short word": [
    { name: "storage of 1.0", query: always(groups(sql`inventory_type`, sql`old.listings`)) },
    { name: "newest storage", query: always(groups(sql`inventory_type`, sql`hot.listings`)) },
  ],
  "count by build": [
    {
      ...{ name: "hash table", setting: sql`SET perfect_ht_threshold = 12` },
      query: always(groups(sql`build_key`, sql`hot.listings`)),
    },
    { name: "plain array", setting: plainArrays, query: always(groups(sql`build_key`, sql`hot.listings`)) },
  ],
  "count features": [
    { name: "of every list", query: always(tokens(sql`SELECT features AS token_keys, 1 AS n FROM hot.listings`)) },
    {
      name: "of every set",
      query: always(
        tokens(sql`SELECT value AS token_keys, n FROM (SELECT features_key AS key, count(*) AS n FROM hot.listings GROUP BY key)
          JOIN hot.features_values USING (key)`),
      ),
    },
  ],
  "fifty texts": [
    { name: "vdp_url, as the engine chooses", query: page(sql`vdp_url`, sql`chosen.listings`) },
    { name: "vdp_url, zstd", query: page(sql`vdp_url`, sql`hot.listings`) },
    { name: "stock_number, as the engine chooses", query: page(sql`stock_number`, sql`chosen.listings`) },
    { name: "stock_number, uncompressed", query: page(sql`stock_number`, sql`hot.listings`) },
  ],
  "the first page of all": [
    {
      name: "one pass for total and places",
      query: always(
        sql`SELECT count(*), min((coalesce(days_on_market, 2147483647)::BIGINT << 32) + rowid, 50) FROM hot.listings`,
      ),
    },
    {
      name: "the total is known",
      query: always(sql`SELECT rowid FROM hot.listings ORDER BY days_on_market NULLS LAST, rowid LIMIT 50`),
    },
  ],
  "statistics of prices": [
    {
      name: "percentiles of all values",
      query: always(sql`SELECT quantile_cont(price, [0.01, 0.5, 0.99]), sum(price::BIGINT * price) FROM hot.listings`),
    },
    {
      name: "a histogram, cumulated",
      query:
        always(sql`SELECT max(upto) FROM (SELECT price, sum(n) OVER (ORDER BY price ROWS UNBOUNDED PRECEDING) AS upto
        FROM (SELECT price, count(*) AS n FROM hot.listings WHERE price IS NOT NULL GROUP BY price))`),
    },
  ],
};

const folder = await mkdtemp(joinPath(tmpdir(), "carquet-hot-copy-"));
const database = await Database.open({ temporaryFolder: joinPath(folder, "spilled") });
const session = await database.connect();
let rows = 0;
try {
  rows = await stored(session);
  const areNumbered = (await columnsNumbered(session, "hot")).includes("features");
  for (const [question, variants] of Object.entries(questions)) {
    if (areNumbered || question !== "count features") await ask(question, variants);
    else process.stdout.write(`${question}: nearly every listing has a set of its own; not asked\n`);
  }
} finally {
  session.close();
  database.close();
  await rm(folder, { recursive: true });
}

/** Stores the listings: as the hot copy does, as the engine would, and as its first version would. Gives how many there are. */
async function stored(to: Session): Promise<number> {
  const attach = (catalog: string, storage: Sql): Promise<void> =>
    to.run(sql`ATTACH ${literal(joinPath(folder, `${catalog}.duckdb`))} AS ${name(catalog)} (${storage})`);
  await attach("hot", hotStorage);
  await attach("chosen", hotStorage);
  await attach("old", sql`STORAGE_VERSION 'v1.0.0'`);
  await makeHotTables(to, "hot", listings);
  await to.run(sql`CREATE TABLE chosen.listings AS SELECT stock_number, vdp_url FROM (${listings})`);
  await to.run(sql`CREATE TABLE old.listings AS SELECT inventory_type FROM (${listings})`);
  for (const catalog of ["hot", "chosen", "old"]) {
    await to.run(sql`CHECKPOINT ${name(catalog)}`);
    const { size } = await stat(joinPath(folder, `${catalog}.duckdb`));
    process.stdout.write(`${catalog}: ${Math.round(size / 2 ** 20)} MiB\n`);
  }
  return manifest.tables.snapshots
    .filter(({ partition }) => partition === manifest.as_of)
    .reduce((sum, file) => sum + file.rows, 0);
}

/** Asks in turn, and prints the median of each variant. */
async function ask(question: string, variants: readonly Variant[]): Promise<void> {
  const took = variants.map((): number[] => []);
  for (let round = 0; round <= rounds; round += 1) {
    for (const [place, { query, setting = plainArrays }] of variants.entries()) {
      await session.run(setting);
      const startedAtMs = performance.now();
      await session.rows(query());
      if (round > 0) took[place]?.push(performance.now() - startedAtMs);
    }
  }
  for (const [place, { name: variant }] of variants.entries()) {
    const sorted = (took[place] ?? []).sort((one, other) => one - other);
    process.stdout.write(`${question}, ${variant}: ${(sorted[sorted.length >> 1] ?? 0).toFixed(1)} ms\n`);
  }
}
