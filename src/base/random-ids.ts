/** Generates short random ids. */
import { randomBytes } from "node:crypto";

/** The 32 characters of Crockford base 32, in lower case: no look-alikes such as `i`, `l`, `o` and `u`. */
const alphabet = "0123456789abcdefghjkmnpqrstvwxyz";

/** Returns a random id of lower-case letters and digits, 5 bits per character. */
export function randomId(length: number): string {
  return Array.from(randomBytes(length), (byte) => alphabet[byte % alphabet.length]).join("");
}
