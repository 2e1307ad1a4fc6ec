/**
 * Why the hot copy and the row copies are stored and asked as they are: `node --import tsx bench/hot-copy/run.ts --lake DIR [--rounds 9]`.
 * The active listings of a lake (`npm run bench` keeps some in `bench/.data`) are stored in several ways, and the same question is put to
 * each in turn; what is in use stands last.
 */
import assert from "node:assert/strict";
import { mkdtemp, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join as joinPath, resolve } from "node:path";
import { parseArgs } from "node:util";
import { literal, name, type Sql, sql } from "../../src/base/sql.ts";
import { Database } from "../../src/lake/duckdb.ts";
import { columnsNumbered, countsOf, firstsOf, hotStorage, makeHotTables } from "../../src/lake/hot-tables.ts";
import { listingLines, readOf } from "../../src/lake/readings.ts";
import { makeRowFile, RowFile } from "../../src/lake/row-file.ts";
import { filesIn, positioned } from "../../src/lake/views.ts";
import { manifestOf } from "../flat.ts";

const { values } = parseArgs({ options: { lake: { type: "string" }, rounds: { type: "string", default: "9" } } });
const lake = resolve(values.lake ?? "data/lake");
const rounds = Number(values.rounds);
const manifest = await manifestOf(lake);
const files = filesIn(manifest.tables, "snapshots", manifest.as_of);
const listings = positioned(files, lake);
const firstFile = files[0] ?? assert.fail("there are no active listings");

interface Variant {
  readonly name: string;
  readonly run: () => Promise<unknown> | unknown;
  /** Said to the engine before. */
  readonly setting?: Sql;
}

const always = (query: Sql) => () => session.rows(query);
const groups = (column: Sql, from: Sql): Sql =>
  sql`SELECT count(*) FROM (SELECT ${column}, count(*) FROM ${from} GROUP BY ${column})`;
const tokens = (lists: Sql): Sql =>
  sql`SELECT token_key, sum(n) FROM (SELECT unnest(token_keys) AS token_key, n FROM (${lists})) GROUP BY token_key`;
const plainArrays = sql`SET perfect_ht_threshold = 20`;

/** The places of a page whose listings lie anywhere in the first file, others each time. */
const page = (): readonly number[] => Array.from({ length: 50 }, () => Math.floor(Math.random() * firstFile.rows));
const ofDealers = sql`SELECT dealer_key FROM hot.dealers WHERE dealer_key % 7 = 0`;
const places = sql`(coalesce(days_on_market, 2147483647)::BIGINT << 32) + row_number`;
const ofThem = (from: Sql): Sql => sql`FROM ${from} JOIN (${ofDealers}) USING (dealer_key)`;

/** Percentiles, and how many there are in ranges, of a common table expression `prices`. */
const statisticsOf = (prices: Sql): readonly Variant[] => [
  {
    name: "one by one, twice",
    run: always(sql`WITH ${prices} SELECT (SELECT quantile_cont(price, [0.01, 0.5, 0.99]) FROM prices),
      (SELECT count(*) FROM (SELECT count(*) FROM prices GROUP BY price // 5000))`),
  },
  {
    name: "counted by value first",
    run: always(sql`WITH ${prices}, histogram AS MATERIALIZED (SELECT price, n, sum(n) OVER (ORDER BY price ROWS UNBOUNDED PRECEDING) AS upto
        FROM (SELECT price, count(*) AS n FROM prices WHERE price IS NOT NULL GROUP BY price))
      SELECT (SELECT max(upto) FROM histogram), (SELECT count(*) FROM (SELECT sum(n) FROM histogram GROUP BY price // 5000))`),
  },
];

