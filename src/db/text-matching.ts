/** Text normalization for matching, and the order of texts: the same rules for stored and for requested values. */
import { type Sql, sql } from "./sql.ts";

/** Case-insensitive form of a text, the same as in JavaScript, which writes the small form of I with a dot above as two characters. */
export const caseFold = (text: Sql): Sql => sql`lower(replace(${text}, '\u0130', 'i\u0307'))`;

/** `caseFold` in JavaScript: each character apart, as the engine does, so that a sigma has one small form. */
export const caseFolded = (text: string): string => Array.from(text, (character) => character.toLowerCase()).join("");

/** Match key of makes and models: lower-case letters and digits without accents, so that `F-150`, `f150` and the slug `f-150` match. */
export const matchKey = (text: Sql): Sql =>
  sql`regexp_replace(strip_accents(lower(${text})), '[^\\p{L}\\p{N}]', '', 'g')`;

/** `matchKey` in JavaScript. Returns the lower-case text itself if it has no letters or digits. */
export function matchKeyOf(text: string): string {
  const key = text.normalize("NFD").replaceAll(/[^\p{L}\p{N}]/gu, "");
  return (key === "" ? text : key).toLowerCase();
}

/** The words of a text as a list: lower-case letters and digits, without accents and apostrophes. */
export const wordsIn = (text: Sql): Sql =>
  sql`regexp_extract_all(regexp_replace(strip_accents(lower(${text})), '[''’]', '', 'g'), '[\\p{L}\\p{N}]+')`;

/** `wordsIn` in JavaScript. */
export const wordsOf = (text: string): readonly string[] =>
  text
    .toLowerCase()
    .normalize("NFD")
    .replaceAll(/\p{M}|['’]/gu, "")
    .match(/[\p{L}\p{N}]+/gu) ?? [];

/** Returns whether there are words, and each of them is the beginning of a known one. */
export const areBeginnings = (words: readonly string[], known: readonly string[]): boolean =>
  words.length > 0 && words.every((word) => known.some((one) => one.startsWith(word)));

/** Compares texts by their bytes in UTF-8, as the engine does: by their UTF-16 units, of which surrogates are the greatest. */
export function compareBytes(one: string, other: string): number {
  let at = 0;
  while (at < one.length && one.charCodeAt(at) === other.charCodeAt(at)) at += 1;
  if (at === one.length || at === other.length) return one.length - other.length;
  return orderOf(one.charCodeAt(at)) - orderOf(other.charCodeAt(at));
}

const orderOf = (unit: number): number => (unit >= 0xd800 && unit < 0xe000 ? unit + 0x10000 : unit);
