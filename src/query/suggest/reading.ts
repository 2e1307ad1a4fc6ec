/** What words of a question were read as. */

/** Parameters of listing search. */
export type FilterTexts = Readonly<Record<string, string>>;

/** What a word can stand for, schema `Meaning`. */
export interface Meaning {
  readonly attribute: string;
  readonly value: string;
  readonly filters: FilterTexts;
}

/** Words that were understood. */
export interface Understood extends Meaning {
  /** The number of tokens. */
  readonly length: number;
  /** Further meanings of the same words. */
  readonly alternatives?: readonly Meaning[];
  /** The misspelt words. */
  readonly correctedFrom?: string;
  readonly isExclusion?: boolean;
  /** Whether it narrows the years of other words; else years are alternatives. */
  readonly isRange?: boolean;
}

/** Words that are no filter, and why; without a reason they are unknown. */
export interface NotUnderstood {
  readonly length: number;
  readonly reason?: string;
}

export type Reading = Understood | NotUnderstood;

export const isUnderstood = (reading: Reading | undefined): reading is Understood =>
  reading !== undefined && "attribute" in reading;
