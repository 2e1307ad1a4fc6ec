/**
 * API keys of the form `cq_live_<key id>_<secret>`: generates, parses and verifies them. The secret has 256 random bits and is shown
 * once; only its SHA-256 is stored. At that entropy a salt or a slow hash adds nothing.
 */
import { hash, randomBytes, timingSafeEqual } from "node:crypto";
import { randomId } from "../base/random-ids.ts";

const pattern = /^cq_live_([0-9a-hjkmnp-tv-z]{16})_([A-Za-z0-9_-]{43})$/;

export interface GeneratedApiKey {
  /** The whole key with its secret: return it to the caller, never store it. */
  readonly key: string;
  readonly keyId: string;
  /** SHA-256 of the secret, in hex. */
  readonly sha256: string;
}

export function generateApiKey(): GeneratedApiKey {
  const [keyId, secret] = [randomId(16), randomBytes(32).toString("base64url")];
  return { key: `cq_live_${keyId}_${secret}`, keyId, sha256: digest(secret).toString("hex") };
}

export interface ApiKeyParts {
  readonly keyId: string;
  readonly secret: string;
}

/** Returns the parts of a key, or undefined if it is malformed. */
export function parseApiKey(key: string): ApiKeyParts | undefined {
  const [, keyId, secret] = pattern.exec(key) ?? [];
  return keyId === undefined || secret === undefined ? undefined : { keyId, secret };
}

/** Returns true if a secret has this SHA-256. Constant-time. */
export function matchesSecret(secret: string, sha256: Uint8Array): boolean {
  return timingSafeEqual(digest(secret), sha256);
}

const digest = (secret: string): Buffer => hash("sha256", secret, "buffer");
