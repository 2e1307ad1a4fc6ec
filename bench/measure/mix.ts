/**
 * The query mix: a realistic workload of 70 % searches, 20 % facets and 10 % look-ups. Makes, models and places are drawn from a Zipf
 * distribution. Equal seeds produce equal mixes.
 */
import type { SampleCar, SampleValues, Zip } from "../dataset/sample-values.ts";
import { facetQuery, sidebarFacets } from "../queries/facets.ts";
import { type BenchFilter, equals } from "../queries/filter.ts";
import type { BenchQuery } from "../queries/query.ts";
import { lookUpQuery, searchQuery } from "../queries/search.ts";

/** Returns a pseudo-random number from 0 (inclusive) to 1 (exclusive). */
type Random = () => number;

/** Creates a Mulberry32 generator. */
function seededRandom(seed: number): Random {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Creates a sampler with Zipf's law: the n-th value is drawn 1/n times as often as the first. */
function zipfSampler<T>(values: readonly T[], random: Random): () => T {
  let sum = 0;
  const cumulativeWeights = values.map((_, rank) => {
    sum += 1 / (rank + 1);
    return sum;
  });
  return () => {
    const drawn = random() * sum;
    const value = values[cumulativeWeights.findIndex((weight) => drawn < weight)] ?? values[0];
    if (value === undefined) throw new Error("The dataset has no sample values for the mix.");
    return value;
  };
}

const sorts = ["price", "miles", "days_on_market"] as const;

export const mixSize = 20_000;

/** Random values for the queries of a mix, drawn from one generator. */
interface Samplers {
  readonly random: Random;
  readonly car: () => SampleCar;
  readonly make: () => string;
  readonly state: () => string;
  readonly zip: () => Zip;
  /** Draws from a list with equal probabilities. */
  readonly oneOf: <T>(list: readonly T[]) => T;
  /** Draws a price limit as users choose it: 60 to 140 % of a price, a multiple of 250. */
  readonly priceLimit: (price: number) => BenchFilter;
}

function createSamplers(values: SampleValues, random: Random): Samplers {
  return {
    random,
    car: zipfSampler(values.cars, random),
    make: zipfSampler(values.makes, random),
    state: zipfSampler(values.states, random),
    zip: zipfSampler(values.zips, random),
    oneOf: <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)] as T,
    priceLimit: (price) => {
      const limit = Math.max(1000, Math.round((price * (0.6 + random() * 0.8)) / 250) * 250);
      return { kind: "maxPrice", price: limit };
    },
  };
}

function searchByModel({ car, oneOf, priceLimit }: Samplers): BenchQuery {
  const { make, model, price } = car();
  return searchQuery({
    filters: [equals("make", make), equals("model", model), priceLimit(price)],
    sort: oneOf(sorts),
  });
}

const searchByState = ({ make, state, priceLimit }: Samplers): BenchQuery =>
  searchQuery({ filters: [equals("make", make()), equals("state", state()), priceLimit(30_000)] });

const searchByRadius = ({ make, zip, oneOf }: Samplers): BenchQuery =>
  searchQuery({
    filters: [equals("make", make()), { kind: "near", zip: zip(), miles: oneOf([25, 50, 100]) }],
    sort: "distance",
  });

function sidebar({ make, state, random }: Samplers): BenchQuery {
  const byMake = equals("make", make());
  const byState = equals("state", state());
  return facetQuery({ facets: sidebarFacets, filters: [random() < 0.5 ? byState : byMake] });
}

const lookUp = ({ ids, vins }: SampleValues, { random, oneOf }: Samplers): BenchQuery =>
  random() < 0.5 ? lookUpQuery("id", oneOf(ids)) : lookUpQuery("vin", oneOf(vins));

/** Search queries by their share: three sevenths, two sevenths, two sevenths. */
const searches = [
  ...[searchByModel, searchByModel, searchByModel],
  ...[searchByState, searchByState, searchByRadius, searchByRadius],
];

/** Returns the queries of a mix in their order. */
export function queryMix(values: SampleValues, seed: number, size: number): readonly BenchQuery[] {
  const samplers = createSamplers(values, seededRandom(seed));
  const { random, oneOf } = samplers;
  return Array.from({ length: size }, () => {
    const drawn = random();
    if (drawn < 0.7) return oneOf(searches)(samplers);
    return drawn < 0.9 ? sidebar(samplers) : lookUp(values, samplers);
  });
}
