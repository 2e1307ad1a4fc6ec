/**
 * Vocabulary of a version: the values that its data has ever had, on any day and in any state. Values of builds, dealers and tokens are in
 * memory, and so are those of active listings if there is a search index. Other values of listings are read once, when a request has a
 * value that no active listing has.
 */
import { attributeOf, type CategoryName, type TokensName } from "../listing/schema.ts";
import { valueKeyOf } from "../listing/values.ts";
import type { DealerDirectory } from "./dealer-directory.ts";
import type { Dimensions } from "./dimensions.ts";

/** An attribute with an open vocabulary. */
export type OpenAttribute = CategoryName | TokensName;

export interface VocabularySources {
  readonly dimensions: Dimensions;
  readonly dealers: DealerDirectory;
  /** Returns whether an active listing has a value; false if it is not known without a statement. */
  readonly isActive: (attribute: CategoryName, value: string) => boolean;
  /** Reads the values of an attribute of listings, on every day and in every state. */
  readonly readValues: (attribute: CategoryName) => Promise<readonly string[]>;
}

/** Values that the data has never had. */
export interface UnknownValues {
  readonly values: readonly string[];
  /** The known values that these may be misspellings of. */
  readonly words: () => Iterable<string>;
}

const none: UnknownValues = { values: [], words: () => [] };

export class Vocabulary {
  /** Values that were read, by `valueKeyOf`. */
  private readonly read = new Map<CategoryName, Promise<ReadonlyMap<string, string>>>();

  constructor(private readonly sources: VocabularySources) {}

  /** Returns the values that the data has never had. None if this cannot be known, because a file cannot be read. */
  async unknownAmong(attribute: OpenAttribute, values: readonly string[]): Promise<UnknownValues> {
    const { dimensions, dealers, isActive } = this.sources;
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
    const inactive = values.filter((value) => !isActive(category, value));
    return inactive.length === 0 ? none : this.neverHad(category, inactive);
  }

  private async neverHad(attribute: CategoryName, values: readonly string[]): Promise<UnknownValues> {
    try {
      const known = await this.valuesOf(attribute);
      return {
        values: values.filter((value) => !known.has(valueKeyOf(attribute, value))),
        words: () => known.values(),
      };
    } catch {
      this.read.delete(attribute);
      return none;
    }
  }

  private valuesOf(attribute: CategoryName): Promise<ReadonlyMap<string, string>> {
    const known =
      this.read.get(attribute) ??
      this.sources
        .readValues(attribute)
        .then((values) => new Map(values.map((value) => [valueKeyOf(attribute, value), value])));
    this.read.set(attribute, known);
    return known;
  }
}