const questions: Readonly<Record<string, readonly Variant[]>> = {
  "count by a short word": [
    { name: "storage of 1.0", run: always(groups(sql`inventory_type`, sql`old.listings`)) },
    { name: "newest storage", run: always(groups(sql`inventory_type`, sql`hot.listings`)) },
    { name: "by its key", run: always(groups(sql`inventory_type_key`, sql`hot.listings`)) },
  ],
  "count by build": [
    {
      ...{ name: "hash table", setting: sql`SET perfect_ht_threshold = 12` },
      run: always(groups(sql`build_key`, sql`hot.listings`)),
    },
    { name: "plain array", setting: plainArrays, run: always(groups(sql`build_key`, sql`hot.listings`)) },
  ],
  "count features": [
    { name: "of every list", run: always(tokens(sql`SELECT features AS token_keys, 1 AS n FROM hot.listings`)) },
    {
      name: "of every set",
      run: always(
        tokens(sql`SELECT value AS token_keys, n FROM (SELECT features_key AS key, count(*) AS n FROM hot.listings GROUP BY key)
          JOIN hot.features_values USING (key)`),
      ),
    },
  ],
  "fifty rows of a page": [
    {
      name: "from thirty columns",
      run: () =>
        session.rows(
          sql`SELECT ${readOf(listingLines.columns)} FROM whole.listings AS facts WHERE rowid IN (SELECT unnest(${page()}))`,
        ),
    },
    { name: "one by one", run: () => page().map((place) => rowFile.at(place)) },
  ],
  "how many listings some dealers have": [
    { name: "each asked", run: always(sql`SELECT count(*) FROM hot.listings WHERE dealer_key IN (${ofDealers})`) },
    { name: "keys joined", run: always(sql`SELECT count(*) ${ofThem(sql`hot.listings`)}`) },
    {
      name: "summed up by key",
      run: always(sql`SELECT sum(listings)::INTEGER ${ofThem(countsOf("hot", "dealer_key"))}`),
    },
  ],
  "the first page of some dealers": [
    {
      name: "one pass for total and places",
      run: always(
        sql`SELECT count(*), min(${places}, 50) ${ofThem(sql`(SELECT *, rowid AS row_number FROM hot.listings)`)}`,
      ),
    },
    {
      name: "among the first of the order, and a count",
      run: async () => {
        const first = sql`${ofThem(firstsOf("hot", "days_on_market"))} ORDER BY days_on_market NULLS LAST, row_number LIMIT 50`;
        await session.rows(sql`SELECT row_number::INTEGER ${first}`);
        await session.rows(sql`SELECT count(*) ${ofThem(sql`hot.listings`)}`);
      },
    },
  ],
  "statistics of all prices": statisticsOf(sql`prices AS NOT MATERIALIZED (SELECT price FROM hot.listings)`),
  "statistics of the prices of some dealers": [
    ...statisticsOf(sql`prices AS MATERIALIZED (SELECT price ${ofThem(sql`hot.listings`)})`),
  ].reverse(),
};

const folder = await mkdtemp(joinPath(tmpdir(), "carquet-hot-copy-"));
const database = await Database.open({ temporaryFolder: joinPath(folder, "spilled") });
const session = await database.connect();
await stored();
const rowFile = new RowFile(joinPath(folder, "rows.db"), firstFile.rows);
try {
  const areNumbered = (await columnsNumbered(session, "hot")).includes("features");
  for (const [question, variants] of Object.entries(questions)) {
    if (areNumbered || question !== "count features") await ask(question, variants);
    else process.stdout.write(`${question}: nearly every listing has a set of its own; not asked\n`);
  }
} finally {
  rowFile.close();
  session.close();
  database.close();
  await rm(folder, { recursive: true });
}

/** Stores the listings: as the hot copy does, and as its first version would; and those of the first file whole, in columns and in rows. */
async function stored(): Promise<void> {
  const attach = (catalog: string, storage: Sql): Promise<void> =>
    session.run(sql`ATTACH ${literal(joinPath(folder, `${catalog}.duckdb`))} AS ${name(catalog)} (${storage})`);
  await attach("hot", hotStorage);
  await attach("whole", hotStorage);
  await attach("old", sql`STORAGE_VERSION 'v1.0.0'`);
  await makeHotTables(session, "hot", listings);
  await session.run(sql`CREATE TABLE hot.dealers AS SELECT DISTINCT dealer_key FROM hot.listings ORDER BY dealer_key`);
  await session.run(sql`CREATE TABLE whole.listings AS SELECT * FROM (${positioned([firstFile], lake)})`);
  await session.run(sql`CREATE TABLE old.listings AS SELECT inventory_type FROM (${listings})`);
  const source = { path: joinPath(lake, firstFile.path), rows: firstFile.rows };
  await makeRowFile(session, source, joinPath(folder, "rows.db"), () => false);
  for (const catalog of ["hot", "whole", "old"]) await session.run(sql`CHECKPOINT ${name(catalog)}`);
  for (const file of ["hot.duckdb", "whole.duckdb", "old.duckdb", "rows.db"]) {
    const { size } = await stat(joinPath(folder, file));
    process.stdout.write(`${file}: ${Math.round(size / 2 ** 20)} MiB\n`);
  }
}

/** Asks in turn, and prints the median of each variant. */
async function ask(question: string, variants: readonly Variant[]): Promise<void> {
  const took = variants.map((): number[] => []);
  for (let round = 0; round <= rounds; round += 1) {
    for (const [place, { run, setting = plainArrays }] of variants.entries()) {
      await session.run(setting);
      const startedAtMs = performance.now();
      await run();
      if (round > 0) took[place]?.push(performance.now() - startedAtMs);
    }
  }
  for (const [place, { name: variant }] of variants.entries()) {
    const sorted = (took[place] ?? []).sort((one, other) => one - other);
    process.stdout.write(`${question}, ${variant}: ${(sorted[sorted.length >> 1] ?? 0).toFixed(1)} ms\n`);
  }
}
