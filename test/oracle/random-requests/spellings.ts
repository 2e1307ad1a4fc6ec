/** Values as people type them: in another case, as a slug, with `+` for a blank, or slightly wrong. */
import type { Chance } from "../random-market/chance.ts";

/** Values that nobody has. What stands for something in other languages stands for itself here. */
const absent = ["Zanzibar", "%", "_", "'", '"', "\\", "a%b", "null", "*", "?", "ÿþ", "0", "--", "; --"];

/** A text in one of the spellings that mean the same, or at times another one. */
export function spelled(chance: Chance, text: string): string {
  if (chance.happens(0.04)) return chance.pick(absent);
  if (chance.happens(0.04) && text.length < 100) return `${text}x`;
  const [, ...rest] = [...text.trim()];
  if (chance.happens(0.04) && rest.length > 0) return rest.join("").trim();
  return inAnyCase(chance, text);
}

/** A name as it is, as its slug, or in another spelling. */
export function named(chance: Chance, name: string): string {
  return chance.happens(0.3) ? slugOf(name) || name : spelled(chance, name);
}

/** A text in another case, letter for letter: İ and ß, whose other case is two letters, stay as they are. */
export function inAnyCase(chance: Chance, text: string): string {
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

/** A value in a URL; blanks are `%20` or `+`. */
export function encoded(chance: Chance, value: string): string {
  return chance.happens(0.5) ? encodeURIComponent(value) : encodeURIComponent(value).replaceAll("%20", "+");
}

/** A list in a URL, its separator plain or percent-encoded. */
export function encodedList(chance: Chance, items: readonly string[], separator = ","): string {
  const between = chance.happens(0.8) ? separator : encodeURIComponent(separator);
  return items.map((item) => encoded(chance, item)).join(between);
}
