/** Random spellings of values: other case, slugs, `+` for spaces, and typos. */
import type { Chance } from "../../support/chance.ts";

/** Values that no listing has, among them wildcards and syntax of SQL, patterns and shells. */
const absentValues = ["Zanzibar", "%", "_", "'", '"', "\\", "a%b", "null", "*", "?", "ÿþ", "0", "--", "; --"];

/** Returns an equivalent spelling of a text, or rarely a different text. */
export function respell(chance: Chance, text: string): string {
  if (chance.happens(0.04)) return chance.pick(absentValues);
  if (chance.happens(0.04) && text.length < 100) return `${text}x`;
  const [, ...rest] = [...text.trim()];
  if (chance.happens(0.04) && rest.length > 0) return rest.join("").trim();
  return randomCase(chance, text);
}

/** Returns a name, its slug, or another spelling. */
export function respellName(chance: Chance, name: string): string {
  return chance.happens(0.3) ? slugOf(name) || name : respell(chance, name);
}

/** Returns a text in another case. Letters whose other case has two letters, such as İ and ß, are kept. */
export function randomCase(chance: Chance, text: string): string {
  return chance.pick([
    text,
    text,
    eachLetter(text, lower),
    eachLetter(text, upper),
    eachLetter(text, (letter) => (chance.happens(0.5) ? upper : lower)(letter)),
  ]);
}

function eachLetter(text: string, change: (letter: string) => string): string {
  const changed = [...text].map((letter) => {
    const other = change(letter);
    return other.length === letter.length ? other : letter;
  });
  return changed.join("");
}

const upper = (letter: string): string => letter.toUpperCase();
const lower = (letter: string): string => letter.toLowerCase();

function slugOf(name: string): string {
  const plain = name.normalize("NFD").replaceAll(/\p{M}/gu, "").toLowerCase();
  return plain.replaceAll(/[^\p{L}\p{N}]+/gu, "-").replaceAll(/^-|-$/g, "");
}

/** Encodes a value; spaces become `%20` or `+`. */
export function encodeValue(chance: Chance, value: string): string {
  return chance.happens(0.5) ? encodeURIComponent(value) : encodeURIComponent(value).replaceAll("%20", "+");
}

/** Returns an item of a list, in double quotes if it holds the separator or begins with a quote. */
export const listItemOf = (item: string, separator: string): string =>
  item.includes(separator) || item.startsWith('"') ? `"${item.replaceAll(/["\\]/g, "\\$&")}"` : item;

/** Encodes a list; its separator is plain or percent-encoded. */
export function encodeItems(chance: Chance, items: readonly string[], separator = ","): string {
  const encodedSeparator = chance.happens(0.8) ? separator : encodeURIComponent(separator);
  return items.map((item) => encodeValue(chance, listItemOf(item, separator))).join(encodedSeparator);
}
