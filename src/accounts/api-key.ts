/**
 * API keys: `cq_live_<key id>_<secret>`. The secret has 256 random bits and is shown once; what is kept is its SHA-256, which
 * needs no salt and no slow hash, because nobody can guess through 256 bits.
 */
import { hash, randomBytes, timingSafeEqual } from "node:crypto";
import { randomWord } from "../base/random-ids.ts";

const form = /^cq_live_([0-9a-hjkmnp-tv-z]{16})_([A-Za-z0-9_-]{43})$/;

export interface GeneratedApiKey {
  /** To be shown once, to whoever asked for it. */
  readonly key: string;
  readonly keyId: string;
  /** What is kept of the secret, in hex. */
  readonly sha256: string;
}

export function generateApiKey(): GeneratedApiKey {
  const [keyId, secret] = [randomWord(16), randomBytes(32).toString("base64url")];
  return { key: `cq_live_${keyId}_${secret}`, keyId, sha256: digest(secret).toString("hex") };
}

/** A key's parts; undefined when it is malformed. */
export function parseApiKey(key: string): { readonly keyId: string; readonly secret: string } | undefined {
  const [, keyId, secret] = form.exec(key) ?? [];
  return keyId === undefined || secret === undefined ? undefined : { keyId, secret };
}

/** Whether a secret is the one that was kept; takes as long for a near miss as for any other. */
export function matchesSecret(secret: string, sha256: Uint8Array): boolean {
  return timingSafeEqual(digest(secret), sha256);
}

const digest = (secret: string): Buffer => hash("sha256", secret, "buffer");
