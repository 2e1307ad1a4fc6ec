/**
 * Rows of CSV that the engine refuses as a whole: with titles above the header, cells as `="12"`, or some malformed rows. They are written again, each
 * with its number, as CSV that the engine reads, without those that are malformed.
 *
 * The engine reads ordinary files strictly; only what it refuses, or would misread, comes here. A row that is malformed ends with its line.
 */
import { printable } from "../../base/user-error.ts";
import { type BadRow, type CsvLayout, type FeedFile, type FeedLimits, feedColumnsMax } from "../feed/feed-file.ts";
import { fileError, limitError } from "../feed/file-errors.ts";
import { type DocumentParser, requireUtf8, writeParsed } from "./document-events.ts";
import { isRowKeyName, isVin } from "./record-paths.ts";

/** How a CSV text is written. */
type TextLayout = Pick<CsvLayout, "delimiter" | "quote">;

/** The fields of a row and where it ends; a reason why it is malformed; undefined if the text ends before. */
type Parsed = { readonly fields: readonly string[]; readonly end: number } | string | undefined;

const openQuote = "invalid quotes: expected a closing quote";
const invalidQuotes = `${openQuote} followed by a delimiter or the end of the row`;

/** Parses the row that begins at a position. `isWhole`: nothing follows the text. */
function parsedRow(text: string, start: number, { delimiter, quote }: TextLayout, isWhole: boolean): Parsed {
  const fields: string[] = [];
  const ends = new RegExp(`[${delimiter.replace(/[\\\]^-]/, "\\$&")}\r\n]`, "g");
  let at = start;
  for (;;) {
    let open = at;
    while (text[open] === " ") open += 1;
    const isFormula = quote !== "" && text[open] === "=" && text[open + 1] === quote;
    if (quote !== "" && (isFormula || text[open] === quote)) {
      const from = open + (isFormula ? 2 : 1);
      const close = closingQuote(text, from, quote);
      if (close === undefined) return isWhole ? openQuote : undefined;
      const field = text.slice(from, close).replaceAll(quote + quote, quote);
      fields.push(field.replace(/^="(.*)"$/s, "$1"));
      at = close + 1;
      while (text[at] === " ") at += 1;
    } else {
      ends.lastIndex = at;
      const end = ends.exec(text)?.index ?? text.length;
      fields.push(text.slice(at, end));
      at = end;
    }
    if (!isWhole && at >= text.length - 1) return undefined;
    if (text[at] === delimiter) at += 1;
    else if (at >= text.length || text[at] === "\n") return { fields, end: Math.min(at + 1, text.length) };
    else if (text[at] === "\r") return { fields, end: at + (text[at + 1] === "\n" ? 2 : 1) };
    else return invalidQuotes;
  }
}

/** Returns the position of the quote that ends a field; undefined if none does. */
function closingQuote(text: string, start: number, quote: string): number | undefined {
  for (let at = text.indexOf(quote, start); at >= 0; at = text.indexOf(quote, at + 2))
    if (text[at + 1] !== quote) return at;
  return undefined;
}

/** Returns the position after the line at a position; undefined if it does not end. */
function lineEnd(text: string, at: number): number | undefined {
  const ends = /\r\n|\r|\n/g;
  ends.lastIndex = at;
  return ends.exec(text) === null ? undefined : ends.lastIndex;
}

/** Where the header of a CSV text is. */
export interface CsvStart {
  readonly delimiter: string;
  /** Its position: characters of what is above it. */
  readonly offset: number;
  /** Its fields. */
  readonly header: readonly string[];
  /** Whether something other than blank lines and `sep=` is above it. */
  readonly hasTitle: boolean;
}

/** A line at the start of a CSV text that is not blank. */
interface StartLine extends Pick<CsvStart, "offset" | "delimiter"> {
  readonly text: string;
  readonly fields: readonly string[];
}

const delimiters = [",", "\t", "|", ";"] as const;

/** Returns the delimiter that occurs most often in a line, outside of quotes. */
function delimiterOf(line: string): string {
  const bare = line.replaceAll(/"[^"]*"/g, "");
  const counts = delimiters.map((delimiter) => bare.split(delimiter).length);
  return delimiters[counts.indexOf(Math.max(...counts))] ?? ",";
}

