/** The files of a version as SQL relations: the star's tables, what is made of them, and the views for analysts. */

import { ident, integerLiteral, join, literal, type Sql, sql } from "../db/sql.ts";
import { wordsIn } from "../db/text-matching.ts";
import { rowsOfFiles } from "./file-rows.ts";
import { flatListings, tokensInOrder } from "./flat-listings.ts";
import type { LakeFile, Manifest, TableFiles } from "./manifest.ts";
import { type ServedColumn, selectServed } from "./served-columns.ts";
import { buildColumns, type TableName, tableNames, tableOf } from "./tables.ts";

/**
 * The listings of some files with `row_number`, each row's position in the order of the files: that is the partition's
 * own order, which settles every tie.
 */
export function withRowNumbers(files: readonly LakeFile[], folder: string): Sql {
  const everything = (_file: LakeFile, rows: Sql): readonly Sql[] => [rows];
  return joined(files, folder, everything);
}

/**
 * What is read of the listings at some positions of `positioned`, each with its `row_number`, in no order, from those files only that
 * hold them. They are joined, not compared: the engine then skips what lies between them.
 */
export function rowsAt(
  files: readonly LakeFile[],
  folder: string,
  positions: readonly number[],
  names: readonly ServedColumn[],
): Sql {
  const facts = joined(files, folder, (file, rows, start) => {
    const inFile = positions.map((position) => position - start).filter((row) => row >= 0 && row < file.rows);
    return inFile.length === 0 ? [] : [sql`${rows} WHERE file_row_number IN (SELECT unnest(${inFile}))`];
  });
  return sql`SELECT row_number::UINTEGER AS row_number, ${selectServed(names)} FROM (${facts}) AS facts`;
}

/** Files in a row, each as what `chosen` makes of its rows, given the position of the first. */
function joined(
  files: readonly LakeFile[],
  folder: string,
  chosen: (file: LakeFile, rows: Sql, start: number) => readonly Sql[],
): Sql {
  let next = 0;
  const parts = files.flatMap((file) => {
    const start = next;
    next += file.rows;
    const rows = sql`SELECT * EXCLUDE (file_row_number), file_row_number + ${integerLiteral(start)} AS row_number
      FROM (${rowsOfFiles("snapshots", [file], folder, "file_row_number")})`;
    return chosen(file, rows, start);
  });
  if (parts.length === 0)
    return sql`SELECT *, NULL::BIGINT AS row_number FROM (${rowsOfFiles("snapshots", [], folder)})`;
  return join(parts, sql` UNION ALL BY NAME `);
}

/** The files of a table that belong to a partition. */
export function filesIn(files: TableFiles, table: TableName, partition: string): readonly LakeFile[] {
  return files[table].filter((file) => file.partition === partition);
}

/**
 * Every dealer there ever was, by its newest row, with how many of some listings are its own under any of its rows, and with the
 * words by which it is found, each after a blank.
 */
export const dealerProfiles = (listings: Sql): Sql => sql`
  SELECT newest.*, coalesce(listing_count, 0)::INTEGER AS listing_count,
         ' ' || array_to_string(${wordsIn(sql`concat_ws(' ', "name", website)`)}, ' ') AS words
  FROM (SELECT DISTINCT ON (dealer_id) * FROM dealers ORDER BY dealer_id, dealer_key DESC) AS newest
  LEFT JOIN (SELECT dealer_id, count(*) AS listing_count FROM (${listings}) JOIN dealers USING (dealer_key) GROUP BY dealer_id) AS counted
    USING (dealer_id)`;

/** The distinct values of builds' attributes, as texts, with a `value_key` for each. */
export const buildValuesDictionary = sql`
  SELECT row_number() OVER (ORDER BY attribute, value)::INTEGER AS value_key, attribute, value
  FROM   (SELECT DISTINCT attribute, value FROM (${unpivotedBuilds()}))`;

/** The known values of each build, as keys of `build_words`: what counts all attributes of builds in one pass. */
export const buildValues = sql`
  SELECT value_key, build_key
  FROM   (${unpivotedBuilds()}) JOIN build_words USING (attribute, value)
  ORDER BY value_key, build_key`;

/** A row for each build and known value of it. */
function unpivotedBuilds(): Sql {
  const columns = Object.keys(buildColumns).map((column) => ident(column));
  const texts = columns.map((column) => sql`${column}::VARCHAR AS ${column}`);
  return sql`UNPIVOT (SELECT build_key, ${join(texts)} FROM builds) ON ${join(columns)} INTO NAME attribute VALUE value`;
}

/**
 * The views of a version, for analysts: flat listings in the specification's names (`active`, and `snapshots`, `missing`, `sold`
 * and `ended` with their partition's value), the dimensions, and what the lifecycle kept.
 */
export function viewsOf({ tables: files, as_of }: Manifest, folder: string): readonly Sql[] {
  const listings: readonly TableName[] = ["snapshots", "missing", "sold", "ended", "contenders"];
  const plain = tableNames.filter((table) => !listings.includes(table));
  const view = (of: string, query: Sql): Sql => sql`CREATE OR REPLACE VIEW ${ident(of)} AS ${query}`;
  return [
    ...plain.map((table) => view(table, rowsOfFiles(table, files[table], folder))),
    view("tokens_in_order", tokensInOrder),
    ...listings.map((table) => view(table, flatOf(table, files[table], folder))),
    view("active", sql`SELECT * EXCLUDE (snapshot_date) FROM snapshots WHERE snapshot_date = ${literal(as_of)}`),
  ];
}

/** All listings of a table as flat rows, with the partition that each is in. */
function flatOf(table: TableName, files: readonly LakeFile[], folder: string): Sql {
  const key = tableOf(table).partition ?? "partition";
  const rows = sql`SELECT *, NULL::BIGINT AS row_number FROM (${rowsOfFiles(table, files, folder, "partition")})`;
  return sql`SELECT * EXCLUDE (row_number) FROM (${flatListings(rows, [ident("facts", key)])})`;
}
