/** Misspelt words of questions. Short words are none: they differ from too many others in a letter. */
import { distance } from "fastest-levenshtein";

/** A misspelt word has at least `lettersMin` letters; from `twoEditsMin` on, two of them may differ. */
const lettersMin = 5;
const twoEditsMin = 8;

/** Returns the known keys that a misspelt one differs from in the fewest letters, one or two; the first letter and all digits are the same. */
export function nearestKeys(key: string, known: Iterable<string>): readonly string[] {
  const letters = key.match(/\p{L}/gu)?.length ?? 0;
  if (letters < lettersMin) return [];
  const digits = digitsOf(key);
  let min: number = letters < twoEditsMin ? 1 : 2;
  let nearest: readonly string[] = [];
  for (const candidate of known) {
    if (candidate[0] !== key[0] || Math.abs(candidate.length - key.length) > min) continue;
    if (digitsOf(candidate) !== digits) continue;
    const edits = isTransposed(key, candidate) ? 1 : distance(key, candidate);
    if (edits > min) continue;
    nearest = edits < min ? [candidate] : [...nearest, candidate];
    min = edits;
  }
  return nearest;
}

const digitsOf = (key: string): string => key.replaceAll(/\D/g, "");

/** Returns whether two neighboring letters are swapped. */
function isTransposed(one: string, other: string): boolean {
  const at = [...one].findIndex((letter, index) => letter !== other[index]);
  return (
    one.length === other.length && one === `${other.slice(0, at)}${other[at + 1]}${other[at]}${other.slice(at + 2)}`
  );
}
