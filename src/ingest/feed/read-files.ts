/**
 * Reads the files of a delivery into relations with one text or text-list column per feed field.
 *
 * Checks files, not values. A file that is malformed, lacks a required column or has a column of the wrong type fails the whole ingest: a
 * truncated file would look like sold cars.
 *
 * Small files of one shape are read by one statement, because planning it takes a hundred times as long as reading one of them. A statement fails as a
 * whole; its files are then read alone and in order, so that the error is that of the first invalid file.
 */
import { dirname, sep } from "node:path";
import { integerIn } from "../../base/json.ts";
import { printable, UserError } from "../../base/user-error.ts";
import type { Session } from "../../db/duckdb.ts";
import { ident, join, type Sql, sql } from "../../db/sql.ts";
import { preparedFile, readRepaired, unpackedFiles, withScratch } from "../documents/prepared-files.ts";
import { checkPatterns, mappedTables, unfilledFields, unlistedKeys } from "../mapping/mapped-rows.ts";
import { foldName } from "../mapping/mapping.ts";
import type { Mapping } from "../mapping/rules.ts";
import { loadEntities } from "../normalize/html-entities.ts";
import { columnsByField } from "./column-names.ts";
import type { DealerList } from "./dealer-list.ts";
import { type Delivery, noFeedFiles } from "./delivery.ts";
import type { BadRow, FeedFile, FeedLimits } from "./feed-file.ts";
import { type FeedTable, feed, fieldOfColumn, isTextList } from "./feed-schema.ts";
import { batchBytesMax, type CheckedContent, checkFeedFile } from "./file-checks.ts";
import { describeFileError, describeFiles, fileError, printableColumns } from "./file-errors.ts";
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
type RowsHandler = (table: FeedTable, rows: Sql) => Promise<void>;

interface FaultHandlers {
  /** Receives the malformed rows of a file that was read without them. */
  readonly onBadRows?: (file: FeedFile, rows: readonly BadRow[]) => Promise<void>;
  /** Receives the name of a file that is refused, perhaps after the rows of one of its tables. */
  readonly onRefused?: (file: string) => Promise<void>;
}

/**
 * Reads all files of a delivery and passes the rows of each table to `onRows`, for small files of one shape together. Returns one message per
 * ignored column, preset that files fit, columns that files of a mapping lack, and refused file. Throws a UserError for the first invalid file, unless it
 * is read by a mapping and others are not invalid: their dealers' listings stay as they were.
 */
export async function readDelivery(
  session: Session,
  delivery: Delivery,
  settings: ReadSettings,
  onRows: RowsHandler,
  onFault: FaultHandlers = {},
): Promise<readonly string[]> {
  return withScratch(settings, async (scratch) => {
    const reading = new DeliveryReading(session, { ...settings, scratch }, onRows, onFault);
    for (const file of delivery.files) await reading.add(file);
    return reading.end(delivery);
  });
}

/** The reading of one delivery. */
class DeliveryReading {
  private readonly remarks: string[] = [];
  private readonly refused: UserError[] = [];
  /** Names of files by the remark that is about all of them. */
  private readonly shared = new Map<string, readonly string[]>();
  private readonly batches: FileBatches;
  private files = 0;
  /** Files that are read by a mapping, or were refused before. */
  private mapped = 0;
  /** The loading of the names of entities, once a file needs them. */
  private entities: Promise<void> | undefined;

  constructor(
    private readonly session: Session,
    private readonly settings: ReadSettings & { readonly scratch: string },
    onRows: RowsHandler,
    private readonly onFault: FaultHandlers,
  ) {
    const readGroup = async (group: FileGroup, done: Set<FeedTable>): Promise<void> => {
      for (const [table, rows, dealers] of tablesOf(group, settings)) {
        if (done.has(table)) continue;
        if (dealers !== undefined) await session.createTempTable(listedDealers, dealers);
        await onRows(table, rows);
        if (dealers !== undefined) this.remarks.push(...(await describeUnlisted(session, group, settings)));
        done.add(table);
      }
      for (const { badRows = [], hidesBadRows, ...file } of group.files)
        if (badRows.length > 0 && !hidesBadRows) await onFault.onBadRows?.(file, badRows);
    };
    this.batches = new FileBatches(settings, {
      check: (file) => this.check(file),
      read: readGroup,
      refuse: (file, thrown) => this.refuse(file, thrown),
    });
  }

