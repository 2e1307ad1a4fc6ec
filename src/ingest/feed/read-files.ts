/**
 * Reads the files of a delivery into relations with one text or text-list column per feed field.
 *
 * Checks files, not values. A file that is malformed, lacks a required column or has a column of the wrong type fails the whole ingest: a
 * truncated file would look like sold cars.
 */
import { dirname } from "node:path";
import { printable, UserError } from "../../base/user-error.ts";
import type { Session } from "../../db/duckdb.ts";
import { ident, join, type Sql, sql } from "../../db/sql.ts";
import { preparedFile, unpackedFiles, withScratch } from "../documents/prepared-files.ts";
import { checkPatterns, mappedTables } from "../mapping/mapped-rows.ts";
import type { Mapping } from "../mapping/rules.ts";
import { columnsByField } from "./column-names.ts";
import { type Delivery, noFeedFiles } from "./delivery.ts";
import type { FeedFile } from "./feed-file.ts";
import type { FeedLimits } from "./feed-limits.ts";
import { type FeedTable, feed, fieldOfColumn, isTextList } from "./feed-schema.ts";
import { type CheckedFile, FileBatches } from "./file-batches.ts";
import { checkFeedFile } from "./file-checks.ts";
import { describeFileError, fileError, printableColumns } from "./file-errors.ts";
import {
  type FeedRelation,
  type FileGroup,
  type FileShape,
  type ReadSettings,
  relationOf,
  shapeOf,
  withinLimit,
} from "./file-formats.ts";

/** Receives the raw rows of a table: `file`, `row`, and every field of the table. */
export type RowsHandler = (table: FeedTable, rows: Sql) => Promise<void>;

/**
 * Reads all files of a delivery and passes the rows of each table to `onRows`, for small files of one shape together. Returns one message per
 * ignored column, file that a preset fits, and refused file. Throws a UserError for the first invalid file, unless it is read by a mapping and others
 * are not invalid: their dealers' listings stay as they were.
 */
export async function readDelivery(
  session: Session,
  delivery: Delivery,
  settings: ReadSettings,
  onRows: RowsHandler,
): Promise<readonly string[]> {
  return withScratch(settings, async (scratch) => {
    const reading = new DeliveryReading(session, { ...settings, scratch }, onRows);
    for (const file of delivery.files) await reading.add(file);
    return reading.end(delivery);
  });
}

/** The reading of one delivery. */
class DeliveryReading {
  private readonly remarks: string[] = [];
  private readonly refused: UserError[] = [];
  /** Names of files by the preset that fits them. */
  private readonly recognized = new Map<string, readonly string[]>();
  private readonly batches: FileBatches;
  private files = 0;
  /** Files that are read by a mapping, or were refused before. */
  private mapped = 0;

  constructor(
    private readonly session: Session,
    private readonly settings: ReadSettings & { readonly scratch: string },
    onRows: RowsHandler,
  ) {
    const readGroup = async (group: FileGroup, done: Set<FeedTable>): Promise<void> => {
      for (const [table, rows] of tablesOf(group, settings)) {
        if (done.has(table)) continue;
        await onRows(table, rows);
        done.add(table);
      }
    };
    this.batches = new FileBatches(settings, readGroup, (file, thrown) => this.refuse(file, thrown));
  }

  /** Prepares, checks and reads a file, or each of those in an archive, or lets it wait for others of its shape. */
  async add(file: FeedFile): Promise<void> {
    const remark = (text: string): void => void this.remarks.push(text);
    const onRecognized = ({ name }: FeedFile, { name: preset }: Mapping): void =>
      void this.recognized.set(preset, [...(this.recognized.get(preset) ?? []), name]);
    const preparation = { ...this.settings, remark, onRecognized };
    for (const one of (await this.unlessRefused(file, unpackedFiles(file, preparation))) ?? [])
      for (const prepared of (await this.unlessRefused(one, preparedFile(one, preparation))) ?? [])
        await this.addPrepared(prepared);
  }

