/** SQL that converts attribute values to integers, whose sums are exact, and the matching rules of values. */
import { ident, integerLiteral, type Sql, sql } from "../db/sql.ts";
import { caseFold, compareBytes, matchKeyOf } from "../db/text-matching.ts";
import { attributeOf, attributes, type CountedName, categoryNames, type NumberName } from "./schema.ts";

/** Returns a timestamp as seconds since 1990, or 0 if it is unknown; 31 bits last until 2058. */
export const secondsOf = (time: Sql): Sql =>
  sql`greatest(0, epoch(${time})::BIGINT - ${integerLiteral(epochSeconds)})::INTEGER`;

/** Returns a date as days since 1970; 0 if it is unknown. */
export const daysOf = (date: Sql): Sql => sql`coalesce(${date} - DATE '1970-01-01', 0)::INTEGER`;

/**
 * Returns a text in any case as a hash of 64 bits, never null. Of 250,000 texts, one in 10^13 requests finds another text of the same hash; comparing
 * the texts themselves takes six times as long.
 */
export const textHashOf = (text: Sql): Sql => sql`hash(${caseFold(text)})`;

/** 1990-01-01T00:00:00Z in seconds since 1970. */
const epochSeconds = 631_152_000;

/** Returns the first second at or after a time, in seconds since 1990; at least 1, because 0 is unknown. */
export const firstSecondAt = (timeMs: number): number => Math.max(1, Math.ceil(timeMs / 1000) - epochSeconds);

/** Returns the number of digits after the decimal point of a number attribute: those of its type. */
export const decimalsOf = (attribute: NumberName): number =>
  Number(/^DECIMAL\(\d,(\d)\)$/.exec(attributes[attribute].type)?.[1] ?? 0);

/** Returns how many units of its last decimal make 1 of a number attribute. */
const unitsPerOne = (attribute: NumberName): number => 10 ** decimalsOf(attribute);

/** Returns a number attribute in units of its last decimal, as an integer; null if it is unknown. */
export function unitsOf(attribute: NumberName): Sql {
  const { column, type } = attributeOf(attribute);
  return type === "INTEGER"
    ? ident(column)
    : sql`(${ident(column)} * ${integerLiteral(unitsPerOne(attribute))})::INTEGER`;
}

/** Returns a value of a number attribute in units, without the floating-point noise of the product. */
export const toUnits = (attribute: NumberName, value: number): number =>
  decimalsOf(attribute) === 0 ? value : Number((value * unitsPerOne(attribute)).toPrecision(12));

/** Returns the value that some units of a number attribute make. */
export const fromUnits = (attribute: NumberName, units: number): number => units / unitsPerOne(attribute);

/** Categories whose values match regardless of punctuation. */
const punctuationInsensitive: ReadonlySet<string> = new Set(
  categoryNames.filter((name) => attributeOf(name).search === "name"),
);

/** Returns the normalized form of a value: two spellings of an attribute match if their normalized forms are equal. */
export const valueKeyOf = (attribute: string, value: string): string =>
  punctuationInsensitive.has(attribute) ? matchKeyOf(value) : value.toLowerCase();

/** Returns how the values of an attribute are ordered: integers as numbers, texts by their bytes. */
export const compareValues = (attribute: CountedName): ((one: string, other: string) => number) =>
  attributeOf(attribute).type === "VARCHAR" ? compareBytes : (one, other) => Number(one) - Number(other);

/** Number of VIN characters in the first integer, six bits each. */
const vinHeadLength = 10;
const vinLength = 17;

/** The search index columns that hold a VIN, each with its range of characters: the first ten and the last seven. */
export const vinParts = [
  { column: "vin_head", from: 0, to: vinHeadLength },
  { column: "vin_tail", from: vinHeadLength, to: vinLength },
] as const;

const vinAlphabet = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
const bitsPerCharacter = 6n;

/** Returns the six-bit code of a VIN character, from 1; 0 if the character is not in the VIN alphabet. */
const vinCodeOf = (character: string): bigint => BigInt(vinAlphabet.indexOf(character) + 1);

/** Returns one part of a VIN as an integer. */
export function vinPartOf(vin: Sql, { from, to }: (typeof vinParts)[number]): Sql {
  let part = sql`0`;
  for (let index = from; index < to; index += 1) {
    const code = sql`strpos(${`${vinAlphabet}`}, substr(${vin}, ${integerLiteral(index + 1)}, 1))`;
    part = sql`(${part} * 64 + ${code})`;
  }
  return part;
}

/**
 * Returns a VIN mask as a bit mask for one part: `bits` selects the fixed characters and `value` is what they must equal. `?` and the
 * characters after the end of the mask are not fixed.
 */
export function maskOf(
  mask: string,
  { from, to }: (typeof vinParts)[number],
): { readonly bits: bigint; readonly value: bigint } {
  let bits = 0n;
  let value = 0n;
  for (let index = from; index < to; index += 1) {
    const character = mask[index] ?? "?";
    bits = bits << bitsPerCharacter;
    value = value << bitsPerCharacter;
    if (character === "?") continue;
    bits |= 63n;
    value |= vinCodeOf(character);
  }
  return { bits, value };
}
