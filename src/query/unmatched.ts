/** `meta.unmatched`: the values of a request's open vocabularies that the data has never had. They match nothing, and exclude nothing. */
import { vocabulary as closedVocabulary } from "../contract/document.ts";
import { Refusal } from "../contract/errors.ts";
import { meantWord } from "../contract/synonyms.ts";
import type { AnswerOf, Filters } from "../contract/types.ts";
import { matchKeyOf } from "../db/text-matching.ts";
import { attributeOf, type CategoryName, categoryNames, type TokensName, tokensNames } from "../listing/schema.ts";
import type { LakeVersion } from "../serving/lake-version.ts";
import type { DealerQuery } from "./dealers.ts";
import { filters } from "./filters.ts";
import { divideLocations } from "./locations.ts";

/** The most values of `meta.unmatched` that have a suggestion. */
const suggestionsMax = 10;

/** Schema `UnmatchedValue`. */
type UnmatchedValue = NonNullable<AnswerOf<"searchListings">["meta"]["unmatched"]>[number];

/** The unmatched values of a response's `meta`; without the key if everything matched. */
export interface UnmatchedMeta {
  readonly unmatched?: readonly UnmatchedValue[];
}

/** Values that the data has never had. */
interface UnknownValues {
  readonly values: readonly string[];
  /** The known values that these may be misspellings of. */
  readonly words: () => Iterable<string>;
}

interface UnknownOf extends UnknownValues {
  readonly parameter: string;
}

type Parameter = keyof Filters;

const isParameter = (name: string): name is Parameter => name in filters;

const openParameters = [...categoryNames, ...tokensNames].flatMap((attribute) =>
  [attribute, `exclude_${attribute}`]
    .filter(isParameter)
    .filter(
      (parameter) => parameter !== "exclude_assembly_location" && closedVocabulary("getFacets", parameter).length === 0,
    )
    .map((parameter): readonly [Parameter, CategoryName | TokensName] => [parameter, attribute]),
);

/** Returns the values of a listing query that no listing has ever had. */
export async function unmatchedIn(query: Filters, version: LakeVersion): Promise<UnmatchedMeta> {
  const { dimensions } = version;
  const unknown: UnknownOf[] = [];
  for (const [parameter, attribute] of openParameters) {
    const requested = query[parameter];
    if (!Array.isArray(requested)) continue;
    unknown.push({ parameter, ...(await unknownAmong(attribute, requested.map(String), version)) });
  }
  const { exclude_assembly_location: locations } = query;
  if (locations !== undefined) {
    const { unknown: values } = divideLocations(locations, dimensions);
    const words = () => dimensions.valuesOf("assembly_location");
    unknown.push({ parameter: "exclude_assembly_location", values, words });
  }
  return metaOf(unknown);
}

/** Returns the values of a dealer query that no dealer has. */
export function unmatchedDealerValues(
  { dealer_id, country, make }: DealerQuery,
  { dealers }: LakeVersion,
): UnmatchedMeta {
  const { makes, countries } = dealers;
  return metaOf([
    {
      parameter: "dealer_id",
      values: dealer_id?.filter((id) => dealers.find(id) === undefined) ?? [],
      words: () => [],
    },
    {
      parameter: "country",
      words: () => countries.values(),
      values: country?.filter((name) => !countries.has(name.toLowerCase())) ?? [],
    },
    {
      parameter: "make",
      values: make?.filter((name) => !makes.has(matchKeyOf(name))) ?? [],
      words: () => makes.values(),
    },
  ]);
}

/** Suggestions take time in proportion to the vocabulary, so that only the first values have one. */
function metaOf(unknown: readonly UnknownOf[]): UnmatchedMeta {
  const unmatched: UnmatchedValue[] = [];
  for (const { parameter, values, words } of unknown)
    for (const value of values) {
      const meant = unmatched.length < suggestionsMax ? meantWord(parameter, value, words()) : undefined;
      unmatched.push({ parameter, value, ...(meant === undefined ? {} : { did_you_mean: meant.word }) });
    }
  return unmatched.length === 0 ? {} : { unmatched };
}

const none: UnknownValues = { values: [], words: () => [] };

/**
 * Returns the values that no listing has ever had, on any day and in any state. Those of listings are in the dictionaries of the search indexes: a value
 * that the index of today lacks needs all of them. None if this cannot be known, because a file is damaged.
 */
async function unknownAmong(
  attribute: CategoryName | TokensName,
  values: readonly string[],
  version: LakeVersion,
): Promise<UnknownValues> {
  const { dimensions, dealers } = version;
  const { home, search, type } = attributeOf(attribute);
  // Identifiers have no words.
  if (home === "dealers") return { ...none, values: values.filter((value) => dealers.find(value) === undefined) };
  if (home === "builds" || search === "tokens") {
    const unknown = values.filter((value) => dimensions.spellingOf(attribute, value) === undefined);
    return { values: unknown, words: () => (type === "VARCHAR" ? dimensions.valuesOf(attribute) : []) };
  }
  const others = values.filter((value) => !version.isIndexed(attribute, value));
  if (others.length === 0) return none;
  try {
    const dictionaries = await version.dictionaries();
    return {
      values: others.filter((value) => dictionaries.every((one) => one.idsOf(attribute, value).length === 0)),
      words: () => new Set(dictionaries.flatMap((one) => one.valuesOf(attribute))),
    };
  } catch (thrown) {
    if (thrown instanceof Refusal) return none;
    throw thrown;
  }
}
