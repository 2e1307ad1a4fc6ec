/**
 * Records of JSON and XML documents as flat NDJSON, which the engine reads: each value a text, its column the path to it, such as `mileage.value`.
 * A list is one column with all its items, such as `image[*].url`.
 *
 * A document is read twice: for the paths of its records, unless its mapping names them, and for the records. Each is kept alone, so memory is
 * bounded by the largest one.
 */
import { open } from "node:fs/promises";
import { isObject, parsedJson } from "../../base/json.ts";
import { printable } from "../../base/user-error.ts";
import { type BadRow, type FeedFile, type FeedLimits, feedColumnsMax } from "../feed/feed-file.ts";
import { feed, fieldOfColumn, isTextList, listSeparator } from "../feed/feed-schema.ts";
import { fileError, limitError } from "../feed/file-errors.ts";
import {
  type DocumentEvents,
  type DocumentParser,
  JsonDocumentParser,
  sendValue,
  XmlDocumentParser,
} from "./document-events.ts";
import { childPath, isOwnerName, RecordPathFinder } from "./record-paths.ts";

/** Texts by column. */
type FlatRecord = Map<string, string>;

/** A part of a document that is open. */
interface OpenPart {
  readonly path: string;
  /** Its column, in a record or among the values that records share; undefined if it is outside of both. */
  readonly column: string | undefined;
  /** Whether it is a record. */
  readonly isRecord: boolean;
  /** Values in it that later records share. */
  readonly shared: Map<string, string>;
  hasParts: boolean;
  hasRecords: boolean;
}

/** Values of an element that the records in it share, their depth and their characters. */
const sharedMax = 100;
const sharedDepthMax = 3;
const sharedCharactersMax = 1000;

class RecordReader implements DocumentEvents {
  rows = 0;
  private readonly parts: OpenPart[] = [];
  private record: FlatRecord | undefined;
  private size = 0;
  private done: { readonly row: number; readonly record: FlatRecord }[] = [];

  /** `paths` are those of the records, `lists` those of what is repeated in them. */
  constructor(
    private readonly file: FeedFile,
    private readonly limits: FeedLimits,
    private readonly paths: readonly string[],
    private readonly lists: ReadonlySet<string>,
  ) {}

  /** Returns the records that have ended since. */
  take() {
    const { done } = this;
    this.done = [];
    return done;
  }

  open(name: string, isItem: boolean): void {
    const parent = this.parts.at(-1);
    const path = childPath(parent?.path ?? "", name);
    const isRecord = this.record === undefined && this.isRecordPath(path, parent?.path ?? "");
    if (isRecord) {
      this.record = new Map();
      this.size = 0;
      for (const part of this.parts) part.hasRecords = true;
    }
    const isList = this.lists.has(path);
    const isOwner = this.record === undefined && (isItem || isList || isOwnerName(name));
    const label = `${name}${isList && this.record !== undefined ? "[*]" : ""}`;
    const around = parent?.column;
    const outer = around === undefined ? (isOwner ? name : undefined) : around === "" ? label : `${around}.${label}`;
    if (parent !== undefined) parent.hasParts = true;
    const column = isRecord ? "" : outer;
    this.parts.push({ path, column, isRecord, shared: new Map(), hasParts: false, hasRecords: false });
  }

  text(text: string): void {
    const { column, path = "" } = this.parts.at(-1) ?? {};
    if (column === undefined) return;
    if (this.record !== undefined) this.addText(column === "" ? "value" : column, text);
    else if (!this.lists.has(path) && text.length <= sharedCharactersMax && column.split(".").length <= sharedDepthMax)
      this.share(column, text);
  }

  close(): void {
    const part = this.parts.pop();
    if (part === undefined) return;
    if (part.isRecord) this.endRecord(part);
    else if (this.record === undefined && !part.hasRecords && !this.lists.has(part.path))
      for (const [column, text] of part.shared) this.share(column, text, 1);
  }

  /** Shares a value with the records in the element around that which is open, or just was. */
  private share(column: string, text: string, fromEnd = 2): void {
    const shared = this.parts.at(-fromEnd)?.shared;
    if (shared !== undefined && shared.size < sharedMax) shared.set(column, text);
  }

  private isRecordPath(path: string, parent: string): boolean {
    return this.paths.includes(path) || (path !== parent && this.paths.includes(`${parent}/*`));
  }

  private addText(column: string, text: string): void {
    const before = this.record?.get(column);
    const item = column.includes("[*]") ? text.replaceAll(listSeparator, /^https?:/i.test(text) ? "%7C" : "/") : text;
    this.size += column.length + item.length;
    if (this.size > this.limits.recordBytes) throw limitError(this.file, "recordBytes", this.limits, this.rows + 1);
    this.record?.set(column, before === undefined ? item : `${before}${listSeparator}${item}`);
  }

  private endRecord({ path, hasParts }: OpenPart): void {
    const { record = new Map<string, string>() } = this;
    this.record = undefined;
    // Beside objects by name there may be other values.
    if (!hasParts && !this.paths.includes(path)) return;
    this.rows += 1;
    for (const { shared } of this.parts.toReversed())
      for (const [column, text] of shared) if (!record.has(column)) record.set(column, text);
    this.done.push({ row: this.rows, record });
  }
}

/** A document that is converted. */
export interface FlatDocument {
  readonly file: FeedFile;
  readonly limits: FeedLimits;
  /** Begins to read its texts. */
  readonly texts: () => AsyncIterable<string>;
}

