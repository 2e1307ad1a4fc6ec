/**
 * Records of JSON and XML documents as flat NDJSON, which the engine reads: each value a text, its column the path to it, such as `mileage.value`.
 * A list is one column with all its items, such as `image[*].url`.
 *
 * A document is read twice: for the paths of its records, unless its mapping names them, and for the records. Each is kept alone, so memory is
 * bounded by the largest one.
 */
import { isObject, parsedJson, quotedNumbers } from "../../base/json.ts";
import { printable } from "../../base/user-error.ts";
import { type BadRow, type FeedFile, type FeedLimits, feedColumnsMax } from "../feed/feed-file.ts";
import { feed, fieldOfColumn, isTextList, listSeparator } from "../feed/feed-schema.ts";
import { fileError, limitError } from "../feed/file-errors.ts";
import {
  type DocumentEvents,
  type DocumentParser,
  JsonDocumentParser,
  NamedValues,
  requireUtf8,
  sendValue,
  writeParsed,
  XmlDocumentParser,
} from "./document-events.ts";
import { childPath, isOwnerName, lastName, parentPath, pathsAround, RecordPathFinder } from "./record-paths.ts";

/** Texts by column. */
type FlatRecord = Map<string, string>;

/** A part of a document that is open. */
interface OpenPart {
  readonly path: string;
  /** Its column, in a record or among the values that records share; undefined if it is outside of both. */
  readonly column: string | undefined;
  /** The column of what is in it: that of an owner begins with its own name. */
  readonly inner: string | undefined;
  /** Whether it is a record. */
  readonly isRecord: boolean;
  /** Its position among the parts outside of records. */
  readonly position: number;
  /** Values in it that its records share. */
  readonly shared: Map<string, string>;
  hasParts: boolean;
  hasRecords: boolean;
}

/**
 * Values of an element that the records in it share, their depth and their characters; columns of all of them; characters of those that follow records, with
 * what each takes up.
 */
const sharedMax = 100;
const sharedDepthMax = 3;
const sharedCharactersMax = 1000;
const sharedPathsMax = 10_000;
const lateCharactersMax = 2 ** 25;
const lateOverhead = 100;

/** Shared values by the position of the part that they are of. */
type SharedValues = Map<number, Map<string, string>>;

class RecordReader implements DocumentEvents {
  rows = 0;
  /** Values that follow records with which they are shared. */
  readonly late: SharedValues = new Map();
  private lateCharacters = 0;
  private readonly parts: OpenPart[] = [];
  private opened = 0;
  /** The path by which a column of shared values was named first. */
  private readonly sharedPaths = new Map<string, string>();
  /** The paths of dealers that are objects by their keys. */
  private readonly keyed: ReadonlySet<string>;
  private record: FlatRecord | undefined;
  private size = 0;
  private done: { readonly row: number; readonly record: FlatRecord }[] = [];

