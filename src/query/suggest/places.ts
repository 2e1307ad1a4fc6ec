/** Places that a text names, or begins to name: ZIP codes, and cities by their most populous ZIP code. */
import { areBeginnings, matchKeyOf, wordsOf } from "../../db/text-matching.ts";
import { type ZipCode, zipCodes } from "../geography.ts";

interface SuggestedPlace {
  readonly text: string;
  readonly attribute: "city" | "postal_code";
  readonly value: string;
  readonly zip: ZipCode;
}

export interface City {
  readonly name: string;
  readonly key: string;
  readonly zip: ZipCode;
  readonly population: number;
}

let cities: readonly City[] | undefined;

/** Returns the cities and ZIP codes that a text begins to name, the most populous first, at most `max`. */
export function placesBeginning(text: string, max: number): readonly SuggestedPlace[] {
  const digits = text.trim().replace(/(?<=^\d{5})-\d{0,4}$/, "");
  if (/^\d{3,5}$/.test(digits)) {
    const lowest = Number(digits.padEnd(5, "0"));
    const greatest = Number(digits.padEnd(5, "9"));
    const codes = Array.from({ length: greatest - lowest + 1 }, (_, n) => String(lowest + n).padStart(5, "0"));
    const found = codes.flatMap((code) => zipCodes().get(code) ?? []);
    return mostPopulous(found, max).map((zip) => {
      return { text: `${zip.code} ${zip.city}, ${zip.state}`, attribute: "postal_code", value: zip.code, zip };
    });
  }
  const words = wordsOf(text);
  const [first = ""] = words;
  if (first.length < 3) return [];
  cities ??= readCities();
  const found = cities.filter(({ name, key }) => key.startsWith(first) && areBeginnings(words, wordsOf(name)));
  return mostPopulous(found, max).map(({ name, zip }) => ({ text: name, attribute: "city", value: zip.city, zip }));
}

let citiesByWords: ReadonlyMap<string, readonly City[]> | undefined;

/** Returns the cities with a name, of which `words` are the words, the most populous first. */
export function citiesNamed(words: string): readonly City[] {
  citiesByWords ??= groupCities();
  return citiesByWords.get(inFull(words)) ?? [];
}

const abbreviations: Readonly<Record<string, string>> = { st: "saint", ft: "fort", mt: "mount" };

/** Returns the words of a city's name without abbreviations, which the reference data has too. */
const inFull = (words: string): string => words.replace(/^(st|ft|mt)(?= )/, (short) => abbreviations[short] ?? short);

/** A large city has at least this many inhabitants. */
export const largeCityMin = 50_000;

let largeCities: readonly string[] | undefined;

/** Returns the words of the large cities. */
export function wordsOfLargeCities(): readonly string[] {
  cities ??= readCities();
  largeCities ??= cities
    .filter(({ population }) => population >= largeCityMin)
    .map(({ zip }) => wordsOf(zip.city).join(" "));
  return largeCities;
}

function groupCities(): ReadonlyMap<string, readonly City[]> {
  cities ??= readCities();
  const groups = new Map<string, City[]>();
  for (const city of mostPopulous(cities, cities.length)) {
    const words = inFull(wordsOf(city.zip.city).join(" "));
    const group = groups.get(words);
    if (group === undefined) groups.set(words, [city]);
    else group.push(city);
  }
  return groups;
}

function readCities(): readonly City[] {
  const zips = new Map<string, { readonly zip: ZipCode; readonly population: number }>();
  for (const zip of zipCodes().values()) {
    const name = `${zip.city}, ${zip.state}`;
    const known = zips.get(name);
    const largest = known !== undefined && known.zip.population >= zip.population ? known.zip : zip;
    zips.set(name, { zip: largest, population: (known?.population ?? 0) + zip.population });
  }
  return [...zips].map(([name, city]) => ({ ...city, name, key: matchKeyOf(name) }));
}

const mostPopulous = <T extends { readonly population: number }>(places: readonly T[], max: number): readonly T[] =>
  places.toSorted((one, other) => other.population - one.population).slice(0, max);
