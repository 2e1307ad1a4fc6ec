/** The search of the docs: which entries match the words of a question, best first. The service answers with it too, for browsers without scripts. */

export interface SearchEntry {
  readonly kind: "operation" | "parameter" | "error" | "guide";
  readonly title: string;
  readonly path: string;
  readonly text: string;
  /** Other words that it is found by. */
  readonly words: string;
}

/** Splits a text into words; `max_price` and `searchListings` are two words and one. */
const wordsOf = (text: string): readonly string[] =>
  text
    .toLowerCase()
    .split(/[^\p{L}\p{N}_]+/u)
    .filter((word) => word !== "");

/** Returns the entries that have all words of a question, in the order of how well they match. */
export function matches(entries: readonly SearchEntry[], question: string): readonly SearchEntry[] {
  const wanted = wordsOf(question);
  if (wanted.length === 0) return [];
  return entries
    .map((entry) => [entry, scoreOf(entry, wanted)] as const)
    .filter(([, score]) => score > 0)
    .toSorted(([, one], [, other]) => other - one)
    .map(([entry]) => entry);
}

/** Returns 0 if a word is missing. Titles count most, and words that begin with a wanted one more than those that contain it. */
function scoreOf({ title, text, words }: SearchEntry, wanted: readonly string[]): number {
  const named = title.toLowerCase();
  let score = 0;
  for (const word of wanted) {
    const found = Math.max(
      named === word ? 16 : 0,
      8 * nearness(named, word),
      3 * nearness(words.toLowerCase(), word),
      nearness(text.toLowerCase(), word),
    );
    if (found === 0) return 0;
    score += found;
  }
  return named === wanted.join(" ") ? score + 16 : score;
}

/** Returns 1 if a text has a word, 0.75 if one of its words begins with it, 0.5 if one contains it, else 0. */
function nearness(text: string, word: string): number {
  if (!text.includes(word)) return 0;
  const words = wordsOf(text);
  if (words.includes(word)) return 1;
  return words.some((one) => one.startsWith(word) || one.includes(`_${word}`)) ? 0.75 : 0.5;
}
