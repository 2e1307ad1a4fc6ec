/** Publishes a lake of synthetic listings for look-ups: the tables of a real lake, with columns that look-ups do not read left null. */
import { plusDays } from "../../src/base/day.ts";
import { integerLiteral, type Sql, sql } from "../../src/db/sql.ts";
import { rowsOfFiles } from "../../src/lake/derived-relations.ts";
import { noFiles, type TableFiles } from "../../src/lake/manifest.ts";
import type { TableName } from "../../src/lake/tables.ts";
import { writeSplit } from "../../src/lake/writer/table-files.ts";
import { nextManifest, publish, type Writer, withWriter } from "../../src/lake/writer/writer.ts";
import { withServingFiles } from "../../src/serving/files/build-serving-files.ts";

const day = "2026-11-01";
const soldMonths = 24;

/** Publishes one version: the active listings of a day, and sold listings over 24 months. Numbers are counts of listings. */
export function publishSyntheticLake(
  lake: string,
  { active, sold }: { readonly active: number; readonly sold: number },
): Promise<void> {
  return withWriter(lake, {}, async (writer) => {
    const build = sql`SELECT 1 AS build_key, 2026::SMALLINT AS "year", 'Make' AS make, 'Model' AS model`;
    const dealer = sql`SELECT 1 AS dealer_key, 'd2f1a7e0-5b1c-4e55-9d0b-3c8f5a1b2c3d' AS dealer_id, 'Dealer' AS name`;
    let files = await addRows(writer, noFiles, { table: "builds", partition: null, rows: build });
    files = await addRows(writer, files, { table: "dealers", partition: null, rows: dealer });
    files = await addRows(writer, files, { table: "listings", partition: null, rows: listingRows(0, active) });
    for (let month = 0; month < soldMonths; month += 1) {
      const first = active + Math.round((sold / soldMonths) * month);
      const end = active + Math.round((sold / soldMonths) * (month + 1));
      const partition = plusDays(day, -30 * month).slice(0, 7);
      files = await addRows(writer, files, { table: "sold", partition, rows: listingRows(first, end) });
      process.stdout.write(`month ${month + 1} of ${soldMonths}\n`);
    }
    const manifest = { ...nextManifest(writer, undefined, day), tables: files, days: { [day]: active } };
    await publish(lake, await withServingFiles(writer, manifest, "size"));
  });
}

/** Returns the listings with numbers from `first` (inclusive) to `end` (exclusive). */
const listingRows = (first: number, end: number): Sql => sql`
  SELECT md5(listing::VARCHAR) AS id,
         '1FA' || substr(upper(md5((listing // 1000000)::VARCHAR)), 1, 8) || lpad((listing % 1000000)::VARCHAR, 6, '0') AS vin,
         1 AS build_key, 1 AS dealer_key, 'Make ' || (listing % 45) AS make, 'Model ' || (listing % 350) AS model,
         2010 + listing % 16 AS "year", (hash(listing) % 60000)::INTEGER AS price, (hash(listing + 7) % 90000)::INTEGER AS miles,
         'S' || listing AS stock_number, 'https://dealer.example/used/' || listing AS vdp_url,
         ['https://images.example/' || listing || '/1.jpg'] AS photo_urls, [] AS features, [] AS options_packages, 0 AS keywords,
         TIMESTAMP '2026-10-01 00:00:00' AS listed_at, 31 AS days_on_market, [] AS price_history, 'Trim ' || (listing % 9) AS trim
  FROM range(${integerLiteral(first)}, ${integerLiteral(end)}) AS counter(listing)`;

interface TableRows {
  readonly table: TableName;
  readonly partition: string | null;
  /** A query; columns of the table that it lacks are null. */
  readonly rows: Sql;
}

/** Writes rows as a file of a table. Returns the files including it. */
async function addRows(writer: Writer, files: TableFiles, { table, partition, rows }: TableRows): Promise<TableFiles> {
  const written = await writeSplit(writer, `${day}.${files[table].length + 1}`, {
    table,
    partition,
    rows: sql`FROM (${rows}) UNION ALL BY NAME ${rowsOfFiles(table, [], "")}`,
  });
  return { ...files, [table]: [...files[table], ...written] };
}
