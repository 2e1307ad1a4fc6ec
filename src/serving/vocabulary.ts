/** The vocabulary of a version: the values that its data has ever had, on any day and in any state. */
import { Refusal } from "../contract/errors.ts";
import { attributeOf, type CategoryName, type TokensName } from "../listing/schema.ts";
import type { LakeVersion } from "./lake-version.ts";

export type OpenAttribute = CategoryName | TokensName;

/** Values that the data has never had. */
export interface UnknownValues {
  readonly values: readonly string[];
  /** The known values that these may be misspellings of. */
  readonly words: () => Iterable<string>;
}

const none: UnknownValues = { values: [], words: () => [] };

/**
 * Returns the values that no listing has ever had, on any day and in any state. Those of listings are in the dictionaries of the search indexes: a value
 * that the index of today lacks needs all of them. None if this cannot be known, because a file is damaged.
 */
export async function unknownAmong(
  attribute: OpenAttribute,
  values: readonly string[],
  version: LakeVersion,
): Promise<UnknownValues> {
  const { dimensions, dealers } = version;
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
    const unknown = values.filter((value) => dimensions.spellingOf(category, value) === undefined);
    return { values: unknown, words: () => (type === "VARCHAR" ? dimensions.valuesOf(category) : []) };
  }
  const others = values.filter((value) => !version.isIndexed(category, value));
  if (others.length === 0) return none;
  try {
    const dictionaries = await version.dictionaries();
    return {
      values: others.filter((value) => dictionaries.every((one) => one.idsOf(category, value).length === 0)),
      words: () => new Set(dictionaries.flatMap((one) => one.valuesOf(category))),
    };
  } catch (thrown) {
    if (thrown instanceof Refusal) return none;
    throw thrown;
  }
}
