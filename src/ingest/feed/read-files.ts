/**
 * Reads the files of a delivery into relations with one text or text-list column per feed field.
 *
 * Checks files, not values. A file that is malformed, lacks a required column or has a column of the wrong type fails the whole ingest: a
 * truncated file would look like sold cars.
 */
import { printable } from "../../base/user-error.ts";
import type { Session } from "../../db/duckdb.ts";
import { ident, join, type Sql, sql } from "../../db/sql.ts";
import { columnsByField } from "./column-names.ts";
import type { Delivery } from "./delivery.ts";
import type { FeedFile } from "./feed-file.ts";
import type { FeedLimits } from "./feed-limits.ts";
import { type FeedTable, feed, fieldOfColumn, isTextList, listSeparator } from "./feed-schema.ts";
import { type CheckedFile, FileBatches } from "./file-batches.ts";
import { checkFeedFile } from "./file-checks.ts";
import { describeFileError, fileError, printableColumns } from "./file-errors.ts";
import {
  csvDialect,
  type FeedRelation,
  type FileGroup,
  type FileShape,
  type ReadSettings,
  relationOf,
  shapeOf,
  withinLimit,
} from "./file-formats.ts";
import { type Mapping, mappedDealerId, mappedValue, validateMapping } from "./mapping.ts";

/** Receives the raw rows of a table: `file`, `row`, and every field of the table. */
export type RowsHandler = (table: FeedTable, rows: Sql) => Promise<void>;

/**
 * Reads all files of a delivery and passes the rows of each table to `onRows`, for small files of one shape together. Returns one message per
 * ignored column. Throws a UserError if a file is invalid, for the first one that is.
 */
export async function readDelivery(
  session: Session,
  delivery: Delivery,
  settings: ReadSettings,
  onRows: RowsHandler,
): Promise<readonly string[]> {
  const batches = new FileBatches(settings, async (group, done) => {
    for (const [table, rows] of tablesOf(group, settings)) {
      if (done.has(table)) continue;
      await onRows(table, rows);
      done.add(table);
    }
  });
  const remarks: string[] = [];
  for (const file of delivery.files) {
    try {
      const checked = await checkFile(session, file, settings);
      await batches.add(checked);
      if (settings.mapping === undefined) remarks.push(...describeIgnoredColumns(file, checked.shape));
    } catch (thrown) {
      await batches.readAll();
      throw thrown;
    }
  }
  await batches.readAll();
  return remarks;
}

/** Checks a file before its rows are read. Throws a UserError if it is invalid. */
async function checkFile(session: Session, file: FeedFile, settings: ReadSettings): Promise<CheckedFile> {
  const { mapping, limits } = settings;
  if (mapping !== undefined && file.format !== "csv")
    throw fileError(file, `: invalid format ${file.format}: expected csv, because a mapping is used.`);
  const bytes = await checkFeedFile(file, csvDialect(mapping).encoding, limits);
  try {
    const shape = await shapeOf(session, file, settings);
    // Throws if the columns are not those that the table or the mapping needs.
    tablesOf({ files: [file], file, shape }, settings);
    return { file, bytes, shape };
  } catch (thrown) {
    throw await describeFileError(file, { columns: [], limits }, thrown);
  }
}

/** Returns the rows of files of one shape, for each table that they fill. */
function tablesOf(group: FileGroup, settings: ReadSettings): readonly TableRows[] {
  const { mapping, limits } = settings;
  const source = relationOf(group, settings);
  const tables = mapping === undefined ? [feedRows(group.file, source)] : mappedRows(group.file, source, mapping);
  return tables.map(([table, rows]) => [table, limitRows(rows, limits)]);
}

/** Returns rows that fail after the most that a file may have. */
const limitRows = (rows: Sql, limits: FeedLimits): Sql =>
  sql`SELECT * FROM (${rows}) WHERE ${withinLimit("rows", sql`"row" > ${limits.rows}`)}`;

type TableRows = readonly [FeedTable, Sql];

/** Returns the rows of a file in the Carquet format, whose columns are fields. */
function feedRows(file: FeedFile, source: FeedRelation): TableRows {
  const { columns } = source;
  const columnOf = columnsByField(file, columns);
  for (const column of feed[file.table].required) {
    if (columnOf.has(column)) continue;
    if (columns.length === 0) throw fileError(file, ": empty file: expected at least the required columns.");
    throw fileError(
      file,
      `, row 0 (header): missing column "${column}": ` +
        `expected ${feed[file.table].required.join(", ")}; found ${printableColumns(columns, [...columnOf.values()])}.`,
    );
  }
  return [
    file.table,
    fieldsOf(source, file.table, (field) => {
      const column = columnOf.get(field);
      return column === undefined ? undefined : ident(column);
    }),
  ];
}

function describeIgnoredColumns(file: FeedFile, { columns }: FileShape): readonly string[] {
  return columns
    .filter((column) => fieldOfColumn(file.table, column) === undefined)
    .map(
      (column) => `${printable(file.name)}: ignored column "${printable(column, 40)}": not a field of ${file.table}.`,
    );
}

/** Returns the inventory rows of foreign files, and one dealer row per distinct dealer id in each. */
function mappedRows(file: FeedFile, source: FeedRelation, mapping: Mapping): readonly TableRows[] {
  validateMapping(mapping, file, source.columns);
  const dealerId = mappedDealerId(mapping);
  const valueByRule =
    (table: FeedTable, rules: Mapping["fields"]) =>
    (field: string): Sql | undefined => {
      const rule = rules[field];
      if (field === "dealer_id") return sql`row_dealer_id`;
      if (rule === undefined) return undefined;
      const text = mappedValue(rule);
      return isTextList(feed[table].properties[field]) ? sql`string_split(${text}, ${listSeparator})` : text;
    };
  const rows = sql`SELECT *, ${dealerId} AS row_dealer_id FROM (${source.rows})`;
  const dealers = sql`SELECT DISTINCT ON (${join([...source.fileColumn, sql`row_dealer_id`])}) * FROM (${rows}) WHERE row_dealer_id IS NOT NULL ORDER BY row_dealer_id, "row"`;
  return [
    ["inventory", fieldsOf({ ...source, rows }, "inventory", valueByRule("inventory", mapping.fields))],
    ["dealers", fieldsOf({ ...source, rows: dealers }, "dealers", valueByRule("dealers", mapping.dealer.fields))],
  ];
}

/** Returns rows with every field of a table. Fields without a value are null. */
function fieldsOf({ file, rows }: FeedRelation, table: FeedTable, valueFor: (field: string) => Sql | undefined): Sql {
  const values = Object.entries(feed[table].properties).map(([field, schema]) => {
    const absent = isTextList(schema) ? sql`NULL::VARCHAR[]` : sql`NULL::VARCHAR`;
    return sql`${valueFor(field) ?? absent} AS ${ident(field)}`;
  });
  return sql`SELECT ${file} AS file, "row", ${join(values)} FROM (${rows})`;
}
