/**
 * Reads a delivery's files: every field as the text, or the list of texts, that the file holds.
 *
 * Nothing is judged here but the file itself: one that is malformed, lacks a required column or holds another type than
 * the feed's is refused whole, because a file that was cut short looks like cars that were sold.
 */
import { UserError } from "../../base/user-error.ts";
import type { Session } from "../../db/duckdb.ts";
import { ident, join, literal, type Sql, sql } from "../../db/sql.ts";
import type { Delivery, FeedFile } from "./delivery.ts";
import { type FeedTable, feed, isTextList, listSeparator } from "./feed-schema.ts";
import { checkGzip, describeFileError } from "./file-errors.ts";
import { type FeedRelation, formatReaders } from "./file-formats.ts";
import { type Mapping, mappedDealerId, mappedValue, validateMapping } from "./mapping.ts";

/** Takes rows of a table as they were read: `file`, `row`, and every field of the table. */
export type RowsHandler = (table: FeedTable, rows: Sql) => Promise<void>;

/** Reads all files of a delivery and hands on the rows of each. Gives what was ignored, in words. */
export async function readDelivery(
  session: Session,
  delivery: Delivery,
  mapping: Mapping | undefined,
  take: RowsHandler,
): Promise<readonly string[]> {
  const ignored: string[] = [];
  for (const file of delivery.files) {
    if (file.path.endsWith(".gz")) await checkGzip(file);
    if (mapping !== undefined && file.format !== "csv")
      throw new UserError(`${file.name}: a mapping reads CSV files only.`);
    const source = await formatReaders[file.format](session, file, mapping);
    const row = source.columns.find((column) => column.toLowerCase() === "row");
    if (row !== undefined)
      throw new UserError(`${file.name}: the name "${row}" is kept for the row's number; rename that column.`);
    const parts = mapping === undefined ? [ownRows(file, source)] : mappedRows(file, source, mapping);
    if (mapping === undefined) ignored.push(...ignoredColumns(file, source));
    for (const [table, rows] of parts) {
      try {
        await take(table, rows);
      } catch (thrown) {
        throw await describeFileError(file, source.columns, thrown);
      }
    }
  }
  return ignored;
}

type Part = readonly [FeedTable, Sql];

/** Our own format: columns are fields. */
function ownRows(file: FeedFile, { columns, rows }: FeedRelation): Part {
  for (const column of feed[file.table].required) {
    if (columns.includes(column)) continue;
    if (columns.length === 0) throw new UserError(`${file.name}: the file is empty.`);
    throw new UserError(
      `${file.name}, row 0 (header): the column "${column}" is missing; it has ${columns.join(", ")}.`,
    );
  }
  return [
    file.table,
    fieldsOf(file, file.table, rows, (field) => (columns.includes(field) ? ident(field) : undefined)),
  ];
}

function ignoredColumns(file: FeedFile, { columns }: FeedRelation): readonly string[] {
  return columns
    .filter((column) => !(column in feed[file.table].properties))
    .map((column) => `${file.name}: the column "${column}" is not one of the feed's and is ignored.`);
}

/** A foreign file: each row gives a vehicle, and the dealers are those that its rows name. */
function mappedRows(file: FeedFile, source: FeedRelation, mapping: Mapping): readonly Part[] {
  validateMapping(mapping, file.name, source.columns);
  const dealerId = mappedDealerId(mapping);
  const by =
    (table: FeedTable, rules: Mapping["fields"]) =>
    (field: string): Sql | undefined => {
      const rule = rules[field];
      if (field === "dealer_id") return sql`dealer_of_row`;
      if (rule === undefined) return undefined;
      const text = mappedValue(rule);
      return isTextList(feed[table].properties[field]) ? sql`string_split(${text}, ${listSeparator})` : text;
    };
  const rows = sql`SELECT *, ${dealerId} AS dealer_of_row FROM (${source.rows})`;
  const dealers = sql`SELECT DISTINCT ON (dealer_of_row) * FROM (${rows}) WHERE dealer_of_row IS NOT NULL ORDER BY dealer_of_row, "row"`;
  return [
    ["inventory", fieldsOf(file, "inventory", rows, by("inventory", mapping.fields))],
    ["dealers", fieldsOf(file, "dealers", dealers, by("dealers", mapping.dealer.fields))],
  ];
}

/** Rows with every field of a table; those that the file does not have are null. */
function fieldsOf(file: FeedFile, table: FeedTable, rows: Sql, valueFor: (field: string) => Sql | undefined): Sql {
  const values = Object.entries(feed[table].properties).map(([field, schema]) => {
    const nothing = isTextList(schema) ? sql`NULL::VARCHAR[]` : sql`NULL::VARCHAR`;
    return sql`${valueFor(field) ?? nothing} AS ${ident(field)}`;
  });
  return sql`SELECT ${literal(file.name)} AS file, "row", ${join(values)} FROM (${rows})`;
}
