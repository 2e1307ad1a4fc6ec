/**
 * A realistic mix of requests: 70 % searches, 20 % facets, 10 % details, about makes and places as often as people ask for them (Zipf).
 * The same for the same seed.
 */

import type { Words } from "../dataset/words.ts";
import { facets, sidebarFacets } from "../questions/facets.ts";
import { is } from "../questions/filter.ts";
import type { Question } from "../questions/question.ts";
import { lookUp, searchQuestion } from "../questions/search.ts";

/** Numbers from 0 up to 1 that follow from a seed. */
function chanceOf(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Draws words by Zipf's law: the second is half as likely as the first, the third a third. */
function zipf<T>(words: readonly T[], chance: () => number): () => T {
  let sum = 0;
  const edges = words.map((_, rank) => {
    sum += 1 / (rank + 1);
    return sum;
  });
  return () => {
    const drawn = chance() * sum;
    const word = words[edges.findIndex((edge) => drawn < edge)] ?? words[0];
    if (word === undefined) throw new Error("There is nothing to draw from.");
    return word;
  };
}

const sorts = ["price", "miles", "days_on_market"] as const;

/** How many questions a mix has. */
export const mixLength = 20_000;

/** Questions of a mix, in the order in which they are asked. */
export function mixOf(words: Words, seed: number, count: number): readonly Question[] {
  const chance = chanceOf(seed);
  const [car, make, state, zip] = [
    zipf(words.cars, chance),
    zipf(words.makes, chance),
    zipf(words.states, chance),
    zipf(words.zips, chance),
  ];
  const anyOf = <T>(list: readonly T[]): T => list[Math.floor(chance() * list.length)] as T;
  /** Up to a price in steps of 250, which people pick. */
  const priceNear = (price: number): number => Math.max(1000, Math.round((price * (0.6 + chance() * 0.8)) / 250) * 250);

  const byCar = (): Question => {
    const { make, model, price } = car();
    const [most, sort] = [priceNear(price), anyOf(sorts)];
    return searchQuestion({ filters: [is("make", make), is("model", model), { kind: "maxPrice", price: most }], sort });
  };
  const byState = (): Question => {
    const [one, place, most] = [make(), state(), priceNear(30_000)];
    return searchQuestion({ filters: [is("make", one), is("state", place), { kind: "maxPrice", price: most }] });
  };
  const byPlace = (): Question => {
    const [one, place, miles] = [make(), zip(), anyOf([25, 50, 100])];
    return searchQuestion({ filters: [is("make", one), { kind: "near", zip: place, miles }], sort: "distance" });
  };
  const counted = (): Question => {
    const [one, place] = [make(), state()];
    return facets({ facets: sidebarFacets, filters: [chance() < 0.5 ? is("state", place) : is("make", one)] });
  };
  const detail = (): Question => (chance() < 0.5 ? lookUp("id", anyOf(words.ids)) : lookUp("vin", anyOf(words.vins)));
  const searched = (): Question => anyOf([byCar, byCar, byCar, byState, byState, byPlace, byPlace])();

  return Array.from({ length: count }, () => {
    const drawn = chance();
    return drawn < 0.7 ? searched() : drawn < 0.9 ? counted() : detail();
  });
}