/** Lines in which the header is looked for. */
const startLinesMax = 30;

/**
 * Finds the header of a CSV text: the first line, below `sep=` and blank lines; below a title, the line with the name of the key, else the one above the
 * first VIN.
 */
export function csvStart(file: FeedFile, text: string): CsvStart {
  const { delimiter: given, quote = '"', header: hasHeader = true } = file.mapping?.file ?? {};
  const [separator = "", named] = /^"?sep=([^\r\n"]|\t)"?(?:\r\n|\r|\n)/i.exec(text) ?? [];
  const lines: StartLine[] = [];
  for (let offset = separator.length; offset < text.length && lines.length < startLinesMax; ) {
    const end = lineEnd(text, offset) ?? text.length;
    const line = text.slice(offset, end).replace(/[\r\n]+$/, "");
    const delimiter = given ?? named ?? delimiterOf(line);
    const parsed = parsedRow(line, 0, { delimiter, quote }, true);
    const fields = typeof parsed === "object" ? parsed.fields : line.split(delimiter);
    if (fields.some((field) => field.trim() !== "")) lines.push({ offset, text: line, fields, delimiter });
    offset = end;
  }
  const index = hasHeader ? headerIndex(file, lines) : 0;
  const { offset = 0, fields = [], delimiter = given ?? named ?? "," } = lines[index] ?? {};
  return { delimiter, offset, header: fields, hasTitle: index > 0 };
}

function headerIndex(file: FeedFile, lines: readonly StartLine[]): number {
  const firstVin = lines.findIndex(({ fields }) => fields.some(isVin));
  const named = lines.findIndex(({ fields }) => fields.some((field) => isRowKeyName(file, field.trim())));
  const known = (fields: readonly string[]): number => fields.filter((field) => field.trim() !== "").length;
  const isTitle = known(lines[0]?.fields ?? []) <= (lines[firstVin]?.fields.length ?? 0) / 2;
  const index =
    named > 0 && (firstVin < 0 || named < firstVin) ? named : named < 0 && firstVin > 1 && isTitle ? firstVin - 1 : 0;
  const above = lines
    .slice(0, index)
    .map(({ text }) => text)
    .join("");
  // A header of several lines has a quote that is open between them.
  return above.split('"').length % 2 === 1 ? index : 0;
}

/** What to read: texts of a file in their order, from the header on. */
export interface CsvSource {
  readonly file: FeedFile;
  readonly layout: CsvLayout;
  readonly limits: FeedLimits;
  readonly isUtf8: boolean;
  readonly texts: AsyncIterable<string>;
}

/** Parser of CSV that writes the good rows again, with their numbers. */
class CsvRows implements DocumentParser {
  readonly badRows: BadRow[] = [];
  rows = 0;
  private text = "";
  private lines = "";
  private columns: readonly string[] | undefined;
  /** Whether a good row has had several lines. */
  private hasLongRows = false;

  constructor(private readonly source: CsvSource) {}

  add(part: string): void {
    this.text += part;
    this.read(false);
  }

  end(): void {
    this.read(true);
  }

  /** Returns the rows that have ended since. */
  take(): string {
    const { lines } = this;
    this.lines = "";
    return lines;
  }

  private read(isLast: boolean): void {
    const { file, limits } = this.source;
    const isUnended = isLast && !"\r\n".includes(this.text.at(-1) ?? "");
    let at = 0;
    while (at < this.text.length) {
      const parsed = this.parsed(at, isLast || this.text.length - at > limits.recordBytes);
      if (parsed === undefined) break;
      const isOpen = parsed === openQuote;
      const next = typeof parsed === "string" && (isOpen || this.hasLongRows) ? this.nextRow(at) : undefined;
      const end = typeof parsed === "object" ? parsed.end : this.badEnd(at, next);
      if (end - at > limits.recordBytes) throw limitError(file, "recordBytes", limits, this.rows + 1);
      const isCut = isOpen
        ? next === undefined && (isUnended || (isLast && this.hasLongRows))
        : isUnended && end === this.text.length;
      this.addRow(parsed, this.text.slice(at, end), isCut);
      at = end;
    }
    this.text = this.text.slice(at);
  }

