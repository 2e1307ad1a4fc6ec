/**
 * Records of JSON and XML documents as flat NDJSON, which the engine reads: each value a text, its column the path to it, such as `image[0].url`.
 *
 * A record of JSON is an object of one array, or a line of NDJSON; of XML, the element at a path, with its elements and attributes as columns. Each
 * is parsed alone, so memory is bounded by the largest record. The XML parser keeps no tree and expands no entities but the five of XML.
 */
import { open } from "node:fs/promises";
import { SaxesParser, type SaxesTagPlain } from "saxes";
import { isObject } from "../../base/json.ts";
import { messageOf, printable, UserError } from "../../base/user-error.ts";
import { type FeedFile, type FeedLimits, feedColumnsMax } from "../feed/feed-file.ts";
import { fileError, limitError } from "../feed/file-errors.ts";

/** Texts by path. */
type FlatRecord = ReadonlyMap<string, string>;

/** Text that is written at once. */
const partCharacters = 2 ** 20;

/** Writes records to a file. Returns the names of their columns. Throws a UserError if these are too many, or a record is too large. */
export async function writeRecords(
  file: FeedFile,
  records: AsyncIterable<FlatRecord>,
  path: string,
  limits: FeedLimits,
): Promise<readonly string[]> {
  const columns = new Map<string, string>();
  const target = await open(path, "w");
  let part = "";
  let row = 0;
  try {
    for await (const record of records) {
      row += 1;
      const line = JSON.stringify(Object.fromEntries(named(record, columns)));
      if (columns.size > feedColumnsMax)
        throw fileError(file, `, row ${row}: too many columns: expected at most ${feedColumnsMax}.`);
      if (Buffer.byteLength(line) > limits.recordBytes) throw limitError(file, "recordBytes", limits, row);
      part += `${line}\n`;
      if (part.length < partCharacters) continue;
      await target.write(part);
      part = "";
    }
    await target.write(part);
  } finally {
    await target.close();
  }
  return [...columns.values()];
}

/** Returns the texts of a record by column: names that differ only in case are one column. Adds the columns that are new. */
function* named(record: FlatRecord, columns: Map<string, string>): Iterable<readonly [string, string]> {
  for (const [path, text] of record) {
    const key = path.toLowerCase();
    const column = columns.get(key) ?? (key === "row" ? `${path}_` : path);
    columns.set(key, column);
    yield [column, text];
  }
}

/** Returns the texts in a parsed JSON record. */
function flattened(record: unknown): FlatRecord {
  const texts = new Map<string, string>();
  const add = (path: string, value: unknown): void => {
    if (value === null || value === undefined) return;
    if (Array.isArray(value)) for (const [index, item] of value.entries()) add(`${path}[${index}]`, item);
    else if (isObject(value))
      for (const [key, item] of Object.entries(value)) add(path === "" ? key : `${path}.${key}`, item);
    else texts.set(path === "" ? "value" : path, String(value));
  };
  add("", record);
  return texts;
}

/** An array or object around the records, and the key that it is reading. */
interface Enclosing {
  readonly isArray: boolean;
  key: string | undefined;
}

/** Yields the records of a document. `records` is the path of their array; by default that of the first with objects. Throws a UserError if it is malformed. */
export async function* jsonRecords(
  file: FeedFile,
  texts: AsyncIterable<string>,
  limits: FeedLimits,
  records?: string,
): AsyncGenerator<FlatRecord, void, undefined> {
  const reader = new JsonReader(file, limits, records);
  for await (const text of texts) yield* reader.add(text);
  reader.end();
}

class JsonReader {
  private readonly around: Enclosing[] = [];
  private target: string | undefined;
  /** Arrays and objects that are open in the record; 0 outside of one. */
  private depth = 0;
  private isInString = false;
  private isEscaped = false;
  /** The begun record, or the begun text outside of one, in earlier parts. */
  private begun = "";
  private lastText = "";
  private rows = 0;

  constructor(
    private readonly file: FeedFile,
    private readonly limits: FeedLimits,
    records: string | undefined,
  ) {
    this.target = records?.replace(/^\/?/, "/");
  }

  /** Yields the records that end in a part of the document. */
  *add(text: string): Iterable<FlatRecord> {
    const isWanted = (): boolean => this.depth > 0 || this.isInString;
    let start = 0;
    for (let index = 0; index < text.length; index += 1) {
      const wasWanted = isWanted();
      const character = text[index] ?? "";
      const isEnd = this.step(character);
      if (!wasWanted && isWanted()) start = index;
      if (!isEnd) continue;
      const whole = this.begun + text.slice(start, index + 1);
      this.begun = "";
      if (character === '"') this.lastText = whole.slice(1, -1);
      else yield this.parsed(whole);
    }
    if (!isWanted()) return;
    this.begun += text.slice(start);
    if (this.begun.length > this.limits.recordBytes)
      throw limitError(this.file, "recordBytes", this.limits, this.rows + 1);
  }

  /** Throws a UserError if the document is not complete. */
  end(): void {
    if (this.depth > 0 || this.isInString || this.around.length > 0)
      throw fileError(
        this.file,
        `, row ${this.rows + 1}: the file ends within a value: expected a whole JSON document.`,
      );
  }

  /** Reads a character. Returns true if it ends a record, or a text outside of one. */
  private step(character: string): boolean {
    if (this.isInString) return this.stepInString(character);
    if (character === '"') this.isInString = true;
    else if (character === "{" || character === "[") this.enter(character);
    else if (character === "}" || character === "]") return this.leave();
    else if (character === ":" && this.depth === 0) {
      const object = this.around.at(-1);
      if (object !== undefined) object.key = this.lastText;
    }
    return false;
  }

