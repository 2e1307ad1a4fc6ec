/** The grammar of sentences: clauses that drop out with an unknown number, number words, plurals, articles and rounded amounts. */
import { count, dollars } from "../shell/format.ts";
import type { Fact, Judgement, Part, Sentence } from "./sentence.ts";

/** A number that can be unknown. */
export type MaybeNumber = number | null | undefined;

/** The pages with the rows of numbers, by the name of the number. */
export type Hrefs<Name extends string> = Readonly<Partial<Record<Name, string | undefined>>>;

/** Formats a number; undefined if it is unknown, so that its clause drops out. */
export const known = <Known>(value: MaybeNumber, format: (value: number) => Known): Known | undefined =>
  value === null || value === undefined || !Number.isFinite(value) ? undefined : format(value);

/** Returns whether a number is known and above zero. */
export const some = (value: MaybeNumber): value is number => typeof value === "number" && value > 0;

export const digits = (value: MaybeNumber): string | undefined => known(value, (number) => count(number));

/** Returns what a median says that mixes used and new cars. */
export const mixed = ({ used, new: fresh }: Readonly<Partial<Record<"used" | "new", MaybeNumber>>>): string =>
  some(used) && some(fresh) ? ", used and new together" : "";

/** Formats a price without cents. */
export const wholePrice = (value: MaybeNumber): string | undefined =>
  known(value, (number) => dollars(Math.round(number)));

/** Returns words that are marked, link to rows, or both; undefined if the words are unknown. */
export function part(text: string | undefined, mark?: "neutral" | "attention", href?: string): Part | undefined {
  if (text === undefined || text === "") return undefined;
  if (mark === undefined && href === undefined) return text;
  return { text, ...(mark === undefined ? {} : { mark }), ...(href === undefined ? {} : { href }) };
}

export const neutral = (text: string | undefined, href?: string): Part | undefined => part(text, "neutral", href);
export const attention = (text: string | undefined, href?: string): Part | undefined => part(text, "attention", href);
export const linked = (text: string | undefined, href?: string): Part | undefined => part(text, undefined, href);

type Hole = Part | Sentence | null | undefined;

const isSentence = (hole: Part | Sentence): hole is Sentence => Array.isArray(hole);

const isUnknown = (hole: Hole): hole is null | undefined =>
  hole === undefined || hole === null || (isSentence(hole) && hole.length === 0);

/** Joins parts; adjacent words become one part. */
function merge(parts: readonly Part[]): Sentence {
  const merged: Part[] = [];
  for (const one of parts) {
    const last = merged.at(-1);
    if (typeof one === "string" && typeof last === "string") merged[merged.length - 1] = last + one;
    else if (one !== "") merged.push(one);
  }
  return merged;
}

/** Tag of a template: a clause with its parts filled in; undefined if one of them is unknown. */
export function clause(words: TemplateStringsArray, ...holes: readonly Hole[]): Sentence | undefined {
  const parts: Part[] = [words[0] ?? ""];
  for (const [index, hole] of holes.entries()) {
    if (isUnknown(hole)) return undefined;
    if (isSentence(hole)) parts.push(...hole);
    else parts.push(hole);
    parts.push(words[index + 1] ?? "");
  }
  return merge(parts);
}

/** Joins the known ones of clauses. */
export function joined(clauses: readonly Hole[], separator = " "): Sentence {
  const shown = clauses.flatMap((one) => (isUnknown(one) || one === "" ? [] : [isSentence(one) ? one : [one]]));
  return merge(shown.flatMap((one, index) => (index === 0 ? one : [separator, ...one])));
}

/** Returns clauses as one sentence with a capital and a period; undefined if none is known. */
export function sentenceOf(...clauses: readonly Hole[]): Sentence | undefined {
  const whole = joined(clauses, ", ");
  return whole.length === 0 ? undefined : merge([...capitalized(whole), "."]);
}

export const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);
export const lower = (text: string): string => text.charAt(0).toLowerCase() + text.slice(1);

/** Returns a sentence that begins with a capital. */
const capitalized = ([first, ...rest]: Sentence): Sentence =>
  first === undefined
    ? []
    : [typeof first === "string" ? capital(first) : { ...first, text: capital(first.text) }, ...rest];

