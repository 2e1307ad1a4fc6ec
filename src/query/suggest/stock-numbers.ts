/**
 * Stock numbers in questions: words that a listing for sale has as its stock number, if nothing else explains them or "stock number" stands before
 * them. Of a ZIP code, the stock number is an alternative.
 */
import type { Filter } from "../../listing/filter.ts";
import type { LakeVersion } from "../../serving/lake-version.ts";
import type { QuestionPart } from "./parse-question.ts";
import { isUnderstood, type Meaning, type Reading } from "./reading.ts";

/** Returns whether a text can be a stock number: one word of 3 to 64 characters with a digit. In a parameter, a comma separates values. */
export const canBeStockNumber = (text: string): boolean => /^(?=\D*\d)[^\s,]{3,64}$/.test(text);

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

/** What the words before a stock number say. */
const introduction = /\bstock(?:\s+(?:number|no\.?|#))?\s*[#:]?\s*$/i;

/** Returns a question up to a stock number, with words that say what the number is. */
export const introduced = (head: string): string => (introduction.test(head) ? head : `${head}stock number `);

/** A question costs a statement for each of its words that can be a stock number, up to this many. */
const wordsMax = 4;

/** Returns the parts of a question, with stock numbers in place of the words that they are. */
export async function withStockNumbers(
  q: string,
  parts: readonly QuestionPart[],
  version: LakeVersion,
): Promise<readonly QuestionPart[]> {
  const words = [...q.matchAll(/[^\s,]+/g)]
    .map(({ 0: text, index: start }) => ({ text, start, end: start + text.length }))
    .map((word) => ({ ...word, parts: parts.filter(({ start, end }) => start < word.end && end > word.start) }))
    .filter((word) => canBeStockNumber(word.text) && isOpen(q, word))
    .slice(0, wordsMax);
  const counts = await Promise.all(
    words.map(({ text }) => countActive(version, hasStockNumber(text))),
  );
  const found = new Map(words.filter((_, index) => counts[index] !== 0).map((word) => [word.parts[0], word]));
  const replaced = new Set([...found.values()].flatMap((word) => word.parts));
  return parts.flatMap((part) => {
    const word = found.get(part);
    if (word === undefined) return replaced.has(part) ? [] : [part];
    return [{ text: word.text, start: word.start, end: word.end, reading: readingOf(q, word) }];
  });
}

interface Word extends Pick<QuestionPart, "text" | "start" | "end"> {
  readonly parts: readonly QuestionPart[];
}

/** Returns whether a word can have another meaning than its parts: these lie within it, and are unknown, part of a VIN or a ZIP code. */
function isOpen(q: string, { start, end, parts }: Word): boolean {
  if (parts.length === 0 || parts.some((part) => part.start < start || part.end > end)) return false;
  return introduction.test(q.slice(0, start)) || parts.some(({ reading }) => isUnknown(reading) || isCode(reading));
}

const isUnknown = (reading: Reading | undefined): boolean =>
  reading !== undefined && !isUnderstood(reading) && reading.reason === undefined;

const isCode = (reading: Reading | undefined): boolean =>
  isUnderstood(reading) && (reading.attribute === "vin" || reading.attribute === "postal_code");

function readingOf(q: string, { text, start, parts }: Word): Reading {
  const meaning: Meaning = { attribute: "stock_number", value: text, filters: { stock_number: text } };
  const [{ reading } = { reading: undefined }] = parts;
  const isZip = isUnderstood(reading) && reading.attribute === "postal_code";
  if (isZip && parts.length === 1 && !introduction.test(q.slice(0, start)))
    return { ...reading, alternatives: [meaning, ...(reading.alternatives ?? [])] };
  return { ...meaning, length: parts.length };
}
