/**
 * Parsers of documents as streams of events: XML, and JSON as the XML that would say the same, in which an item of a list has the name of the list.
 *
 * Neither keeps a tree, so memory is bounded by the largest text. The XML parser expands no entities but the five of XML.
 */
import { open } from "node:fs/promises";
import { SaxesParser } from "saxes";
import { parsedJson } from "../../base/json.ts";
import { messageOf, printable, UserError } from "../../base/user-error.ts";
import type { FeedFile, FeedLimits } from "../feed/feed-file.ts";
import { fileError, limitError } from "../feed/file-errors.ts";

/** Receives a document: values open and close, and those without others in them have a text. */
export interface DocumentEvents {
  /** Rows that have ended. */
  rows: number;
  open(name: string, isItem: boolean): void;
  text(text: string): void;
  close(): void;
}

export interface DocumentParser {
  /** Reads a part of the document. Throws a UserError if it is malformed, or exceeds a limit. */
  add(text: string): void;
  end(): void;
}

/** Parses texts, and writes what `take` returns after each of them to a file. */
export async function writeParsed(
  texts: AsyncIterable<string>,
  parser: DocumentParser,
  path: string,
  take: () => string,
): Promise<void> {
  const target = await open(path, "w");
  try {
    for await (const text of texts) {
      parser.add(text);
      await target.write(take());
    }
    parser.end();
    await target.write(take());
  } finally {
    await target.close();
  }
}

/** Throws a UserError if a row has bytes that were no UTF-8, in texts that are not in it. */
export function requireUtf8(
  { file, isUtf8 = true }: { readonly file: FeedFile; readonly isUtf8?: boolean },
  text: string,
  row: number,
): void {
  if (!isUtf8 && text.includes("\ufffd"))
    throw fileError(file, `, row ${row}: invalid byte sequence: expected text in the encoding UTF-8.`);
}

/** Names of elements that can hold one value with its name, and of their parts; their own text has no name. */
const namedElement =
  /^(?:(?:field|attribute|attr|prop|param|parameter|column|component|data|entry|item|pair|variable|spec|specification|detail|characteristic)s?|(?:additional)?propert(?:y|ies)|str|string|int|integer|long|float|double|bool|boolean)$/i;
const namePart = /^(?:name|key|label)$/i;
const valuePart = /^(?:value|text|content|)$/i;
const partName = /^(?:name|key|label|value|text|content|@?type|unit)$/i;

/** Passes `<field name="vin" value="V1"/>` on as `<vin>V1</vin>`, also if the name or the value is an element. */
export class NamedValues implements DocumentEvents {
  /** The events of an element that can be a named value, until it closes. */
  private held: (() => void)[] | undefined;
  private texts: { readonly part: string; readonly text: string }[] = [];
  /** The part that is open. */
  private part = "";

  constructor(private readonly events: DocumentEvents) {}

  get rows(): number {
    return this.events.rows;
  }

  open(name: string, isItem: boolean): void {
    if (this.held !== undefined && this.part === "" && partName.test(name)) this.part = name;
    else {
      this.release();
      if (namedElement.test(name)) this.held = [];
      this.texts = [];
    }
    this.pass(() => this.events.open(name, isItem));
  }

  text(text: string): void {
    if (this.held !== undefined) this.texts.push({ part: this.part, text });
    this.pass(() => this.events.text(text));
  }

  close(): void {
    const isPart = this.held === undefined || this.part !== "";
    this.part = "";
    const name = this.texts.find(({ part }) => namePart.test(part))?.text;
    const values = this.texts.filter(({ part }) => valuePart.test(part));
    if (isPart || name === undefined || values.length === 0) {
      if (!isPart) this.release();
      this.pass(() => this.events.close());
      return;
    }
    this.held = undefined;
    for (const { text } of values) {
      this.events.open(name, false);
      for (const { part, text: unit } of this.texts) if (/^unit$/i.test(part)) sendValue(this.events, "unit", unit);
      this.events.text(text);
      this.events.close();
    }
  }

  private pass(event: () => void): void {
    if (this.held === undefined) event();
    else this.held.push(event);
  }

  /** Passes on an element that is no named value. */
  private release(): void {
    const { held = [] } = this;
    this.held = undefined;
    this.part = "";
    for (const event of held) event();
  }
}

export class XmlDocumentParser implements DocumentParser {
  private readonly parser = new SaxesParser();
  private readonly texts: string[] = [];
  /** Characters so far, and those before the last event. */
  private fed = 0;
  private eventAt = 0;

  constructor(
    private readonly file: FeedFile,
    private readonly limits: FeedLimits,
    private readonly events: DocumentEvents,
  ) {
    this.parser.on("opentag", ({ name, attributes }) => {
      this.eventAt = this.parser.position;
      if (this.texts.push("") > limits.nesting) throw limitError(file, "nesting", limits, events.rows + 1);
      events.open(localName(name), false);
      for (const [attribute, value] of Object.entries(attributes)) {
        if (attribute === "xmlns" || attribute.startsWith("xmlns:")) continue;
        events.open(localName(attribute), false);
        events.text(value);
        events.close();
      }
    });
    this.parser.on("closetag", () => {
      this.eventAt = this.parser.position;
      const text = this.texts.pop()?.trim() ?? "";
      if (text !== "") events.text(text);
      events.close();
    });
    const addText = (text: string): void => void this.texts.push((this.texts.pop() ?? "") + text);
    for (const event of ["text", "cdata"] as const)
      this.parser.on(event, (text) => this.texts.length > 0 && addText(text));
  }

