/**
 * Stock numbers in questions: words that a listing for sale has as its stock number, if nothing else explains them or "stock number" stands before
 * them. For a ZIP code, the stock number is an alternative.
 */
import { listItem } from "../../contract/lists.ts";
import type { Filter } from "../../listing/filter.ts";
import type { LakeVersion } from "../../serving/lake-version.ts";
import type { QuestionPart } from "./parse-question.ts";
import { isUnderstood, type Meaning, type Reading } from "./reading.ts";

/** Returns whether a text can be a stock number: one word of 3 to 64 characters with a digit. */
export const canBeStockNumber = (text: string): boolean => /^(?=\D*\d)\S{3,64}$/.test(text);

export const hasStockNumber = (value: string): Filter => ({
  kind: "equalsText",
  attribute: "stock_number",
  values: [value],
});

/** Returns the number of active listings that match a filter. */
export async function countActive(version: LakeVersion, filter: Filter): Promise<number> {
  const request = { filters: [filter], attributes: [], numbers: [], limit: 1, sort: "-count" } as const;
  return (await version.activeOn(version.manifest.as_of).countValues(request)).total;
}

/** The words before a stock number that say what it is. `in stock` says something else. */
const introduction = /(?<!\bin[\s-]+)\bstock(?:\s+(?:number|no\.?|#))?\s*[#:]?\s*$/i;

/** Returns the words of a question before a stock number, with those that say what it is. */
export const introduced = (words: string): string => (introduction.test(words) ? words : `${words}stock number `);

/** A question takes a statement for each of its words that can be a stock number, up to this many. */
const wordsMax = 4;

interface Word extends Pick<QuestionPart, "text" | "start" | "end"> {
  readonly isIntroduced: boolean;
  /** The parts that it was read as: more than one if it has punctuation. */
  readonly parts: readonly QuestionPart[];
}

/** Returns the parts of a question, with stock numbers instead of the parts that they were read as. */
export async function withStockNumbers(
  q: string,
  parts: readonly QuestionPart[],
  version: LakeVersion,
): Promise<readonly QuestionPart[]> {
  const words = wordsIn(q, parts).slice(0, wordsMax);
  const read = await Promise.all(
    words.map(async (word) => ({
      word,
      reading: readingOf(word, await countActive(version, hasStockNumber(word.text))),
    })),
  );
  return parts.flatMap((part) => {
    const found = read.find(({ word, reading }) => reading !== undefined && word.parts.includes(part));
    if (found === undefined) return [part];
    const { text, start, end, parts: all } = found.word;
    return part === all[0] ? [{ text, start, end, reading: found.reading }] : [];
  });
}

/** Returns the words that can be stock numbers besides what they were read as: unknown words, VINs and ZIP codes, and all after an introduction. */
function wordsIn(q: string, parts: readonly QuestionPart[]): readonly Word[] {
  return [...q.matchAll(/[^\s,]*[^\s,.?!;]/g)].flatMap(({ 0: text, index: start }) => {
    const end = start + text.length;
    const within = parts.filter((part) => part.start < end && part.end > start);
    const isWhole = within.length > 0 && within.every((part) => part.start >= start && part.end <= end);
    const isIntroduced = introduction.test(q.slice(0, start));
    const isOpen = isIntroduced || within.some(({ reading }) => reading !== undefined && isOtherwiseOpen(reading));
    return isWhole && isOpen && canBeStockNumber(text) ? [{ text, start, end, isIntroduced, parts: within }] : [];
  });
}

const isOtherwiseOpen = (reading: Reading): boolean =>
  isUnderstood(reading) ? ["vin", "postal_code"].includes(reading.attribute) : reading.reason === undefined;

/** Returns what a word stands for that a number of listings have as their stock number; undefined if it stays what it was read as. */
function readingOf({ text, isIntroduced, parts }: Word, listings: number): Reading | undefined {
  const { length } = parts;
  if (listings === 0)
    return isIntroduced ? { length, reason: "No listing for sale has this stock number." } : undefined;
  const meaning: Meaning = { attribute: "stock_number", value: text, filters: { stock_number: listItem(text) } };
  const [first] = parts.map(({ reading }) => reading);
  if (isIntroduced || length > 1 || !isUnderstood(first) || first.attribute !== "postal_code")
    return { length, ...meaning };
  return { ...first, alternatives: [meaning] };
}
