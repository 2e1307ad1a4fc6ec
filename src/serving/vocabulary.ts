/**
 * Vocabulary of a version: the values that its data has ever had, on any day and in any state. Values of builds, dealers and tokens are in memory.
 * Those of listings are in the dictionaries of the search indexes; a value that the index of today lacks needs all of them.
 */
import { Refusal } from "../contract/errors.ts";
import { attributeOf, type CategoryName, type TokensName } from "../listing/schema.ts";
import type { DealerDirectory } from "./dealer-directory.ts";
import type { Dimensions } from "./dimensions.ts";
import type { Dictionary } from "./index/dictionary.ts";

export type OpenAttribute = CategoryName | TokensName;

interface VocabularySources {
  readonly dimensions: Dimensions;
  readonly dealers: DealerDirectory;
  /** Returns whether a listing of the index of today has a value; false if it is not known. */
  readonly isIndexed: (attribute: CategoryName, value: string) => boolean;
  /** Returns the dictionaries of all listings, on every day and in every state: see `ListingSources.dictionaries`. */
  readonly dictionaries: () => Promise<readonly Dictionary[]>;
}

/** Values that the data has never had. */
export interface UnknownValues {
  readonly values: readonly string[];
  /** The known values that these may be misspellings of. */
  readonly words: () => Iterable<string>;
}

const none: UnknownValues = { values: [], words: () => [] };

export class Vocabulary {
  constructor(private readonly sources: VocabularySources) {}

  /** Returns the values that the data has never had. None if this cannot be known, because a file is damaged. */
  async unknownAmong(attribute: OpenAttribute, values: readonly string[]): Promise<UnknownValues> {
    const { dimensions, dealers, isIndexed } = this.sources;
    const { home, search, type } = attributeOf(attribute);
    if (search === "tokens") {
      const list = attribute as TokensName;
      const unknown = values.filter((value) => dimensions.tokenKeyOf(list, value) === undefined);
      return { values: unknown, words: () => dimensions.tokensOf(list) };
    }
    const category = attribute as CategoryName;
    // Identifiers have no words.
    if (home === "dealers") return { ...none, values: values.filter((value) => dealers.find(value) === undefined) };
    if (home === "builds") {
      const unknown = values.filter((value) => !dimensions.isKnown(category, value));
      return { values: unknown, words: () => (type === "VARCHAR" ? dimensions.valuesOf(category) : []) };
    }
    const others = values.filter((value) => !isIndexed(category, value));
    return others.length === 0 ? none : this.neverHad(category, others);
  }

  private async neverHad(attribute: CategoryName, values: readonly string[]): Promise<UnknownValues> {
    try {
      const dictionaries = await this.sources.dictionaries();
      return {
        values: values.filter((value) =>
          dictionaries.every((dictionary) => dictionary.idsOf(attribute, value).length === 0),
        ),
        words: () => new Set(dictionaries.flatMap((dictionary) => dictionary.valuesOf(attribute))),
      };
    } catch (thrown) {
      if (thrown instanceof Refusal) return none;
      throw thrown;
    }
  }
}
