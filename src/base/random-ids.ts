/** Generates random identifiers: short ids and UUIDs. */
import { randomBytes, randomUUID } from "node:crypto";

/** The 32 characters of Crockford base 32, in lower case: no look-alikes such as `i`, `l`, `o` and `u`. */
const alphabet = "0123456789abcdefghjkmnpqrstvwxyz";

/** Returns a random id of lower-case letters and digits, 5 bits per character. */
export function randomId(length: number): string {
  return Array.from(randomBytes(length), (byte) => alphabet[byte % alphabet.length]).join("");
}

/** Returns a UUID version 7 (RFC 9562). It sorts by time, so a B-tree index over many of them is appended to. */
export function uuidV7(atMs: number): string {
  const timeHex = Math.floor(atMs).toString(16).padStart(12, "0");
  return `${timeHex.slice(0, 8)}-${timeHex.slice(8, 12)}-7${randomUUID().slice(15)}`;
}