  add(text: string): void {
    this.fed += text.length;
    this.parse(() => this.parser.write(text));
    if (this.fed - this.eventAt > this.limits.recordBytes)
      throw limitError(this.file, "recordBytes", this.limits, this.events.rows + 1);
  }

  end(): void {
    this.parse(() => this.parser.close());
  }

  private parse(step: () => unknown): void {
    try {
      step();
    } catch (thrown) {
      if (thrown instanceof UserError) throw thrown;
      throw fileError(this.file, `, row ${this.events.rows + 1}: invalid XML: ${printable(messageOf(thrown), 100)}`);
    }
  }
}

/** Returns a name without the prefix of its namespace. */
const localName = (name: string): string => name.slice(name.indexOf(":") + 1);

const token = /[ \t\r\n]*(?:([{}[\],:])|("[^"\\]*(?:\\[\s\S][^"\\]*)*")|([^ \t\r\n{}[\],:"]+))/y;

/**
 * What may follow in a JSON document: the object or list that is open, what was before in it, and the token. `n` is a name, `v` a whole value, `s` a text,
 * `w` a word or number.
 */
const sequences = new Set(
  "-{ -[ -s -w [[{ [[[ [[s [[w [[] [,{ [,[ [,s [,w [v, [v] {{s {{} {,s {n: {:{ {:[ {:s {:w {v, {v}".split(" "),
);

export class JsonDocumentParser implements DocumentParser {
  private pending = "";
  /** Lists and objects that are open, with their names. */
  private readonly around: { readonly mark: string; readonly name: string }[] = [];
  private before = "-";
  private name = "";

  constructor(
    private readonly file: FeedFile,
    private readonly limits: FeedLimits,
    private readonly events: DocumentEvents,
  ) {}

  add(text: string): void {
    this.pending += text;
    this.read(false);
    if (this.pending.length > this.limits.recordBytes)
      throw limitError(this.file, "recordBytes", this.limits, this.events.rows + 1);
  }

  end(): void {
    this.read(true);
    if (this.before !== "v" || this.around.length > 0 || this.pending.trim() !== "")
      throw fileError(
        this.file,
        `, row ${this.events.rows + 1}: the file ends within a value: expected a whole JSON document.`,
      );
  }

  private read(isEnd: boolean): void {
    let start = 0;
    for (;;) {
      token.lastIndex = start;
      const [whole, mark, quoted, word = ""] = token.exec(this.pending) ?? [];
      // A word at the end may go on in the next part.
      if (whole === undefined || (word !== "" && !isEnd && start + whole.length === this.pending.length)) break;
      start += whole.length;
      const kind = mark ?? (quoted === undefined ? "w" : "s");
      if (!sequences.has((this.around.at(-1)?.mark ?? "") + this.before + kind)) this.fail();
      if (mark === undefined) this.scalar(quoted === undefined ? textOfWord(word) : parsedJson(quoted));
      else this.mark(mark);
    }
    this.pending = this.pending.slice(start).trimStart();
  }

  private fail(): never {
    throw fileError(this.file, `, row ${this.events.rows + 1}: invalid JSON: expected a whole JSON document.`);
  }

  private mark(mark: string): void {
    this.before = mark;
    if (mark === "{" || mark === "[") {
      if (mark === "{") this.open();
      if (this.around.push({ mark, name: this.name }) > this.limits.nesting)
        throw limitError(this.file, "nesting", this.limits, this.events.rows + 1);
    } else if (mark === ",") this.name = this.around.at(-1)?.name ?? "";
    else if (mark !== ":") {
      this.around.pop();
      if (mark === "}") this.events.close();
      this.before = "v";
    }
  }

  private open(): void {
    this.events.open(this.name, this.around.at(-1)?.mark === "[");
  }

  /** Reads a name, or a value of a text, a number or a word. */
  private scalar(value: unknown): void {
    if (value === undefined) this.fail();
    const isName = this.around.at(-1)?.mark === "{" && this.before !== ":";
    this.before = isName ? "n" : "v";
    if (isName) this.name = String(value);
    else if (value !== null) {
      this.open();
      this.events.text(String(value));
      this.events.close();
    }
  }
}

/** Returns the text of a number or a word, null of `null`, undefined of what is none. Whole numbers keep all digits. */
function textOfWord(word: string): string | null | undefined {
  if (word === "null") return null;
  if (word === "true" || word === "false" || /^-?(?:0|[1-9]\d*)$/.test(word)) return word;
  return /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/.test(word) ? textOfNumber(Number(word)) : undefined;
}

/** Returns the text of a number, whose point is decimal: before three digits, as where points group thousands, it gets a fourth. */
const textOfNumber = (number: number): string =>
  String(number).replace(/^-?[1-9]\d{0,2}\.\d{3}$/, (digits) => `${digits}0`);

/** Sends a parsed JSON value. */
export function sendValue(events: DocumentEvents, name: string, value: unknown, isItem = false): void {
  if (value === null || value === undefined) return;
  if (Array.isArray(value)) for (const item of value) sendValue(events, name, item, true);
  else {
    events.open(name, isItem);
    if (typeof value === "object") for (const [key, part] of Object.entries(value)) sendValue(events, key, part);
    else events.text(typeof value === "number" ? textOfNumber(value) : String(value));
    events.close();
  }
}
