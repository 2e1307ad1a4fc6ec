/** Partitions that are split into several files. */
import assert from "node:assert/strict";
import { resolve } from "node:path";
import { test } from "node:test";
import { literal, type Sql, sql } from "../../src/db/sql.ts";
import { rowsOfFiles } from "../../src/lake/derived-relations.ts";
import { type LakeFile, noFiles } from "../../src/lake/manifest.ts";
import { goneIn, type Inventory, positionedListings } from "../../src/lake/market.ts";
import { tableOf } from "../../src/lake/tables.ts";
import { writeSplit } from "../../src/lake/writer/table-files.ts";
import { withWriter } from "../../src/lake/writer/writer.ts";
import { skipInShortRun } from "../support/extent.ts";
import { temporaryFolder } from "../support/lakes/lakes.ts";
import type { Scope } from "../support/scope.ts";

const day = "2026-11-01";
const rows = 600_000;
const rowsPerFile = tableOf("listings").rowsPerFile ?? 0;

/** Listings of which a third are of one model, and some of an unknown make. */
const listings: Sql = sql`
  SELECT md5(i::VARCHAR) AS id, i::VARCHAR AS vin, if(i % 100 = 0, NULL, if(i % 3 = 0, 'Ford', 'Make ' || (hash(i) % 40))) AS make,
         if(i % 3 = 0, 'F-150', 'Model ' || (hash(i + 1) % 9)) AS model, (2010 + i % 15)::SMALLINT AS "year",
         if(i % 7 = 0, NULL, 'Trim ' || i % 5) AS trim
  FROM range(${rows}) AS counter(i)`;
const padded = sql`FROM (${listings}) UNION ALL BY NAME FROM (${rowsOfFiles("listings", noFiles.listings, "")})`;

/** Writes the listings; returns the files and the rows of some queries over them. */
async function writeListings(
  scope: Scope,
  threads: number,
  ...queries: readonly ((files: readonly LakeFile[], lake: string) => Sql)[]
) {
  const lake = resolve(await temporaryFolder(scope));
  return withWriter(lake, { threads }, async (writer) => {
    const files = await writeSplit(writer, `${day}.1`, { table: "listings", partition: null, rows: padded });
    const answers = [];
    for (const query of queries) answers.push(await writer.session.rows(query(files, lake)));
    return { files, answers };
  });
}

const activeIn = (files: readonly LakeFile[]): Inventory => ({ ...goneIn(files), day });

const sorted = (columns: Sql): Sql => sql`SELECT ${columns} FROM (${listings}) ORDER BY make, model, "year", trim, id`;
const ids = sql`replace(id::VARCHAR, '-', '') AS id`;

test("many listings are split into files of equal size that together hold each once, in order", {
  skip: skipInShortRun,
}, async (t) => {
  const { files, answers } = await writeListings(
    t,
    2,
    (all, lake) =>
      sql`SELECT ${ids} FROM (${positionedListings(activeIn(all), { folder: lake, hasFeeds: false })}) ORDER BY row_number`,
    () => sorted(ids),
  );
  const [inFiles, expected] = answers;
  assert.equal(files.length, Math.ceil(rows / rowsPerFile));
  assert.deepEqual(
    files.map((file) => [file.path, file.rows]),
    [0, 1, 2].map((part) => [`files/listings/${day}.1-${part}.parquet`, 200_000]),
  );
  assert.deepEqual(inFiles, expected);
});

test("split files have the same bytes with one thread and with two", { skip: skipInShortRun }, async (t) => {
  const sums = async (threads: number) => (await writeListings(t, threads)).files.map(({ sha256 }) => sha256);
  assert.deepEqual(await sums(2), await sums(1));
});

test("a split file records the range of its makes", { skip: skipInShortRun }, async (t) => {
  const { files, answers } = await writeListings(
    t,
    2,
    (all, lake) => sql`
    SELECT min(make) AS min, max(make) AS max
    FROM read_parquet([${literal(`${lake}/${all[1]?.path}`)}], hive_partitioning = false)`,
  );
  assert.deepEqual([{ min: files[1]?.min, max: files[1]?.max }], answers[0]);
});
