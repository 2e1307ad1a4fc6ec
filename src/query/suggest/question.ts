/** The text of a question as tokens: words, numbers and signs, and the phrases of `data/reference/phrases.csv` among them. */
import { matchKeyOf } from "../../db/text-matching.ts";
import { referenceWords } from "./reference-words.ts";

export interface Token {
  readonly text: string;
  /** Offsets in the question, in UTF-16 code units. */
  readonly start: number;
  readonly end: number;
  readonly key: string;
}

/** A phrase at a token: the number of its tokens, and its value in the table. */
interface Phrase {
  readonly length: number;
  readonly value: string;
}

/** No phrase has more tokens. */
const phraseTokensMax = 4;

/** Words that lead from one value to another. */
export const connectors: ReadonlySet<string> = new Set(["or", "nor", "and"]);

/** ZIP+4 codes, numbers with separators of thousands, other numbers with what follows them, words, and single characters that are neither white space nor punctuation. */
const tokenPattern =
  /\d{5}-\d{4}(?![\p{L}\p{N}])|\$?\d{1,3}(?:,\d{3})+(?:k(?!\p{L}))?(?!\p{N})|\$?\d+(?:\.\d+)?[\p{L}\p{M}\p{N}]*|[\p{L}\p{M}\p{N}]+(?:['’][\p{L}\p{M}\p{N}]+)*|[<>]=?|[^\s\p{P}]/gu;

/** A number with its unit, such as 4dr and 300hp, is two tokens. */
const withUnit = /^(\$?\d+(?:\.\d+)?)(\p{L}+)$/u;
const unitKinds = ["unit", "count", "unknown"];

let phrases: ReadonlyMap<string, string> | undefined;

export class QuestionText {
  readonly tokens: readonly Token[];
  /** Whether the case of letters says nothing. */
  readonly isUpperCase: boolean;

  constructor(private readonly text: string) {
    phrases ??= new Map(referenceWords("phrases").map(({ kind, key, value }) => [`${kind} ${key}`, value]));
    this.tokens = [...text.matchAll(tokenPattern)].flatMap(({ 0: token, index }) => {
      const [, number = "", unit = ""] = withUnit.exec(token) ?? [];
      const parts = unitKinds.some((kind) => phrases?.has(`${kind} ${matchKeyOf(unit)}`)) ? [number, unit] : [token];
      return parts.map((part, at) => {
        const start = index + (at === 0 ? 0 : number.length);
        return { text: part, start, end: start + part.length, key: matchKeyOf(part) };
      });
    });
    this.isUpperCase = text === text.toUpperCase();
  }

  /** Returns the keys of tokens, joined by a separator. */
  keyOf(at: number, length: number, separator = ""): string {
    return this.tokens
      .slice(at, at + length)
      .map(({ key }) => key)
      .join(separator);
  }

  /** Returns the longest phrase of a kind that begins at a token. */
  phraseAt(at: number, kind: string): Phrase | undefined {
    for (let length = Math.min(phraseTokensMax, this.tokens.length - at); length > 0; length -= 1) {
      const value = phrases?.get(`${kind} ${this.keyOf(at, length)}`);
      if (value !== undefined) return { length, value };
    }
    return undefined;
  }

  /** Returns whether only a dash is between a token and the one before it. */
  isAfterDash(at: number): boolean {
    return /^\s*[-–—]\s*$/.test(this.text.slice(this.tokens[at - 1]?.end, this.tokens[at]?.start));
  }

  /** Returns the text from a token to the one before `end`, with its offsets. */
  partOf(at: number, end: number): { readonly text: string; readonly start: number; readonly end: number } {
    const start = this.tokens[at]?.start ?? 0;
    const stop = this.tokens[end - 1]?.end ?? 0;
    return { text: this.text.slice(start, stop), start, end: stop };
  }
}