  /** `paths` are those of the records, `lists` those of what is repeated in them, `known` the late values that an earlier reading has found. */
  constructor(
    private readonly document: Pick<FlatDocument, "file" | "limits">,
    private readonly paths: ReadonlySet<string>,
    private readonly lists: ReadonlySet<string>,
    private readonly known: SharedValues,
  ) {
    const around = [...new Set([...paths].flatMap(pathsAround))];
    const counts = new Map<string, number>();
    for (const path of around) counts.set(parentPath(path), (counts.get(parentPath(path)) ?? 0) + 1);
    const isKeyed = (outer: string): boolean => isOwnerName(lastName(outer)) && (counts.get(outer) ?? 0) > 1;
    this.keyed = new Set(around.filter((path) => isKeyed(parentPath(path))));
  }

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
    if (parent !== undefined) parent.hasParts = true;
    const { column, inner } = isRecord
      ? { column: "", inner: "" }
      : this.columnsOf(name, isItem || this.lists.has(path), path);
    const position = this.opened;
    if (this.record === undefined) this.opened += 1;
    const shared = new Map(this.known.get(position));
    if (this.keyed.has(path)) shared.set(`${inner}.key`, name);
    this.parts.push({ path, column, inner, isRecord, position, shared, hasParts: false, hasRecords: false });
  }

  /** Returns the columns of a part that opens, and of what is in it. */
  private columnsOf(name: string, isList: boolean, path: string): Pick<OpenPart, "column" | "inner"> {
    const around = this.parts.at(-1)?.inner;
    if (this.record !== undefined) {
      const label = `${name}${this.lists.has(path) ? "[*]" : ""}`;
      const column = around === "" ? label : `${around}.${label}`;
      return { column, inner: column };
    }
    const isOwner = isList || isOwnerName(name);
    const isNamed = around === undefined || name.toLowerCase().startsWith(around.toLowerCase());
    const column = isNamed ? (isOwner || around !== undefined ? name : undefined) : `${around}.${name}`;
    // A list of dealers is named in the plural.
    if (this.keyed.has(path)) return { column, inner: singular(around ?? name) };
    return { column, inner: isOwner ? (isList ? singular(name) : name) : column };
  }

  text(text: string): void {
    const { column, path = "" } = this.parts.at(-1) ?? {};
    if (column === undefined) return;
    if (this.record !== undefined) this.addText(column === "" ? "value" : column, text);
    else if (
      !this.lists.has(path) &&
      text.length <= sharedCharactersMax &&
      column.split(".").length <= sharedDepthMax
    ) {
      const key = this.parts.find((part) => this.keyed.has(part.path))?.path ?? "";
      const place = path.slice(key.length);
      const first = this.sharedPaths.get(column) ?? place;
      if (this.sharedPaths.size < sharedPathsMax) this.sharedPaths.set(column, first);
      this.share(first === place ? column : path.slice(1).replaceAll("/", "."), text);
    }
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
    const part = this.parts.at(-fromEnd);
    if (part === undefined || (part.shared.size >= sharedMax && !part.shared.has(column))) return;
    if (part.hasRecords && part.shared.get(column) !== text) {
      this.lateCharacters += column.length + text.length + lateOverhead;
      if (this.lateCharacters > lateCharactersMax)
        throw fileError(this.document.file, ": too many values of dealers after their vehicles: expected them before.");
      this.late.set(part.position, (this.late.get(part.position) ?? new Map()).set(column, text));
    }
    part.shared.set(column, text);
  }

  private isRecordPath(path: string, parent: string): boolean {
    return this.paths.has(path) || (path !== parent && this.paths.has(`${parent}/*`));
  }

  private addText(column: string, text: string): void {
    const before = this.record?.get(column);
    const item = column.includes("[*]") ? text.replaceAll(listSeparator, /^https?:/i.test(text) ? "%7C" : "/") : text;
    const { file, limits } = this.document;
    this.size += column.length + item.length;
    if (this.size > limits.recordBytes) throw limitError(file, "recordBytes", limits, this.rows + 1);
    this.record?.set(column, before === undefined ? item : `${before}${listSeparator}${item}`);
  }

  private endRecord({ path, hasParts }: OpenPart): void {
    const { record = new Map<string, string>() } = this;
    this.record = undefined;
    // Beside objects by name there may be other values.
    if (!hasParts && !this.paths.has(path)) return;
    this.rows += 1;
    for (const { shared } of this.parts.toReversed())
      for (const [column, text] of shared) if (!record.has(column)) record.set(column, text);
    this.done.push({ row: this.rows, record });
  }
}

const singular = (name: string): string => name.replace(/(?<=[^s])s$/i, "");

/** A document that is converted. */
export interface FlatDocument {
  readonly file: FeedFile;
  readonly limits: FeedLimits;
  /** False if its texts are decoded as UTF-8 and are not in it. */
  readonly isUtf8?: boolean;
  /** Begins to read its texts. */
  readonly texts: () => AsyncIterable<string>;
}

