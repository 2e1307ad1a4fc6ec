/** SQL that converts attribute values to integers, whose sums are exact, and the matching rules of values. */
import { createHash } from "node:crypto";
import { ident, integerLiteral, type Sql, sql } from "../db/sql.ts";
import { caseFold, caseFolded, compareBytes, matchKeyOf } from "../db/text-matching.ts";
import { attributeOf, attributes, type CountedName, categoryNames, type NumberName, type TextName } from "./schema.ts";

/** Returns a timestamp as seconds since 1990, or 0 if it is unknown; 31 bits last until 2058. */
export const secondsOf = (time: Sql): Sql =>
  sql`greatest(0, epoch(${time})::BIGINT - ${integerLiteral(epochSeconds)})::INTEGER`;

/** Returns a date as days since 1970; 0 if it is unknown. */
export const daysOf = (date: Sql): Sql => sql`coalesce(${date} - DATE '1970-01-01', 0)::INTEGER`;

/** The columns of a search index that hold the hash of a text: two integers. */
export const textParts = (text: TextName): readonly string[] => [`${text} 1`, `${text} 2`];

/**
 * Returns the hash of a text in any case as two integers, never null. Of 250,000 texts, one in 10^13 requests finds another text of the same hash;
 * comparing the texts themselves takes six times as long.
 */
export function textHashesOf(text: Sql): readonly Sql[] {
  const hash = sql`coalesce(md5_number_lower(${caseFold(text)}), 0)`;
  return [sql`${hash} & 4294967295`, sql`${hash} >> 32`].map(
    (word) => sql`((${word})::BIGINT - ${integerLiteral(2 ** 31)})::INTEGER`,
  );
}

/** `textHashesOf` in JavaScript. */
export function textHashesIn(text: string): readonly number[] {
  const digest = createHash("md5").update(caseFolded(text)).digest();
  return [8, 12].map((offset) => digest.readUInt32LE(offset) - 2 ** 31);
}

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

/** The columns of a search index that hold a VIN, each with its range of characters: as many as an integer has room for, six bits each. */
export const vinParts = [
  { column: "vin 1", from: 0, to: 5 },
  { column: "vin 2", from: 5, to: 10 },
  { column: "vin 3", from: 10, to: 15 },
  { column: "vin 4", from: 15, to: 17 },
] as const;

const vinAlphabet = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";

/** Returns one part of a VIN as an integer: for each character its code from 1, or 0 if the alphabet lacks it. */
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
): { readonly bits: number; readonly value: number } {
  let bits = 0;
  let value = 0;
  for (let index = from; index < to; index += 1) {
    const character = mask[index] ?? "?";
    const isFixed = character !== "?";
    bits = bits * 64 + (isFixed ? 63 : 0);
    value = value * 64 + (isFixed ? vinAlphabet.indexOf(character) + 1 : 0);
  }
  return { bits, value };
}
