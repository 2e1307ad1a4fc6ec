/** Identifiers made of chance. */
import { randomBytes } from "node:crypto";

/** Letters and digits that are not taken for one another, 32 of them. */
const alphabet = "0123456789abcdefghjkmnpqrstvwxyz";

/** A word of lower-case letters and digits; each stands for 5 random bits. */
export function randomWord(length: number): string {
  return Array.from(randomBytes(length), (byte) => alphabet[byte % alphabet.length]).join("");
}
