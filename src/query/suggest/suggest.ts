/**
 * Suggestions for operation `suggestFilters`: what a text begins to name, each with the filters that it becomes and the number of active listings that
 * they match. A name matches as a whole, by its beginning, or word by word; if none does, the name that differs in the fewest letters.
 */
import { nearestWord } from "../../base/nearest-word.ts";
import { listItem } from "../../contract/lists.ts";
import type { QueryOf } from "../../contract/types.ts";
import { areBeginnings, matchKeyOf, wordsOf } from "../../db/text-matching.ts";
import type { Filter } from "../../listing/filter.ts";
import type { LakeVersion } from "../../serving/lake-version.ts";
import { placeRadius } from "./merge-filters.ts";
import { findable, type Name, namesOfVersion, type Suggestion } from "./names.ts";
import { placesBeginning } from "./places.ts";
import type { FilterTexts } from "./reading.ts";
import { canBeStockNumber, countActive, hasStockNumber } from "./stock-numbers.ts";

type SuggestQuery = QueryOf<"suggestFilters">;

/** How many places are suggested: the listings around each can take a statement. */
const placesMax = 3;

/** The beginning of a VIN, with a digit in it, is suggested from this many characters on. */
const vinCharactersMin = 5;
const beginningOfVin = /^(?=.*\d)[a-hj-npr-z0-9]{1,17}$/i;

/** Returns what a text lacks that may be the beginning of a VIN: a digit beside letters; nothing for all others. */
export function vinHint(q: string): { readonly hint?: string } {
  const text = q.trim();
  const isShort = beginningOfVin.test(text) && /[a-z]/i.test(text) && text.length < vinCharactersMin;
  return isShort ? { hint: `VINs are suggested from ${vinCharactersMin} characters on.` } : {};
}

/** A shorter text is not taken for a misspelling. */
const misspelledMin = 4;

/** Returns the suggestions for a text: the closest first, of equally close ones the most frequent. */
export async function suggest({ q, limit }: SuggestQuery, version: LakeVersion): Promise<readonly Suggestion[]> {
  const [{ names }, counted] = await Promise.all([namesOfVersion(version), countedNames(q, version)]);
  return suggestAmong(q, limit, names, counted);
}

/** Returns the suggestions for a text among names, and among `others`, which are not misspelt. */
export function suggestAmong(
  q: string,
  limit: number,
  names: readonly Name[],
  others: readonly Name[] = [],
): readonly Suggestion[] {
  const found = matchesOf(q, [...names, ...others].filter(hasListings));
  const matches = found.length > 0 || q.length < misspelledMin ? found : misspelled(q, names.filter(hasListings));
  return matches.slice(0, limit);
}

const hasListings = ({ suggestion }: Name): boolean => suggestion.count > 0;

/** Returns the places, the part of a VIN and the stock number that a text names, with their listings. */
function countedNames(q: string, version: LakeVersion): Promise<readonly Name[]> {
  const named = async (name: Omit<Suggestion, "count">, filter: Filter): Promise<Name> =>
    findable({ ...name, count: await countActive(version, filter) });
  const places = placesBeginning(q, placesMax).map(({ zip, ...place }) => {
    const filters = { postal_code: zip.code, radius: String(placeRadius) };
    return named({ ...place, filters }, { kind: "withinRadius", origin: zip, radiusMiles: placeRadius });
  });
  const value = q.trim().toUpperCase();
  const mask = `${value}*`;
  const codes: readonly (readonly [canBe: boolean, attribute: string, parameters: FilterTexts, filter: Filter])[] = [
    [
      value.length >= vinCharactersMin && beginningOfVin.test(value),
      "vin",
      { vin_pattern: mask },
      { kind: "matchesMask", masks: [mask] },
    ],
    [canBeStockNumber(value), "stock_number", { stock_number: listItem(value) }, hasStockNumber(value)],
  ];
  return Promise.all([
    ...places,
    ...codes
      .filter(([canBe]) => canBe)
      .map(([_, attribute, filters, filter]) => named({ text: value, attribute, value, filters }, filter)),
  ]);
}

function matchesOf(q: string, names: readonly Name[]): readonly Suggestion[] {
  const key = matchKeyOf(q);
  const words = wordsOf(q);
  const closeness = ({ keys, words: known }: Name): number | undefined => {
    if (keys.includes(key)) return 0;
    if (keys.some((one) => one.startsWith(key))) return 1;
    return areBeginnings(words, known) ? 2 : undefined;
  };
  return names
    .flatMap((name) => {
      const distance = closeness(name);
      return distance === undefined ? [] : [{ distance, ...name.suggestion }];
    })
    .sort((one, other) => one.distance - other.distance || other.count - one.count || (one.text < other.text ? -1 : 1))
    .map(({ distance: _, ...suggestion }) => suggestion);
}

/** Returns what the name nearest to a text stands for. */
function misspelled(q: string, names: readonly Name[]): readonly Suggestion[] {
  const suggestions = names.map(({ suggestion }) => suggestion).filter(({ attribute }) => attribute !== "dealer_id");
  const nearest = nearestWord(q.trim(), new Set(suggestions.flatMap(({ text, value }) => [text, value])));
  return suggestions
    .filter(({ text, value }) => text === nearest || value === nearest)
    .sort((one, other) => other.count - one.count);
}
