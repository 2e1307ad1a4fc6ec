/**
 * How long a look-up takes as history grows:
 * `node --import tsx bench/lookups/run.ts --active 4000000 --past 16000000 [--asks 300] [--lake DIR]`.
 * A lake of that size is made of synthetic rows in the layout of the real one (in DIR, where it is kept and found again); then
 * random VINs and ids, each known, are looked up uncached, one after another: the listing in full, from the Parquet files, from the
 * row copies, and over HTTP from a service that has row copies and keeps no answers.
 */
import { existsSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { plusDays } from "../../src/base/day.ts";
import { type Row, textIn } from "../../src/base/json.ts";
import { integerLiteral, type Sql, sql } from "../../src/db/sql.ts";
import { rowsOfFiles } from "../../src/lake/file-rows.ts";
import { currentVersion, noFiles, type TableFiles } from "../../src/lake/manifest.ts";
import type { TableName } from "../../src/lake/tables.ts";
import { writeSplit } from "../../src/lake/writer/split.ts";
import { nextManifest, publish, type Writer, withWriter } from "../../src/lake/writer/writer.ts";
import { findListing, findVin } from "../../src/query/look-ups.ts";
import { withServingFiles } from "../../src/serving/build-serving-files.ts";
import { LakeVersion } from "../../src/serving/lake-version.ts";
import { at } from "../questions/question.ts";
import { keepingNoAnswers, keyIn, start } from "../servers/carquet.ts";

const { values } = parseArgs({
  options: {
    active: { type: "string", default: "4000000" },
    past: { type: "string", default: "16000000" },
    asks: { type: "string", default: "300" },
    lake: { type: "string" },
  },
});
const [active, past, asks] = [Number(values.active), Number(values.past), Number(values.asks)];
const day = "2026-11-01";
const months = 24;
/** Without a row store, a look-up scans all files. */
const scanned = 5;

/** Listings of a range of a counter; what is not looked at is null. */
const listings = (from: number, to: number): Sql => sql`
  SELECT md5(i::VARCHAR) AS id, '1FA' || substr(upper(md5((i // 1000000)::VARCHAR)), 1, 8) || lpad((i % 1000000)::VARCHAR, 6, '0') AS vin,
         1 AS build_key, 1 AS dealer_key, 'Make ' || (i % 45) AS make, 'Model ' || (i % 350) AS model, 2010 + i % 16 AS "year",
         (hash(i) % 60000)::INTEGER AS price, (hash(i + 7) % 90000)::INTEGER AS miles, 'S' || i AS stock_number,
         'https://dealer.example/used/' || i AS vdp_url, ['https://images.example/' || i || '/1.jpg'] AS photo_urls, [] AS features,
         [] AS options_packages, 0 AS keywords, TIMESTAMP '2026-10-01 00:00:00' AS listed_at, 31 AS days_on_market, [] AS price_history,
         'Trim ' || (i % 9) AS trim
  FROM range(${integerLiteral(from)}, ${integerLiteral(to)}) AS counter(i)`;

/** Rows with the columns that the layout has and they lack, as null. */
async function add(
  writer: Writer,
  files: TableFiles,
  table: TableName,
  partition: string | null,
  rows: Sql,
): Promise<TableFiles> {
  const file = await writeSplit(writer, `${day}.${files[table].length + 1}`, {
    table,
    partition,
    rows: sql`FROM (${rows}) UNION ALL BY NAME ${rowsOfFiles(table, [], "")}`,
  });
  return { ...files, [table]: [...files[table], ...file] };
}

const folder = values.lake ?? (await mkdtemp(join(tmpdir(), "carquet-lookups-")));
if (!existsSync(join(folder, "CURRENT"))) await makeLake();
for (const hasServingFiles of [false, true]) {
  const version = await LakeVersion.open(folder, (await currentVersion(folder)) ?? "", { hasServingFiles });
  const samples = { active: await sampleOf(version, "snapshots"), sold: await sampleOf(version, "sold") };
  for (const [of, sample] of Object.entries(samples)) {
    await time(
      `${of}, ${hasServingFiles ? "row store" : "Parquet"}`,
      hasServingFiles ? sample : sample.slice(0, scanned),
      {
        VIN: async (row) => (await findVin(textIn(row, "vin"), undefined, version)).vin,
        id: async (row) => (await findListing(textIn(row, "id"), undefined, version)).vin,
      },
    );
    if (hasServingFiles) await overHttp(of, sample);
  }
  version.close();
}
if (values.lake === undefined) await rm(folder, { recursive: true, force: true });

/** Publishes a day with its active listings and two years of sold ones. */
function makeLake(): Promise<void> {
  return withWriter(folder, {}, async (writer) => {
    const build = sql`SELECT 1 AS build_key, 2026::SMALLINT AS "year", 'Make' AS make, 'Model' AS model`;
    const dealer = sql`SELECT 1 AS dealer_key, 'd2f1a7e0-5b1c-4e55-9d0b-3c8f5a1b2c3d' AS dealer_id, 'Dealer' AS name`;
    let files = await add(writer, noFiles, "builds", null, build);
    files = await add(writer, files, "dealers", null, dealer);
    files = await add(writer, files, "snapshots", day, listings(0, active));
    const monthOf = (month: number): string => plusDays(day, -30 * month).slice(0, 7);
    for (let month = 0; month < months; month += 1) {
      const [from, to] = [month, month + 1].map((edge) => active + Math.round((past / months) * edge));
      files = await add(writer, files, "sold", monthOf(month), listings(from ?? 0, to ?? 0));
      process.stdout.write(`month ${month + 1} of ${months}\n`);
    }
    const manifest = { ...nextManifest(writer, undefined, day), tables: files };
    await publish(folder, await withServingFiles(writer, manifest, "size"));
  });
}

function sampleOf(version: LakeVersion, table: "snapshots" | "sold"): Promise<readonly Row[]> {
  return version.rows(sql`SELECT id, vin FROM (${rowsOfFiles(table, version.manifest.tables[table], folder)})
    USING SAMPLE ${integerLiteral(asks)} ROWS (reservoir, 42)`);
}

/** Asks a service of its own, with a key, metered. */
async function overHttp(of: string, sample: readonly Row[]): Promise<void> {
  const scratch = await mkdtemp(join(tmpdir(), "carquet-lookups-accounts-"));
  const accounts = join(scratch, "accounts.db");
  const serving = ["serve", "--lake", folder, "--accounts", accounts, "--port", "0", ...keepingNoAnswers];
  const service = await start("src/main.ts", serving, keyIn(accounts));
  await time(`${of}, over HTTP`, sample, {
    VIN: async (row) => at(await service.answer(`/v1/vins/${textIn(row, "vin")}`), "data", "vin"),
    id: async (row) => at(await service.answer(`/v1/listings/${textIn(row, "id")}`), "data", "vin"),
  });
  await service.stop();
  await rm(scratch, { recursive: true });
}

/** Looks up each of a sample, one after another; `finders` give the VIN of what they found. */
async function time(
  what: string,
  sample: readonly Row[],
  finders: Readonly<Record<"VIN" | "id", (row: Row) => Promise<unknown>>>,
): Promise<void> {
  for (const [by, find] of Object.entries(finders)) {
    const tookMs: number[] = [];
    for (const row of sample) {
      const startedAtMs = performance.now();
      const vin = await find(row);
      tookMs.push(performance.now() - startedAtMs);
      if (vin !== row.vin) throw new Error(`${textIn(row, "id")} leads to ${vin}`);
    }
    const sorted = tookMs.slice(tookMs.length / 10).sort((one, other) => one - other);
    const ms = (share: number): string => (sorted[Math.floor(share * (sorted.length - 1))] ?? 0).toFixed(1);
    process.stdout.write(`${what}, by ${by}: p50 ${ms(0.5)} ms, p99 ${ms(0.99)} ms, ${sorted.length} look-ups\n`);
  }
}
