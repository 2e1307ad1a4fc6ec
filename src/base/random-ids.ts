/** Identifiers made of chance. */
import { randomBytes, randomUUID } from "node:crypto";

/** Letters and digits that are not taken for one another, 32 of them. */
const alphabet = "0123456789abcdefghjkmnpqrstvwxyz";

/** A word of lower-case letters and digits; each stands for 5 random bits. */
export function randomWord(length: number): string {
  return Array.from(randomBytes(length), (byte) => alphabet[byte % alphabet.length]).join("");
}

/** A UUID that sorts by its time (version 7, RFC 9562), so that an index over many of them grows at its end. */
export function timedId(atMs: number): string {
  const time = Math.floor(atMs).toString(16).padStart(12, "0");
  return `${time.slice(0, 8)}-${time.slice(8, 12)}-7${randomUUID().slice(15)}`;
}