  private parsed(at: number, isWhole: boolean): Parsed {
    return parsedRow(this.text, at, this.source.layout, isWhole);
  }

  /** Returns the position of the next line that is a good row; undefined if none is near. */
  private nextRow(at: number): number | undefined {
    for (
      let next = lineEnd(this.text, at);
      next !== undefined && next < this.text.length;
      next = lineEnd(this.text, next)
    ) {
      const parsed = this.parsed(next, true);
      if (typeof parsed === "object" && this.faultOf(parsed.fields, "") === undefined) return next;
      if (next - at > this.source.limits.recordBytes) return undefined;
    }
    return undefined;
  }

  /** Returns where a row with invalid quotes ends: with its line, or, in files with rows of several lines, before the next good row. */
  private badEnd(at: number, next: number | undefined): number {
    return (this.hasLongRows ? next : undefined) ?? lineEnd(this.text, at) ?? this.text.length;
  }

  /** Adds a row. Throws a UserError if it is malformed because the file was cut off. */
  private addRow(parsed: NonNullable<Parsed>, raw: string, isCut: boolean): void {
    const { file, layout } = this.source;
    const fields = typeof parsed === "string" ? [] : parsed.fields;
    if (fields.length === 1 && (fields[0] ?? "").replace("\u001a", "").trim() === "") return;
    if (this.columns === undefined) {
      if (typeof parsed === "string") throw fileError(file, `, row 0 (header): ${parsed}.`);
      this.columns = fields;
      if (layout.hasHeader) {
        this.write("row", fields);
        return;
      }
    }
    this.rows += 1;
    requireUtf8(this.source, raw, this.rows);
    const fault = typeof parsed === "string" ? parsed : this.faultOf(fields, raw);
    if (fault === undefined) {
      this.hasLongRows ||= /[\r\n]/.test(raw.trimEnd());
      this.write(String(this.rows), fields.slice(0, this.columns.length));
    } else if (isCut && parsed !== invalidQuotes && fields.length < this.columns.length)
      throw fileError(file, `: the file ends within row ${this.rows}: ${fault}.`);
    else this.badRows.push({ row: this.rows, text: raw.trimEnd(), reason: fault });
  }

  private write(row: string, fields: readonly string[]): void {
    if (fields.length > feedColumnsMax)
      throw fileError(this.source.file, `, row ${this.rows}: too many columns: expected at most ${feedColumnsMax}.`);
    this.lines += `${[row, ...fields].map(cell).join(",")}\n`;
  }

  /** Returns why a row is malformed; undefined if it is not. More fields than columns are none if they are empty. */
  private faultOf(fields: readonly string[], raw: string): string | undefined {
    const { columns = [] } = this;
    if (raw.includes("\0")) return "NUL byte: expected text";
    if (fields.length < columns.length)
      return `${fields.length} fields: expected ${columns.length}, as in the header; column "${printable(columns[fields.length] ?? "", 40)}" is missing`;
    if (fields.slice(columns.length).every((field) => field.trim() === "")) return undefined;
    return `${fields.length} fields: expected ${columns.length}, as in the header; unexpected field after column "${printable(columns.at(-1) ?? "", 40)}"`;
  }
}

/** Writes the good rows of a CSV text to a file, with their numbers. Returns the number of rows, and the bad ones. Throws a UserError if no copy can be written. */
export async function writeCsvRows(source: CsvSource, path: string) {
  const parser = new CsvRows(source);
  await writeParsed(source.texts, parser, path, () => parser.take());
  return parser;
}

/** Returns a field as CSV; an empty one without quotes is unknown. */
const cell = (text: string): string =>
  /[",\r\n]/.test(text) || text.trim() !== text ? `"${text.replaceAll('"', '""')}"` : text;

/** Yields texts without the first characters. */
export async function* textsFrom(
  texts: AsyncIterable<string>,
  offset: number,
): AsyncGenerator<string, void, undefined> {
  let left = offset;
  for await (const text of texts) {
    if (text.length > left) yield text.slice(left);
    left = Math.max(0, left - text.length);
  }
}
