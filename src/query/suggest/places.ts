/** Places that a text begins to name: ZIP codes, and cities by their most populous ZIP code. */
import { matchKeyOf, wordsOf } from "../../db/text-matching.ts";
import { type ZipCode, zipCodes } from "../zip-codes.ts";

export interface SuggestedPlace {
  readonly text: string;
  readonly attribute: "city" | "postal_code";
  readonly value: string;
  readonly zip: ZipCode;
}

interface City {
  readonly zip: ZipCode;
  readonly key: string;
  readonly words: readonly string[];
  population: number;
}

let cities: readonly City[] | undefined;

/** Returns the cities and ZIP codes that a text begins to name, the most populous first, at most `max`. */
export function placesBeginning(text: string, max: number): readonly SuggestedPlace[] {
  const digits = text.trim();
  if (/^\d{3,5}$/.test(digits)) {
    const left = 5 - digits.length;
    const ends = Array.from({ length: 10 ** left }, (_, n) => (left === 0 ? "" : String(n).padStart(left, "0")));
    const found = ends.flatMap((end) => zipCodes().get(digits + end) ?? []);
    return mostPopulous(found, max).map((zip) => {
      return { text: `${zip.code} ${zip.city}, ${zip.state}`, attribute: "postal_code", value: zip.code, zip };
    });
  }
  const words = wordsOf(text);
  const [first = ""] = words;
  if (first.length < 3) return [];
  cities ??= readCities();
  const found = cities.filter(
    ({ key, words: known }) =>
      key.startsWith(first) && words.every((word) => known.some((part) => part.startsWith(word))),
  );
  return mostPopulous(found, max).map(({ zip }) => {
    const { city, state } = zip;
    return { text: `${city}, ${state}`, attribute: "city", value: city, zip };
  });
}

function readCities(): readonly City[] {
  const byName = new Map<string, City>();
  for (const zip of zipCodes().values()) {
    const name = `${zip.city}, ${zip.state}`;
    const known = byName.get(name);
    const largest = known !== undefined && known.zip.population >= zip.population ? known.zip : zip;
    const population = (known?.population ?? 0) + zip.population;
    byName.set(name, { zip: largest, population, key: matchKeyOf(name), words: wordsOf(name) });
  }
  return [...byName.values()];
}

const mostPopulous = <T extends { readonly population: number }>(places: readonly T[], max: number): readonly T[] =>
  places.toSorted((one, other) => other.population - one.population).slice(0, max);