  /** Prepares, checks and reads a file, or each of those in an archive, or lets it wait for others of its shape. */
  async add(file: FeedFile): Promise<void> {
    const remark = (text: string): void => void this.remarks.push(text);
    const onRecognized = (recognized: FeedFile, { name: preset }: Mapping): void =>
      this.share(`recognized as ${preset}; --preset or --mapping names another layout.`, recognized);
    const preparation = { ...this.settings, remark, onRecognized };
    for (const one of (await this.unlessRefused(file, unpackedFiles(file, preparation))) ?? [])
      for (const prepared of (await this.unlessRefused(one, preparedFile(one, preparation))) ?? [])
        await this.addPrepared(prepared);
  }

  /** Checks a file, and loads the names of entities for the first that can have some. */
  private async check(file: FeedFile): Promise<CheckedFile> {
    const checked = await checkFile(this.session, file, this.settings);
    if (checked.hasEntities) this.entities ??= loadEntities(this.session);
    await this.entities;
    return checked;
  }

  private async addPrepared(file: FeedFile): Promise<void> {
    this.files += 1;
    const checked = await this.unlessRefused(
      file,
      readRepaired(file, this.settings, (one) => this.check(one)),
    );
    if (checked === undefined) return;
    const sold = soldColumns(checked.shape.columns);
    if (sold !== undefined)
      this.remarks.push(`${printable(file.name)}: columns ${sold}: expected cars for sale, not sold ones.`);
    if (file.mapping !== undefined) {
      this.mapped += 1;
      const lacked = describeUnfilled(file.mapping, checked.shape);
      if (lacked !== undefined) this.share(lacked, file);
    }
    await this.batches.add(checked);
    this.remarks.push(
      ...(file.mapping === undefined
        ? describeIgnoredColumns(file, checked.shape)
        : describeNoDealer(file, file.mapping)),
    );
  }

  /** Returns the result of a step; undefined if it has refused the file. */
  private async unlessRefused<T>(file: FeedFile, step: Promise<T>): Promise<T | undefined> {
    try {
      return await step;
    } catch (thrown) {
      if (!isMapped(file, this.settings)) await this.batches.readAll();
      await this.refuse(file, describeFileError(file, this.settings.limits, thrown));
      this.mapped += 1;
      return undefined;
    }
  }

  /** Reads the files that wait. Returns the remarks. Throws a UserError if no file was read. */
  async end({ files: [first], remarks = [] }: Delivery): Promise<readonly string[]> {
    await this.batches.readAll();
    const [error] = this.refused;
    if (error !== undefined && this.refused.length >= this.mapped) throw error;
    if (this.files === 0 && error === undefined && first !== undefined) throw noFeedFiles(dirname(first.path));
    const shared = [...this.shared].map(([remark, names]) => describeFiles(remark, names));
    return [...remarks, ...shared, ...this.remarks, ...this.refused.map(({ message }) => `refused file: ${message}`)];
  }

  private share(remark: string, { name }: FeedFile): void {
    this.shared.set(remark, [...(this.shared.get(remark) ?? []), name]);
  }

  private async refuse(file: FeedFile, thrown: unknown): Promise<void> {
    if (!(thrown instanceof UserError && isMapped(file, this.settings))) throw thrown;
    this.refused.push(thrown);
    await this.onFault.onRefused?.(file.name);
  }
}

/** The most fields of a remark. */
const namedFieldsMax = 10;

/** Says which fields have no values in a file, because it lacks their columns; undefined if it has all of them. */
function describeUnfilled(mapping: Mapping, { columns }: FileShape): string | undefined {
  const fields = [...unfilledFields(mapping, columns)];
  if (fields.length === 0) return undefined;
  const named = fields.slice(0, namedFieldsMax);
  const others = fields.length > named.length ? ` and ${fields.length - named.length} others` : "";
  const expected = named.map(([, column = ""]) => `"${printable(column, 40)}"`);
  return `no column of ${named.map(([field]) => field).join(", ")}${others}: expected ${expected.join(", ")}, as the mapping names them.`;
}

/** Returns whether a file is read by a mapping, or would be. */
const isMapped = ({ mapping, isForeign, table }: FeedFile, settings: ReadSettings): boolean =>
  mapping !== undefined || isForeign === true || (settings.mapping !== undefined && table === "inventory");