/** Returns the paths of the records of a document, and of lists. Throws a UserError if it is no inventory. */
async function structureOf({ file, limits, texts }: FlatDocument) {
  const finder = new RecordPathFinder(file);
  const { records } = file.mapping?.file ?? {};
  let fault: unknown;
  try {
    const parser = parserOf(file, limits, finder);
    for await (const text of texts()) {
      parser.add(text);
      if (finder.isFull) break;
    }
    if (!finder.isFull) parser.end();
  } catch (thrown) {
    fault = thrown;
  }
  if (file.format === "xml" && finder.root?.toLowerCase() === "adf")
    throw fileError(file, ": a lead (ADF): expected an inventory.");
  const paths =
    records === undefined
      ? finder.found
      : [records].flat().map((path) => path.replace(/^\/*(.*?)\/*$/, "/$1").replace(/^\/$/, ""));
  // The second reading fails at the same position, and knows its row.
  if (paths.length > 0) return { paths, lists: finder.repeated };
  throw fault ?? fileError(file, `: no VIN in it: expected an inventory.`);
}

/** Writes the records of a document to a file, with their rows. Returns their columns, and the rows that are malformed. Throws a UserError if the document is. */
export async function writeRecords(document: FlatDocument, path: string) {
  const { file, limits, texts } = document;
  const { paths, lists } = await structureOf(document);
  const badRows: BadRow[] = [];
  const reader = new RecordReader(file, limits, paths, lists);
  const parser = parserOf(file, limits, reader, badRows);
  const columns = new Map<string, string>();
  const target = await open(path, "w");
  try {
    for await (const text of texts()) {
      parser.add(text);
      await target.write(linesOf(document, reader, columns));
    }
    parser.end();
    await target.write(linesOf(document, reader, columns));
  } finally {
    await target.close();
  }
  if (reader.rows === 0) throw fileError(file, `: no records at ${printable(paths.join(" or "), 100)}.`);
  return { columns: [...columns.values()], badRows, rows: reader.rows };
}

/** Returns the records that have ended since as NDJSON, and adds their new columns. */
function linesOf({ file, limits }: FlatDocument, reader: RecordReader, columns: Map<string, string>): string {
  let lines = "";
  for (const { row, record } of reader.take()) {
    const line = JSON.stringify({ row, ...Object.fromEntries(named(file, record, columns)) });
    if (columns.size > feedColumnsMax)
      throw fileError(file, `, row ${row}: too many columns: expected at most ${feedColumnsMax}.`);
    if (Buffer.byteLength(line) > limits.recordBytes) throw limitError(file, "recordBytes", limits, row);
    lines += `${line}\n`;
  }
  return lines;
}

/** Returns the texts of a record by column: names that differ only in case are one column. Adds the columns that are new. */
function* named(file: FeedFile, record: FlatRecord, columns: Map<string, string>): Iterable<readonly [string, string]> {
  for (const [path, text] of record) {
    const key = path.toLowerCase();
    const column = columns.get(key) ?? (key === "row" ? `${path}_` : nameOf(file, path));
    columns.set(key, column);
    yield [column, text];
  }
}

/** Returns the name of a column: that of the field if it is a list of the Carquet format. */
function nameOf({ table, mapping }: FeedFile, path: string): string {
  const field = path.endsWith("[*]") ? fieldOfColumn(table, path.slice(0, -3)) : undefined;
  return mapping === undefined && isTextList(feed[table].properties[field ?? ""]) ? path.slice(0, -3) : path;
}

function parserOf(file: FeedFile, limits: FeedLimits, events: DocumentEvents, bad?: BadRow[]): DocumentParser {
  if (file.format === "xml") return new XmlDocumentParser(file, limits, events);
  return file.format === "ndjson"
    ? new LineParser(file, limits, events, bad)
    : new JsonDocumentParser(file, limits, events);
}

const notAnObject = "invalid JSON: expected an object";

/** Parser of NDJSON: a line that is no object is a bad row. */
class LineParser implements DocumentParser {
  private pending = "";

  constructor(
    private readonly file: FeedFile,
    private readonly limits: FeedLimits,
    private readonly events: DocumentEvents,
    private readonly bad: BadRow[] = [],
  ) {}

  add(text: string): void {
    const lines = (this.pending + text).split("\n");
    this.pending = lines.pop() ?? "";
    for (const line of lines) this.line(line);
    if (this.pending.length > this.limits.recordBytes)
      throw limitError(this.file, "recordBytes", this.limits, this.events.rows + 1);
  }

  end(): void {
    this.line(this.pending);
  }

  private line(line: string): void {
    if (line.trim() === "") return;
    const value = objectIn(line);
    if (value !== undefined) sendValue(this.events, "", value, true);
    else this.bad.push({ row: ++this.events.rows, text: line, reason: notAnObject });
  }
}

/** Returns the object that a line is; undefined if it is none. */
export function objectIn(line: string): object | undefined {
  const value = parsedJson(line);
  return isObject(value) ? value : undefined;
}

/** Writes the lines of NDJSON that are objects, with their rows. Returns the number of rows, and those that are malformed. */
export async function writeJsonLines(file: FeedFile, texts: AsyncIterable<string>, path: string) {
  const badRows: BadRow[] = [];
  const target = await open(path, "w");
  let rows = 0;
  let pending = "";
  const write = async (lines: readonly string[]): Promise<void> => {
    let part = "";
    for (const line of lines.filter((text) => text.trim() !== "")) {
      rows += 1;
      const value = objectIn(line);
      if (value === undefined) badRows.push({ row: rows, text: line, reason: notAnObject });
      else if ("row" in value) throw fileError(file, `: reserved column name "row": expected any other name.`);
      else part += `${JSON.stringify({ row: rows, ...value })}\n`;
    }
    await target.write(part);
  };
  try {
    for await (const text of texts) {
      const lines = (pending + text).split("\n");
      pending = lines.pop() ?? "";
      await write(lines);
    }
    await write([pending]);
  } finally {
    await target.close();
  }
  return { rows, badRows };
}
