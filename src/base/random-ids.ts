/** Generates short random ids, and secrets, of which only the SHA-256 is stored: at 256 random bits, a salt or a slow hash adds nothing. */
import { hash, randomBytes } from "node:crypto";

/** The 32 characters of Crockford base 32, in lower case: no look-alikes such as `i`, `l`, `o` and `u`. */
const alphabet = "0123456789abcdefghjkmnpqrstvwxyz";

/** Returns a random id of lower-case letters and digits, 5 bits per character. */
export function randomId(length: number): string {
  return Array.from(randomBytes(length), (byte) => alphabet[byte % alphabet.length]).join("");
}

/** Returns a new secret, 43 characters of base64url. */
export const newSecret = (): string => randomBytes(32).toString("base64url");

/** Returns the SHA-256 of a secret, in hex. */
export const secretHash = (secret: string): string => hash("sha256", secret, "hex");
