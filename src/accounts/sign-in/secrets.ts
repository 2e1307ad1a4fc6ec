/** Secrets of sessions and one-time links: 256 random bits, of which only the SHA-256 is stored. At that entropy a salt or a slow hash adds nothing. */
import { hash, randomBytes } from "node:crypto";

/** Returns a new secret, 43 characters of base64url. */
export const newSecret = (): string => randomBytes(32).toString("base64url");

/** Returns the SHA-256 of a secret, in hex. */
export const secretHash = (secret: string): string => hash("sha256", secret, "hex");
