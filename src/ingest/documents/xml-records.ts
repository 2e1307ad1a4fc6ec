/**
 * Records of XML documents: the elements at a path, each as texts by the path of elements and attributes in it.
 *
 * The parser keeps no tree and expands no entities but the five of XML, so memory is bounded by the largest record.
 */
import { SaxesParser, type SaxesTagPlain } from "saxes";
import { messageOf, printable, UserError } from "../../base/user-error.ts";
import type { FeedFile } from "../feed/feed-file.ts";
import type { FeedLimits } from "../feed/feed-limits.ts";
import { fileError, limitError } from "../feed/file-errors.ts";
import type { FlatRecord } from "./flat-records.ts";

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
    [this.texts, this.counts] = [new Map(), new Map()];
  }
}

const joined = (path: string, name: string): string => (path === "" ? name : `${path}.${name}`);

/** Returns a name without the prefix of its namespace. */
const localName = (name: string): string => name.slice(name.indexOf(":") + 1);