  private async addPrepared(file: FeedFile): Promise<void> {
    this.files += 1;
    const checked = await this.unlessRefused(file, checkFile(this.session, file, this.settings));
    if (checked === undefined) return;
    if (file.mapping !== undefined) this.mapped += 1;
    await this.batches.add(checked);
    if (file.mapping === undefined) this.remarks.push(...describeIgnoredColumns(file, checked.shape));
  }

  /** Returns the result of a step; undefined if it has refused the file. */
  private async unlessRefused<T>(file: FeedFile, step: Promise<T>): Promise<T | undefined> {
    try {
      return await step;
    } catch (thrown) {
      if (!isMapped(file, this.settings)) await this.batches.readAll();
      this.refuse(file, await describeFileError(file, { columns: [], limits: this.settings.limits }, thrown));
      this.mapped += 1;
      return undefined;
    }
  }

  /** Reads the files that wait. Returns the remarks. Throws a UserError if no file was read. */
  async end({ files: [first] }: Delivery): Promise<readonly string[]> {
    await this.batches.readAll();
    const [error] = this.refused;
    if (error !== undefined && this.refused.length >= this.mapped) throw error;
    if (this.files === 0 && error === undefined && first !== undefined) throw noFeedFiles(dirname(first.path));
    const recognized = [...this.recognized].map(([preset, names]) => describeRecognized(preset, names));
    return [...recognized, ...this.remarks, ...this.refused.map(({ message }) => `refused file: ${message}`)];
  }

  private refuse(file: FeedFile, thrown: unknown): void {
    if (!(thrown instanceof UserError && isMapped(file, this.settings))) throw thrown;
    this.refused.push(thrown);
  }
}

function describeRecognized(preset: string, [first = "", ...others]: readonly string[]): string {
  const more = others.length === 0 ? "" : ` and ${others.length} more`;
  return `${printable(first)}${more}: recognized as ${preset}; --preset or --mapping names another layout.`;
}

/** Returns whether a file is read by a mapping, or would be. */
const isMapped = ({ mapping, isForeign, table }: FeedFile, settings: ReadSettings): boolean =>
  mapping !== undefined || isForeign === true || (settings.mapping !== undefined && table === "inventory");

/** Checks a file before its rows are read. Throws if it is invalid. */
async function checkFile(session: Session, file: FeedFile, settings: ReadSettings): Promise<CheckedFile> {
  const content = await checkFeedFile(file, settings.limits);
  if (file.mapping !== undefined) await checkPatterns(session, file.mapping);
  const shape = await shapeOf(session, file, settings);
  // Throws if the columns are not those that the table or the mapping needs.
  tablesOf({ files: [file], file, shape }, settings);
  return { ...content, file, shape };
}

/** Returns the rows of files of one shape, for each table that they fill. */
function tablesOf(group: FileGroup, settings: ReadSettings): readonly TableRows[] {
  const { mapping } = group.file;
  const source = relationOf(group, settings);
  const tables =
    mapping === undefined
      ? [feedRows(group.file, source)]
      : mappedTables(group.file, source, mapping).map(
          (mapped) =>
            [mapped.table, fieldsOf(mapped.source, mapped.table, (field) => mapped.values.get(field))] as const,
        );
  return tables.map(([table, rows]) => [table, limitRows(rows, settings.limits)]);
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

/** Returns rows with every field of a table. Fields without a value are null. */
function fieldsOf({ file, rows }: FeedRelation, table: FeedTable, valueFor: (field: string) => Sql | undefined): Sql {
  const values = Object.entries(feed[table].properties).map(([field, schema]) => {
    const absent = isTextList(schema) ? sql`NULL::VARCHAR[]` : sql`NULL::VARCHAR`;
    return sql`${valueFor(field) ?? absent} AS ${ident(field)}`;
  });
  return sql`SELECT ${file} AS file, "row", ${join(values)} FROM (${rows})`;
}