/** Returns the paths of the records of a document, and of lists. Throws a UserError if it is no inventory. */
async function structureOf(document: FlatDocument) {
  const { file, texts } = document;
  const finder = new RecordPathFinder(file);
  const { records } = file.mapping?.file ?? {};
  let fault: unknown;
  try {
    const parser = parserOf(document, finder);
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
  const { file, texts } = document;
  const { paths, lists } = await structureOf(document);
  const write = async (known: SharedValues) => {
    const badRows: BadRow[] = [];
    const columns = new Map<string, string>();
    const reader = new RecordReader(document, new Set(paths), lists, known);
    await writeParsed(texts(), parserOf(document, reader, badRows), path, () => linesOf(document, reader, columns));
    return { reader, result: { columns: [...columns.values()], badRows, rows: reader.rows } };
  };
  const { reader, result } = await write(new Map());
  if (reader.rows === 0) throw fileError(file, `: no records at ${printable(paths.join(" or "), 100)}.`);
  return reader.late.size === 0 ? result : (await write(reader.late)).result;
}

/** Returns the records that have ended since as NDJSON, and adds their new columns. */
function linesOf(document: FlatDocument, reader: RecordReader, columns: Map<string, string>): string {
  const { file, limits } = document;
  let lines = "";
  for (const { row, record } of reader.take()) {
    const line = jsonLine({ row, ...textsByColumn(file, record, columns) });
    requireUtf8(document, line, row);
    if (columns.size > feedColumnsMax)
      throw fileError(file, `, row ${row}: too many columns: expected at most ${feedColumnsMax}.`);
    if (Buffer.byteLength(line) > limits.recordBytes) throw limitError(file, "recordBytes", limits, row);
    lines += `${line}\n`;
  }
  return lines;
}

/**
 * Returns the texts of a record by column: names that differ only in case are one column, which has the first text of them that is not blank. Adds the
 * columns that are new.
 */
function textsByColumn(file: FeedFile, record: FlatRecord, columns: Map<string, string>): object {
  const texts = new Map<string, string>();
  for (const [path, text] of record) {
    const key = path.toLowerCase();
    const column = columns.get(key) ?? (key === "row" ? `${path}_` : columnOf(file, path));
    columns.set(key, column);
    if ((texts.get(column) ?? "").trim() === "") texts.set(column, text);
  }
  return Object.fromEntries(texts);
}

/** Returns the name of a column: that of the field if it is a list of the Carquet format. */
function columnOf({ table, mapping }: FeedFile, path: string): string {
  const field = path.endsWith("[*]") ? fieldOfColumn(table, path.slice(0, -3)) : undefined;
  return mapping === undefined && isTextList(feed[table].properties[field ?? ""]) ? path.slice(0, -3) : path;
}

function parserOf({ file, limits }: FlatDocument, target: DocumentEvents, bad: BadRow[] = []): DocumentParser {
  const events = new NamedValues(target);
  if (file.format === "xml") return new XmlDocumentParser(file, limits, events);
  return file.format === "ndjson"
    ? new JsonLineParser({ file, limits }, target, bad, (value) => sendValue(events, "", value, true))
    : new JsonDocumentParser(file, limits, events);
}

/** Parser of NDJSON: a line that is no object is a bad row, or an error if the file ends within it. */
class JsonLineParser implements DocumentParser {
  private pending = "";

  /** `onObject` counts its rows in `target`. */
  constructor(
    private readonly document: Omit<FlatDocument, "texts">,
    private readonly target: Pick<DocumentEvents, "rows">,
    private readonly bad: BadRow[],
    private readonly onObject: (value: object) => void,
  ) {}

  add(text: string): void {
    const { file, limits } = this.document;
    const lines = (this.pending + text).split("\n");
    this.pending = lines.pop() ?? "";
    for (const line of lines) this.line(line, true);
    if (this.pending.length > limits.recordBytes) throw limitError(file, "recordBytes", limits, this.target.rows + 1);
  }

  end(): void {
    this.line(this.pending, false);
  }

  private line(text: string, isEnded: boolean): void {
    requireUtf8(this.document, text, this.target.rows + 1);
    const value = objectIn(text);
    if (value !== undefined) this.onObject(value);
    else if (text.replace("\u001a", "").trim() !== "") {
      this.target.rows += 1;
      const row = this.target.rows;
      const reason = "invalid JSON: expected an object";
      if (!isEnded && parsedJson(text) === undefined)
        throw fileError(this.document.file, `: the file ends within row ${row}: ${reason}.`);
      this.bad.push({ row, text, reason });
    }
  }
}

/** Returns the object that a line is, with texts for long whole numbers, of which a double holds not all digits; undefined if it is none. */
export function objectIn(line: string): object | undefined {
  const value = parsedJson(/\d{16}/.test(line) ? quotedNumbers(line, /^-?\d{16,}$/) : line);
  return isObject(value) ? value : undefined;
}

/** Returns a row as JSON, with U+FFFD for halves of surrogate pairs, which no UTF-8 can hold. */
const jsonLine = (row: object): string =>
  JSON.stringify(row).replaceAll(/(?<!\\)((?:\\\\)*)\\ud[89a-f]../g, "$1\ufffd");

/** Writes the lines of NDJSON that are objects, with their rows. Returns the number of rows, and those that are malformed. */
export async function writeJsonLines({ texts, ...document }: FlatDocument, path: string) {
  const badRows: BadRow[] = [];
  const target = { rows: 0 };
  let lines = "";
  const parser = new JsonLineParser(document, target, badRows, (value) => {
    if ("row" in value) throw fileError(document.file, `: reserved column name "row": expected any other name.`);
    target.rows += 1;
    lines += `${jsonLine({ row: target.rows, ...value })}\n`;
  });
  await writeParsed(texts(), parser, path, () => {
    const written = lines;
    lines = "";
    return written;
  });
  return { rows: target.rows, badRows };
}
