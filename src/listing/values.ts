/** Searched values as whole numbers, in SQL over the columns of listings: sums are exact, and two engines order them alike. */

import { ident, integerLiteral, type Sql, sql } from "../db/sql.ts";
import { matchKeyOf } from "../db/text-matching.ts";
import { attributeOf, categoryNames, type NumberName } from "./schema.ts";
import type { SortKey } from "./sorts.ts";

/** Seconds since 1990: 31 bits reach to 2058. */
export const secondsOf = (time: Sql): Sql =>
  sql`greatest(0, epoch(${time})::BIGINT - ${integerLiteral(epochSeconds)})::INTEGER`;

/** 1990-01-01T00:00:00Z in seconds since 1970. */
export const epochSeconds = 631_152_000;

/** A number of a listing as a whole number of its last decimal; null where it is unknown. */
export function unitsOf(attribute: NumberName): Sql {
  const { column, decimals = 0 } = attributeOf(attribute);
  return decimals === 0 ? ident(column) : sql`(${ident(column)} * ${integerLiteral(10 ** decimals)})::INTEGER`;
}

/** Categories whose values match in any punctuation. */
const names: ReadonlySet<string> = new Set(categoryNames.filter((one) => attributeOf(one).search === "name"));

/** What the spellings of one value of an attribute have in common. */
export const valueKeyOf = (attribute: string, value: string): string =>
  names.has(attribute) ? matchKeyOf(value) : value.toLowerCase();

/** How many of these units make one. */
export const unitsPerOne = (attribute: NumberName): number => 10 ** (attributeOf(attribute).decimals ?? 0);

/** What a sort compares, as an integer. */
export const sortValueOf = ({ attribute }: SortKey): Sql =>
  attribute === "listed_at" ? secondsOf(ident(attribute)) : unitsOf(attribute);

/** How many characters of a VIN one integer holds, six bits each. */
const vinHead = 10;
const vinLength = 17;

/** The columns of the search index that hold a VIN: its first ten characters, and its last seven. */
export const vinParts = [
  { column: "vin_head", from: 0, to: vinHead },
  { column: "vin_tail", from: vinHead, to: vinLength },
] as const;

const vinAlphabet = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
const bitsPerCharacter = 6n;

/** The six-bit code of a character of a VIN, from 1; 0 where no VIN has it. */
export const vinCodeOf = (character: string): bigint => BigInt(vinAlphabet.indexOf(character) + 1);

/** One part of a VIN as an integer. */
export function vinPartOf(vin: Sql, { from, to }: (typeof vinParts)[number]): Sql {
  let part = sql`0`;
  for (let place = from; place < to; place += 1) {
    const code = sql`strpos(${`${vinAlphabet}`}, substr(${vin}, ${integerLiteral(place + 1)}, 1))`;
    part = sql`(${part} * 64 + ${code})`;
  }
  return part;
}

/** The bits of one part that a mask fixes, and their values; `?` leaves a place open, and so does what follows the mask. */
export function maskOf(
  mask: string,
  { from, to }: (typeof vinParts)[number],
): { readonly bits: bigint; readonly value: bigint } {
  let [bits, value] = [0n, 0n];
  for (let place = from; place < to; place += 1) {
    const character = mask[place] ?? "?";
    [bits, value] = [bits << bitsPerCharacter, value << bitsPerCharacter];
    if (character === "?") continue;
    bits |= 63n;
    value |= vinCodeOf(character);
  }
  return { bits, value };
}
