/** Matches words to values of attributes: the longest value that begins at a word wins, years and state codes are recognized. */
import { vocabulary } from "../../../contract/document.ts";
import type { TextParameters } from "../../../operations/operation-request.ts";

/** A value that words can stand for, and the parameter that filters by it. */
export interface NamedValue {
  readonly name: string;
  readonly value: string;
}

export interface MatchedWords {
  readonly parameters: TextParameters;
  readonly unmatched: readonly string[];
}

const states: ReadonlySet<string> = new Set(vocabulary("getFacets", "state"));
/** No value has more words. */
const wordsMax = 5;

/** Returns the parameters that words stand for, and the words that stand for none. Values of one attribute are alternatives. */
export function matchWords(text: string, values: readonly NamedValue[]): MatchedWords {
  const known = new Map([...values].reverse().map((named) => [normal(named.value), named]));
  const words = text.split(/[\s,]+/).filter((word) => word !== "");
  const chosen = new Map<string, Set<string>>();
  const unmatched: string[] = [];
  for (let at = 0; at < words.length; ) {
    const found = longestAt(words, at, known) ?? wordAlone(words[at] ?? "");
    if (found === undefined) unmatched.push(words[at] ?? "");
    else chosen.set(found.name, (chosen.get(found.name) ?? new Set()).add(found.value));
    at += found?.words ?? 1;
  }
  const years = [...(chosen.get("year") ?? [])].sort();
  chosen.delete("year");
  const lists = [...chosen].map(([name, items]): readonly [string, string] => [name, [...items].join()]);
  return { parameters: { ...Object.fromEntries(lists), ...yearBounds(years) }, unmatched };
}

/** Returns one year, or the first and the last of several ones, as bounds. */
function yearBounds(years: readonly string[]): TextParameters {
  const [first, last] = [years[0], years.at(-1)];
  return first === undefined || last === undefined ? {} : { min_year: first, max_year: last };
}

interface Match extends NamedValue {
  readonly words: number;
}

function longestAt(words: readonly string[], at: number, known: ReadonlyMap<string, NamedValue>): Match | undefined {
  for (let length = Math.min(wordsMax, words.length - at); length > 0; length -= 1) {
    const named = known.get(normal(words.slice(at, at + length).join(" ")));
    if (named !== undefined && !named.value.includes(",")) return { ...named, words: length };
  }
  return undefined;
}

/** A model year, or the upper-case code of a state: `in` and `or` are words. */
function wordAlone(word: string): Match | undefined {
  if (/^(19|20)\d\d$/.test(word)) return { name: "year", value: word, words: 1 };
  return states.has(word) ? { name: "state", value: word, words: 1 } : undefined;
}

/** Returns the letters and digits of a text in lower case, so that `f150` is F-150 and `cr v` is CR-V. */
const normal = (text: string): string => text.toLowerCase().replaceAll(/[^\p{L}\p{N}]+/gu, "");