/** Returns a fact; none if its value is unknown. */
export const fact = (value: Hole, label: Hole): readonly Fact[] => {
  const shown = { value: joined([value]), label: joined([label]) };
  return shown.value.length === 0 ? [] : [shown];
};

/** Returns a judgement without what is empty, with at most three facts. */
export const judgement = (sentence: Sentence, context: Sentence, facts: readonly Fact[] = []): Judgement => ({
  sentence,
  ...(context.length === 0 ? {} : { context }),
  ...(facts.length === 0 ? {} : { facts: facts.slice(0, 3) }),
});

const numberWords = ["no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"];

/** Returns a number in words up to ten, in digits above. */
export const inWords = (value: MaybeNumber): string | undefined =>
  known(value, (number) => numberWords[number] ?? count(number));

const rankWords = "second third fourth fifth sixth seventh eighth ninth tenth".split(" ");
const endings: Readonly<Record<string, string>> = { one: "st", two: "nd", few: "rd", other: "th" };
const ordinals = new Intl.PluralRules("en-US", { type: "ordinal" });

/** Returns a rank before a superlative, with a space: nothing for 1, `second `, `11th `. */
export const rankBefore = (rank: number): string =>
  rank === 1 ? "" : `${rankWords[rank - 2] ?? `${count(rank)}${endings[ordinals.select(rank)] ?? "th"}`} `;

/** Returns what agrees with a number: a verb or a noun in the singular or plural. */
export const agreeing = (value: number, one: string, many: string): string => (value === 1 ? one : many);

/** Returns the plural of a noun or a model: `SUVs`, `CR-Vs`; `Prius cars` after a sibilant. */
export const pluralOf = (name: string): string => (/(s|x|z|ch|sh)$/i.test(name) ? `${name} cars` : `${name}s`);

/** Returns an amount of things in digits: `1 car`, `2 cars`. */
export const things = (value: MaybeNumber, noun: string): string | undefined =>
  known(value, (number) => `${count(number)} ${agreeing(number, noun, pluralOf(noun))}`);

/** Returns an amount of things in words up to ten: `one car`, `seven cars`, `11 cars`. */
export const thingsInWords = (value: MaybeNumber, noun: string): string | undefined =>
  known(value, (number) => `${inWords(number)} ${number <= 1 ? noun : pluralOf(noun)}`);

/** Returns a count of whole days; undefined if unknown. */
export const daysText = (value: MaybeNumber): string | undefined =>
  known(value, (number) => things(Math.round(number), "day") ?? "");

/** Returns a name with its article. Capitals without a vowel are spelled: `an MDX`, `an HR-V`, but `a RAV4`. */
export function withArticle(name: string): string {
  const [spelled = ""] = /^[A-Z]+(?![a-z])/.exec(name) ?? [];
  const isSpelled = spelled === "SUV" || (spelled !== "" && !/[AEIOU]/.test(spelled));
  const isVowel = isSpelled ? /^[FHLMNRSX]/.test(name) : /^([AEIO]|U(?!ni|se|X)|8|11|18)/i.test(name);
  return `${isVowel ? "an" : "a"} ${name}`;
}

const conjunction = new Intl.ListFormat("en-GB", { type: "conjunction" });
const disjunction = new Intl.ListFormat("en-GB", { type: "disjunction" });

/** Joins words: `a, b and c`. */
export const andList = (words: readonly string[]): string => conjunction.format(words);

/** Joins words: `a, b or c`. */
export const orList = (words: readonly string[]): string => disjunction.format(words);

/** Rounds to two significant digits, for what is said to be about an amount. */
export const aboutNumber = (value: number): number => Number(value.toPrecision(2));

/** Rounds down to two significant digits, for what is promised. */
export function atLeastAbout(value: number): number {
  const unit = 10 ** Math.max(0, Math.floor(Math.log10(Math.max(1, value))) - 1);
  return Math.floor(value / unit) * unit;
}

/** Cuts words of a client that are too long to repeat. */
export const shortened = (text: string, max = 40): string => (text.length > max ? `${text.slice(0, max)}…` : text);
