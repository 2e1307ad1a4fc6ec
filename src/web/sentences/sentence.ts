/** Sentences that judge: words of which some are marked, and numbers that link to their rows. */

/** A part of a sentence: words, words that are marked, or a number that links to its rows. */
export type Part = string | { readonly text: string; readonly mark?: "neutral" | "attention"; readonly href?: string };

export type Sentence = readonly Part[];

export interface Fact {
  readonly value: Sentence;
  readonly label: Sentence;
}

/** What a page says first. */
export interface Judgement {
  readonly sentence: Sentence;
  /** One line below the sentence. */
  readonly context?: Sentence;
  /** At most three. */
  readonly facts?: readonly Fact[];
}

/** Returns a sentence as text: for titles, tests, and alternatives of charts. */
export const textOf = (sentence: Sentence): string =>
  sentence.map((part) => (typeof part === "string" ? part : part.text)).join("");
