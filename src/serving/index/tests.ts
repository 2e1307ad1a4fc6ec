/**
 * Tests: filters over the integer columns of a segment, in which requested values have become ids. `conditions.ts` renders them as SQL for what the
 * engine measures, `positions.ts` runs them over typed arrays.
 */
import { epochDay } from "../../base/day.ts";
import type { Filter } from "../../listing/filter.ts";
import { type ListName, listNames } from "../../listing/schema.ts";
import { firstSecondAt, maskOf, textHashesIn, textParts, toUnits, vinParts } from "../../listing/values.ts";
import type { Dealers, Dictionary } from "./dictionary.ts";

export type Test =
  /** The id is one of some distinct ones. */
  | { readonly kind: "in"; readonly column: string; readonly ids: ArrayLike<number> }
  /** The list has all of some tokens, or any of them. A token has an id for each of its spellings. */
  | {
      readonly kind: "hasTokens";
      readonly column: ListName;
      readonly tokens: readonly (readonly number[])[];
      readonly how: "all" | "any";
    }
  /** The number is known and lies within inclusive bounds. */
  | { readonly kind: "between"; readonly column: string; readonly min: number; readonly max: number }
  /** Some bits of the integer have a value. */
  | { readonly kind: "hasBits"; readonly column: string; readonly bits: number; readonly value: number }
  | { readonly kind: "all" | "any"; readonly tests: readonly Test[] }
  | { readonly kind: "not"; readonly test: Test };

/** Stands for an unknown number in typed arrays. */
export const unknownNumber = -(2 ** 31);

/** The range of known numbers: bounds outside of it compare like its limits. */
const integerMin = unknownNumber + 1;
const integerMax = 2 ** 31 - 1;
const clamped = (value: number): number => Math.max(integerMin, Math.min(integerMax, value));

export const between = (column: string, min: number, max = integerMax): Test => ({
  kind: "between",
  column,
  min: clamped(min),
  max: clamped(max),
});

const isIn = (column: string, ids: readonly number[]): Test => ({ kind: "in", column, ids: [...new Set(ids)] });

export function testOf(filter: Filter, names: { readonly dictionary: Dictionary; readonly dealers: Dealers }): Test {
  const { dictionary, dealers } = names;
  const testsOf = (filters: readonly Filter[]): readonly Test[] => filters.map((one) => testOf(one, names));
  switch (filter.kind) {
    case "anyOf": {
      const { attribute, values } = filter;
      const ids = values.flatMap((value) => dictionary.idsOf(attribute, value));
      return isIn(attribute, ids);
    }
    case "withinRadius":
      return isIn("dealer", dealers.within(filter.origin, filter.radiusMiles));
    case "insideBox":
      return isIn("dealer", dealers.inside(filter.box));
    case "equalsText":
      return { kind: "any", tests: filter.values.map((value) => hasText(textParts(filter.attribute), value)) };
    case "hasTokens": {
      const { attribute: column, values, how } = filter;
      return { kind: "hasTokens", column, tokens: values.map((value) => dictionary.idsOf(column, value)), how };
    }
    case "atLeast":
      return between(filter.attribute, Math.ceil(toUnits(filter.attribute, filter.bound)));
    case "atMost":
      return between(filter.attribute, integerMin, Math.floor(toUnits(filter.attribute, filter.bound)));
    case "since":
      return between(filter.attribute, firstSecondAt(filter.timeMs));
    case "soldAfter":
      return between("sold_on_record", epochDay(filter.day) + 1);
    case "matchesMask":
      return { kind: "any", tests: filter.masks.map(matchesMask) };
    case "all":
    case "any":
      return { kind: filter.kind, tests: testsOf(filter.filters) };
    case "not":
      return { kind: "not", test: testOf(filter.filter, names) };
  }
}

/** All bits of a hash. */
const allBits = -1;

const hasText = (columns: readonly string[], text: string): Test => {
  const hashes = textHashesIn(text);
  return {
    kind: "all",
    tests: columns.map((column, part) => ({ kind: "hasBits", column, bits: allBits, value: hashes[part] ?? 0 })),
  };
};

const matchesMask = (mask: string): Test => ({
  kind: "all",
  tests: vinParts.flatMap((part): readonly Test[] => {
    const masked = maskOf(mask.replace(/\*$/, ""), part);
    return masked.bits === 0 ? [] : [{ kind: "hasBits", column: part.column, ...masked }];
  }),
});

/** The first three characters of a VIN as an id: the upper bits of its first part. */
export const vinPrefixes = { column: vinParts[0].column, shift: 12, range: { first: 0, end: 2 ** 18 } } as const;

/** Returns the test of the first three characters of VINs, if the bits have them all. */
export function vinPrefixTest({ column, bits, value }: Extract<Test, { kind: "hasBits" }>) {
  const { shift, range } = vinPrefixes;
  if (column !== vinPrefixes.column || bits >>> shift !== range.end - 1) return undefined;
  return { kind: "in", column, ids: [value >>> shift] } as const;
}

/** Returns the list that a column has the sets of; undefined for other columns. */
export const listIn = (column: string | undefined): ListName | undefined => listNames.find((list) => list === column);
