/**
 * Records of JSON documents: the objects of one array, or those of NDJSON. Finds where each begins and ends, and parses it alone, so memory is
 * bounded by the largest record.
 */
import type { FeedFile } from "../feed/feed-file.ts";
import type { FeedLimits } from "../feed/feed-limits.ts";
import { fileError, limitError } from "../feed/file-errors.ts";
import { type FlatRecord, flattened } from "./flat-records.ts";

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