/** The names of columns of files of sold cars: the date of the sale, and its price or customer. */
const soldNames = [
  /^(?:date(?:of)?(?:sale|sold)|(?:sale|sold|deal|contract)(?:on|at|date|day|time|timestamp))$/,
  /^(?:(?:sale|sold|selling|deal|final|hammer)(?:price|amount)|price(?:sold|atsale)|(?:buyer|customer|purchaser)(?:s?name|id)?|soldto)$/,
];

/** Returns the columns of a file of sold cars, for a message; undefined if it is none. */
export function soldColumns(columns: readonly string[]): string | undefined {
  const found = soldNames.flatMap((name) => columns.find((column) => name.test(foldName(column))) ?? []);
  if (found.length < soldNames.length) return undefined;
  return found.map((column) => `"${printable(column, 40)}"`).join(" and ");
}

/** Checks a file before its rows are read. Throws if it is invalid. */
async function checkFile(session: Session, file: FeedFile, settings: ReadSettings): Promise<CheckedFile> {
  const content = await checkFeedFile(file, settings.limits);
  if (file.mapping !== undefined) await checkPatterns(session, file.mapping);
  const shape = { ...(await shapeOf(session, file, settings)), hasEntities: content.hasEntities };
  // Throws if the columns are not those that the table or the mapping needs.
  tablesOf({ files: [file], file, shape }, settings);
  return { ...content, file, shape };
}

/** The table of the dealers of files, with their fields in a list of dealers: it is read twice. */
const listedDealers = "listed_dealers";

/** The rows of a table, and those that `listed_dealers` has meanwhile, if it is read from there. */
type TableRows = readonly [table: FeedTable, rows: Sql, dealers?: Sql | undefined];

/** Returns the rows of files of one shape, for each table that they fill. */
function tablesOf(group: FileGroup, settings: ReadSettings): readonly TableRows[] {
  const { mapping } = group.file;
  const source = relationOf(group, settings);
  if (mapping === undefined) {
    const [table, rows] = feedRows(group.file, source);
    return [[table, limitRows(rows, settings.limits)]];
  }
  const list = listOf(group, settings);
  return mappedTables(group.file, source, mapping, list).map((mapped) => {
    const { table } = mapped;
    const dealers = table === "dealers" && list !== undefined ? mapped.source.rows : undefined;
    const read = dealers === undefined ? mapped.source : { ...mapped.source, rows: sql`FROM ${ident(listedDealers)}` };
    const rows = fieldsOf(read, table, (field) => mapped.values.get(field));
    return [table, limitRows(rows, settings.limits), dealers];
  });
}

const listOf = ({ file }: Pick<FileGroup, "file">, settings: ReadSettings): DealerList | undefined =>
  file.dealers ?? settings.dealers;

/** Returns a remark for each dealer in `listed_dealers` that the list lacks. */
async function describeUnlisted(
  session: Session,
  group: FileGroup,
  settings: ReadSettings,
): Promise<readonly string[]> {
  const rows = await session.rows(unlistedKeys(ident(listedDealers)));
  return rows.map((row) => {
    const key = typeof row.key === "string" ? `"${printable(row.key, 40)}"` : "none";
    return `${printable(group.file.name)}, row ${integerIn(row, "row")}: dealer key ${key}: not in ${printable(listOf(group, settings)?.name ?? "")}.`;
  });
}

/** Returns rows that fail after the most that a file may have. */
const limitRows = (rows: Sql, limits: FeedLimits): Sql =>
  sql`SELECT * FROM (${rows}) WHERE ${withinLimit("rows", sql`"row" > ${limits.rows}`)}`;

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

