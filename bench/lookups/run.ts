/**
 * How long a look-up takes as history grows:
 * `node --import tsx bench/lookups/run.ts --active 4000000 --past 16000000 [--asks 300]`.
 * A lake of that size is made of synthetic rows in the layout of the real one; then random VINs and ids, each known, are looked up
 * uncached, one after another: the place first, then the flat listing.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { plusDays } from "../../src/base/day.ts";
import { type Row, textIn } from "../../src/base/json.ts";
import { name, type Sql, sql, type } from "../../src/base/sql.ts";
import { Database, type Session } from "../../src/lake/duckdb.ts";
import type { TableName } from "../../src/lake/layout.ts";
import { type ListingState, listingAt, type Place, placesOf, withIdStart } from "../../src/lake/lookups.ts";
import { type Files, type Manifest, noFiles } from "../../src/lake/manifest.ts";
import { writeFiles } from "../../src/lake/parts.ts";
import { flat, rowsOfFiles, tokensInOrder } from "../../src/lake/views.ts";
import { nextManifest, type Writer, writing } from "../../src/lake/writer.ts";

const { values } = parseArgs({
  options: {
    active: { type: "string", default: "4000000" },
    past: { type: "string", default: "16000000" },
    asks: { type: "string", default: "300" },
  },
});
const [active, past, asks] = [Number(values.active), Number(values.past), Number(values.asks)];
const day = "2026-11-01";
const months = 24;

/** Listings of a range of a counter; what is not looked at is null. */
const listings = (from: number, to: number): Sql => sql`
  SELECT md5(i::VARCHAR)::UUID AS id, '1FA' || substr(upper(md5((i % 12000)::VARCHAR)), 1, 8) || lpad((i % 1000000)::VARCHAR, 6, '0') AS vin,
         1 AS build_key, 1 AS dealer_key, 'Make ' || (i % 45) AS make, 'Model ' || (i % 350) AS model, 2010 + i % 16 AS "year",
         (hash(i) % 60000)::INTEGER AS price, (hash(i + 7) % 90000)::INTEGER AS miles, 'S' || i AS stock_number,
         'https://dealer.example/used/' || i AS vdp_url, ['https://images.example/' || i || '/1.jpg'] AS photo_urls, [] AS features,
         [] AS options_packages, 0 AS keywords, TIMESTAMP '2026-10-01 00:00:00' AS listed_at, 31 AS days_on_market, [] AS price_history,
         'Trim ' || (i % 9) AS trim
  FROM range(${type(String(from))}, ${type(String(to))}) AS counter(i)`;

/** Rows with the columns that the layout has and they lack, as null. */
async function add(
  writer: Writer,
  files: Files,
  table: TableName,
  partition: string | null,
  rows: Sql,
): Promise<Files> {
  const file = await writeFiles(
    writer,
    `${day}.${files[table].length + 1}`,
    table,
    partition,
    sql`FROM (${rows}) UNION ALL BY NAME ${rowsOfFiles(table, [], "")}`,
  );
  return { ...files, [table]: [...files[table], ...file] };
}

const folder = await mkdtemp(join(tmpdir(), "carquet-lookups-"));
const manifest = await writing(folder, {}, async (writer): Promise<Manifest> => {
  let files = await add(writer, noFiles, "snapshots", day, listings(0, active));
  const place = (table: TableName, state: ListingState, partition: Sql): Sql =>
    sql`SELECT vin, id, ${state} AS state, ${partition} AS "partition", make, model, "year" FROM (${rowsOfFiles(table, files[table], folder)})`;
  const live = place("snapshots", "active", sql`${day}`);
  files = await add(writer, files, "live_by_vin", day, live);
  files = await add(writer, files, "live_by_id", day, withIdStart(live));
  const monthOf = (month: number): string => plusDays(day, -30 * month).slice(0, 7);
  for (let month = 0; month < months; month += 1) {
    const [from, to] = [month, month + 1].map((edge) => active + Math.round((past / months) * edge));
    files = await add(writer, files, "sold", monthOf(month), listings(from ?? 0, to ?? 0));
    process.stdout.write(`\rmonth ${month + 1} of ${months}`);
  }
  process.stdout.write("\n");
  const sold = sql`SELECT vin, id, 'sold' AS state, month AS "partition", make, model, "year" FROM (${files.sold
    .map((file) => sql`SELECT *, ${file.partition} AS month FROM (${rowsOfFiles("sold", [file], folder)})`)
    .reduce((all, one) => sql`${all} UNION ALL ${one}`)})`;
  files = await add(writer, files, "past_by_vin", null, sold);
  files = await add(writer, files, "past_by_id", null, withIdStart(sold));
  return { ...nextManifest(writer, undefined, day), tables: files };
});

const database = await Database.open();
await database.using(async (session) => {
  await session.run(sql`CREATE TABLE builds AS ${rowsOfFiles("builds", [], "")}`);
  await session.run(sql`ALTER TABLE builds ALTER build_key SET DEFAULT 1`);
  await session.run(sql`INSERT INTO builds (build_key) VALUES (1)`);
  await session.run(sql`CREATE TABLE dealers AS ${rowsOfFiles("dealers", [], "")}`);
  await session.run(sql`INSERT INTO dealers (dealer_key) VALUES (1)`);
  await session.run(sql`CREATE TABLE tokens AS ${rowsOfFiles("tokens", [], "")}`);
  await session.run(sql`CREATE TABLE tokens_in_order AS ${tokensInOrder}`);
  for (const [label, table] of Object.entries({ active: "snapshots", sold: "sold" } as const)) {
    const sample =
      await session.rows(sql`SELECT id::VARCHAR AS id, vin FROM (${rowsOfFiles(table, manifest.tables[table], folder)})
      USING SAMPLE ${type(String(asks))} ROWS (reservoir, 42)`);
    for (const by of ["vin", "id"] as const) await measure(session, label, by, sample);
  }
});
database.close();
await rm(folder, { recursive: true, force: true });

async function measure(session: Session, label: string, by: "vin" | "id", sample: readonly Row[]): Promise<void> {
  const tookMs: number[] = [];
  for (const row of sample) {
    const startedAtMs = performance.now();
    const places = await session.rows(placesOf(manifest, resolve(folder), by, textIn(row, by)));
    const found = places.map((place) => place as unknown as Place).find(({ id }) => id === row.id);
    if (found === undefined) throw new Error(`${textIn(row, by)} is not found`);
    const listing = await session.row(
      sql`SELECT ${name("vin")} FROM (${flat(listingAt(manifest, resolve(folder), found))})`,
    );
    if (listing?.vin !== row.vin) throw new Error(`${textIn(row, by)} leads to ${listing?.vin}`);
    tookMs.push(performance.now() - startedAtMs);
  }
  const sorted = tookMs.slice(tookMs.length / 10).sort((one, other) => one - other);
  const at = (share: number): string => (sorted[Math.floor(share * (sorted.length - 1))] ?? 0).toFixed(1);
  process.stdout.write(`${label} by ${by}: p50 ${at(0.5)} ms, p99 ${at(0.99)} ms, ${sorted.length} look-ups\n`);
}
