/** SQL relations over the files of a version: tables, derived relations for the server, and views for analysts. */

import { ident, integerLiteral, join, literal, type Sql, sql } from "../db/sql.ts";
import { wordsIn } from "../db/text-matching.ts";
import { attributeOf, type CategoryName } from "../listing/schema.ts";
import { rowsOfFiles } from "./file-rows.ts";
import { flatListings, tokensInOrder } from "./flat-listings.ts";
import { priceChangesView, snapshotMacro } from "./history-views.ts";
import type { LakeFile, Manifest, TableFiles } from "./manifest.ts";
import { type ServedColumn, selectServed } from "./served-columns.ts";
import { buildColumns, type TableName, tableNames, tableOf } from "./tables.ts";

/**
 * Returns the listings of a partition's files with `row_number`, the position of each row. Positions follow the partition's sort
 * order, which breaks ties in every other sort.
 */
export function withRowNumbers(files: readonly LakeFile[], folder: string): Sql {
  return unionOfFiles(files, folder, (_file, rows) => rows);
}

/**
 * Returns the named columns of the listings at the given positions (see `withRowNumbers`), with `row_number`, in no particular order.
 * Reads only the files that hold those positions. Positions are a subquery, not a list of values: the engine then skips the row groups
 * that hold none of them.
 */
export function rowsAt(
  files: readonly LakeFile[],
  folder: string,
  positions: readonly number[],
  names: readonly ServedColumn[],
): Sql {
  const facts = unionOfFiles(files, folder, (file, rows, start) => {
    const inFile = positions.map((position) => position - start).filter((row) => row >= 0 && row < file.rows);
    return inFile.length === 0 ? undefined : sql`${rows} WHERE file_row_number IN (SELECT unnest(${inFile}))`;
  });
  return sql`SELECT row_number::UINTEGER AS row_number, ${selectServed(names)} FROM (${facts}) AS facts`;
}

/**
 * Returns the union of the relations that `select` returns for each file; undefined skips a file. `start` is the position of the file's
 * first row.
 */
function unionOfFiles(
  files: readonly LakeFile[],
  folder: string,
  select: (file: LakeFile, rows: Sql, start: number) => Sql | undefined,
): Sql {
  let nextStart = 0;
  const relations = files.flatMap((file) => {
    const start = nextStart;
    nextStart += file.rows;
    const rows = sql`SELECT * EXCLUDE (file_row_number), file_row_number + ${integerLiteral(start)} AS row_number
      FROM (${rowsOfFiles("snapshots", [file], folder, "file_row_number")})`;
    return select(file, rows, start) ?? [];
  });
  if (relations.length === 0)
    return sql`SELECT *, NULL::BIGINT AS row_number FROM (${rowsOfFiles("snapshots", [], folder)})`;
  return join(relations, sql` UNION ALL BY NAME `);
}

/** Returns the files of one partition of a table. */
export function filesIn(files: TableFiles, table: TableName, partition: string): readonly LakeFile[] {
  return files[table].filter((file) => file.partition === partition);
}

/**
 * Returns the newest row of every dealer, with `listing_count` (its listings among the given ones, under any of its keys) and `words` (its
 * search terms, each preceded by a space).
 */
export const dealerProfiles = (listings: Sql): Sql => sql`
  SELECT newest.*, coalesce(listing_count, 0)::INTEGER AS listing_count,
         ' ' || array_to_string(${wordsIn(sql`concat_ws(' ', "name", website, city)`)}, ' ') AS words
  FROM (SELECT DISTINCT ON (dealer_id) * FROM dealers ORDER BY dealer_id, dealer_key DESC) AS newest
  LEFT JOIN (SELECT dealer_id, count(*) AS listing_count FROM (${listings}) JOIN dealers USING (dealer_key) GROUP BY dealer_id) AS counted
    USING (dealer_id)`;

/** Returns the distinct values of an attribute of listings, on every day and in every state, as the column `value`. */
export function listingValues(files: TableFiles, folder: string, attribute: CategoryName): Sql {
  const column = ident(attributeOf(attribute).column);
  const tables = (["snapshots", "missing", "sold", "ended"] as const).map(
    (table) => sql`SELECT ${column} AS value FROM (${rowsOfFiles(table, files[table], folder)})`,
  );
  return sql`SELECT DISTINCT value FROM (${join(tables, sql` UNION ALL `)}) WHERE value IS NOT NULL`;
}

/** The distinct attribute values of all builds, as text, each with a `value_key`. */
export const buildValuesDictionary = sql`
  SELECT row_number() OVER (ORDER BY attribute, value)::INTEGER AS value_key, attribute, value
  FROM   (SELECT DISTINCT attribute, value FROM (${unpivotedBuilds()}))`;

/** The values of each build as keys of `build_words`. One join with it counts all build attributes in a single pass. */
export const buildValues = sql`
  SELECT value_key, build_key
  FROM   (${unpivotedBuilds()}) JOIN build_words USING (attribute, value)
  ORDER BY value_key, build_key`;

/** Returns one row per build and known attribute value. */
function unpivotedBuilds(): Sql {
  const columns = Object.keys(buildColumns).map((column) => ident(column));
  const texts = columns.map((column) => sql`${column}::VARCHAR AS ${column}`);
  return sql`UNPIVOT (SELECT build_key, ${join(texts)} FROM builds) ON ${join(columns)} INTO NAME attribute VALUE value`;
}

/**
 * Returns the statements that create the views of a version: flat listings (`active`; `snapshots`, `missing`, `sold`, `ended` and
 * `contenders` with their partition key), dimensions, claims, deliveries and rejects; the macro `snapshot`, and `price_changes`.
 */
export function viewsOf(manifest: Manifest, folder: string): readonly Sql[] {
  const { tables: files, as_of } = manifest;
  const listings: readonly TableName[] = ["snapshots", "missing", "sold", "ended", "contenders"];
  const otherTables = tableNames.filter((table) => !listings.includes(table));
  const view = (name: string, query: Sql): Sql => sql`CREATE OR REPLACE VIEW ${ident(name)} AS ${query}`;
  return [
    ...otherTables.map((table) => view(table, rowsOfFiles(table, files[table], folder))),
    view("tokens_in_order", tokensInOrder),
    ...listings.map((table) => view(table, flatTable(table, files[table], folder))),
    view("active", sql`SELECT * EXCLUDE (snapshot_date) FROM snapshots WHERE snapshot_date = ${literal(as_of)}`),
    ...snapshotMacro(files),
    priceChangesView(manifest, folder),
  ];
}

/** Returns all listings of a table as flat rows with the partition key. */
function flatTable(table: TableName, files: readonly LakeFile[], folder: string): Sql {
  const key = tableOf(table).partition ?? "partition";
  const rows = sql`SELECT *, NULL::BIGINT AS row_number FROM (${rowsOfFiles(table, files, folder, "partition")})`;
  return sql`SELECT * EXCLUDE (row_number) FROM (${flatListings(rows, [ident("facts", key)])})`;
}