/** Says what to do with a file without a dealer: its mapping identifies dealers by folders, and it lies in none. */
function describeNoDealer({ name, folder }: FeedFile, { dealer: { key } }: Mapping): readonly string[] {
  const locations = key.flatMap(({ from }) => from.flatMap(({ file }) => file ?? []));
  if (folder !== undefined || locations.includes("name") || !locations.includes("folder")) return [];
  return [
    `${printable(name)}: in no dealer's folder, by which its mapping identifies dealers: expected <day>/<dealer>/${printable(name)}, ` +
      "or a mapping that names the dealer, as carquet map --set dealer.name=... writes it.",
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

/** The most files of a batch by default: the plan of a statement grows with them. */
const batchFilesMax = 500;

interface CheckedFile extends CheckedContent {
  readonly file: FeedFile;
  readonly shape: FileShape;
}

interface WaitingFile extends CheckedFile {
  /** Its position in the delivery. */
  readonly position: number;
}

/** How files are checked and read. */
interface FileReading {
  readonly check: (file: FeedFile) => Promise<CheckedFile>;
  /** Reads a group of files, and adds the tables that it has read to `done`, which it skips. */
  readonly read: (group: FileGroup, done: Set<FeedTable>) => Promise<void>;
  /** Is called with the error of each file that cannot be read, and throws it unless the others go in without it. */
  readonly refuse: (file: FeedFile, thrown: unknown) => Promise<void>;
}

class FileBatches {
  private readonly batches = new Map<string, WaitingFile[]>();
  private added = 0;

  constructor(
    private readonly settings: ReadSettings & { readonly scratch: string },
    private readonly reading: FileReading,
  ) {}

  /** Adds a file to the batch of its shape, and reads batches that are full. */
  async add(checked: CheckedFile): Promise<void> {
    const { batchFilesMax: filesMax = batchFilesMax } = this.settings;
    const key = keyOf(checked);
    const waiting = this.batches.get(key) ?? [];
    if (bytesIn(waiting) + bytesIn([checked]) > batchBytesMax) await this.read(key);
    const batch = this.batches.get(key) ?? [];
    batch.push({ ...checked, position: this.added });
    this.added += 1;
    this.batches.set(key, batch);
    if (batch.length >= filesMax || bytesIn(batch) >= batchBytesMax) await this.read(key);
  }

  /** Reads all files that wait. */
  async readAll(): Promise<void> {
    for (const key of this.batches.keys()) await this.read(key);
  }

  private async read(key: string): Promise<void> {
    const batch = this.batches.get(key) ?? [];
    const done = new Set<FeedTable>();
    try {
      await this.readTogether(batch, done);
      this.batches.delete(key);
    } catch (thrown) {
      await this.readAlone(batch, done, thrown);
    }
  }

  private async readTogether(batch: readonly CheckedFile[], done: Set<FeedTable>): Promise<void> {
    const [first] = batch;
    if (first !== undefined) await this.reading.read({ ...first, files: batch.map(({ file }) => file) }, done);
  }

  /** Reads each file that waits alone, without the tables that have been read of a failed batch. Refuses the invalid ones in order. */
  private async readAlone(batch: readonly CheckedFile[], done: ReadonlySet<FeedTable>, thrown: unknown): Promise<void> {
    const waiting = [...this.batches.values()].flat().sort((one, other) => one.position - other.position);
    this.batches.clear();
    for (const one of waiting) {
      const isOfBatch = batch.includes(one);
      const read = async (whole: FeedFile): Promise<void> => {
        if (whole === one.file && isOfBatch && batch.length === 1) throw thrown;
        const checked = whole === one.file ? one : await this.reading.check(whole);
        await this.readTogether([checked], new Set(isOfBatch ? done : []));
      };
      await readRepaired(one.file, this.settings, read).catch((error: unknown) => this.reading.refuse(one.file, error));
    }
  }
}

/** Returns a text that files have in common if one statement can read them and distinguish them by their paths. */
function keyOf({ file, shape }: CheckedFile): string {
  const { table, format, isGzip, isNumbered, layout, mapping, dealers } = file;
  return JSON.stringify([
    table,
    format,
    isGzip,
    isNumbered,
    locationOf(file),
    layout,
    mapping?.name,
    dealers?.name,
    shape,
  ]);
}

/** Returns the folder from which the path of a file is its name; the path itself if its name is another, or its folder, as in an archive. */
function locationOf({ path, name, folder }: FeedFile): string {
  const depth = name.split("/").length;
  const parts = path.split(sep);
  const isNamed = parts.slice(-depth).join("/") === name && (folder ?? parts.at(-2)) === parts.at(-2);
  return isNamed ? `${depth} ${parts.slice(0, -depth).join(sep)}` : path;
}

/** Returns the content of a batch. A file that is larger, or has odd quotes, is read alone: the first saves numbering the rows of several. */
const bytesIn = (files: readonly CheckedContent[]): number =>
  files.reduce((sum, { bytes, hasOddQuotes }) => sum + (hasOddQuotes ? batchBytesMax : bytes), 0);