  private stepInString(character: string): boolean {
    if (this.isEscaped) this.isEscaped = false;
    else if (character === "\\") this.isEscaped = true;
    else if (character === '"') {
      this.isInString = false;
      return this.depth === 0;
    }
    return false;
  }

  private enter(character: string): void {
    if (this.depth > 0 || (character === "{" && this.isRecord())) this.depth += 1;
    else this.around.push({ isArray: character === "[", key: undefined });
    if (this.depth + this.around.length > this.limits.nesting)
      throw limitError(this.file, "nesting", this.limits, this.rows + 1);
  }

  private leave(): boolean {
    if (this.depth > 0) {
      this.depth -= 1;
      return this.depth === 0;
    }
    if (this.around.pop() === undefined)
      throw fileError(this.file, `, row ${this.rows + 1}: invalid JSON: expected a whole JSON document.`);
    return false;
  }

  /** Returns whether an object that begins here is a record. */
  private isRecord(): boolean {
    if (this.file.format === "ndjson") return this.around.length === 0;
    if (this.around.at(-1)?.isArray !== true) return false;
    const path = `/${this.around.flatMap(({ key }) => (key === undefined ? [] : [key])).join("/")}`;
    this.target ??= path;
    return path === this.target;
  }

  private parsed(text: string): FlatRecord {
    this.rows += 1;
    try {
      return flattened(JSON.parse(text));
    } catch {
      throw fileError(this.file, `, row ${this.rows}: invalid JSON: expected an object.`);
    }
  }
}

/** An element that is open within a record. */
interface OpenElement {
  readonly path: string;
  text: string;
}

/** Yields the records of a document. `records` is their path; by default the children of the root. Throws a UserError if it is malformed. */
export async function* xmlRecords(
  file: FeedFile,
  texts: AsyncIterable<string>,
  limits: FeedLimits,
  records?: string,
): AsyncGenerator<FlatRecord, void, undefined> {
  const reader = new XmlReader(file, limits, records);
  for await (const text of texts) yield* reader.add(text);
  yield* reader.end();
}

class XmlReader {
  private readonly parser = new SaxesParser();
  private readonly path: string[] = [];
  private readonly target: string | undefined;
  private open: OpenElement[] = [];
  private texts = new Map<string, string>();
  private counts = new Map<string, number>();
  private done: FlatRecord[] = [];
  private rows = 0;
  /** Characters of the parts so far; the parser's position counts the last part twice between parts. */
  private fed = 0;
  /** Where the record, or what follows the last one, begins. */
  private begin = 0;

  constructor(
    private readonly file: FeedFile,
    private readonly limits: FeedLimits,
    records: string | undefined,
  ) {
    this.target = records?.replace(/^\/?/, "/");
    this.parser.on("opentag", (tag) => this.start(tag));
    this.parser.on("closetag", () => this.finish());
    for (const event of ["text", "cdata"] as const) this.parser.on(event, (text) => this.addText(text));
  }

  /** Returns the records that end in a part of the document. */
  add(text: string): readonly FlatRecord[] {
    this.fed += text.length;
    return this.parse(() => this.parser.write(text));
  }

  /** Returns the records that end with the document. */
  end(): readonly FlatRecord[] {
    return this.parse(() => this.parser.close());
  }

  private parse(step: () => unknown): readonly FlatRecord[] {
    try {
      step();
    } catch (thrown) {
      if (thrown instanceof UserError) throw thrown;
      throw fileError(this.file, `, row ${this.rows + 1}: invalid XML: ${printable(messageOf(thrown), 100)}`);
    }
    this.checkSize(this.fed);
    const { done } = this;
    this.done = [];
    return done;
  }

  private checkSize(position: number): void {
    if (position - this.begin > this.limits.recordBytes)
      throw limitError(this.file, "recordBytes", this.limits, this.rows + 1);
  }

  private start({ name, attributes }: SaxesTagPlain): void {
    this.path.push(localName(name));
    if (this.path.length > this.limits.nesting) throw limitError(this.file, "nesting", this.limits, this.rows + 1);
    const parent = this.open.at(-1);
    const isRecord = parent === undefined && this.isRecord();
    if (parent === undefined && !isRecord) return;
    if (isRecord) this.begin = this.parser.position;
    const path = parent === undefined ? "" : this.numbered(joined(parent.path, localName(name)));
    this.open.push({ path, text: "" });
    for (const [attribute, value] of Object.entries(attributes))
      this.texts.set(this.numbered(joined(path, localName(attribute))), value);
  }

  private isRecord(): boolean {
    return this.target === undefined ? this.path.length === 2 : `/${this.path.join("/")}` === this.target;
  }

  /** Returns the path with a number if the record has it already. */
  private numbered(path: string): string {
    const count = this.counts.get(path) ?? 0;
    this.counts.set(path, count + 1);
    return count === 0 ? path : `${path}[${count}]`;
  }

  private addText(text: string): void {
    const element = this.open.at(-1);
    if (element !== undefined) element.text += text;
  }

  private finish(): void {
    this.path.pop();
    const element = this.open.pop();
    if (element === undefined) return;
    const text = element.text.trim();
    if (text !== "") this.texts.set(element.path === "" ? "value" : element.path, text);
    if (this.open.length > 0) return;
    this.checkSize(this.parser.position);
    this.done.push(this.texts);
    this.rows += 1;
    this.begin = this.parser.position;
    this.texts = new Map();
    this.counts = new Map();
  }
}

const joined = (path: string, name: string): string => (path === "" ? name : `${path}.${name}`);

/** Returns a name without the prefix of its namespace. */
const localName = (name: string): string => name.slice(name.indexOf(":") + 1);
