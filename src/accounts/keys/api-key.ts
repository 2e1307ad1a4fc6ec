/**
 * API keys of the form `cq_live_<key id>_<secret>`: generates, parses and verifies them. The secret has 256 random bits and is shown
 * once; only its SHA-256 is stored. At that entropy a salt or a slow hash adds nothing.
 */
import { hash, timingSafeEqual } from "node:crypto";
import { newSecret, randomId, secretHash } from "../../base/random-ids.ts";

const pattern = /^cq_live_([0-9a-hjkmnp-tv-z]{16})_([A-Za-z0-9_-]{43})$/;

interface GeneratedApiKey {
  /** The whole key with its secret: return it to the caller, never store it. */
  readonly key: string;
  readonly keyId: string;
  /** SHA-256 of the secret, in hex. */
  readonly sha256: string;
}

export function generateApiKey(): GeneratedApiKey {
  const keyId = randomId(16);
  const secret = newSecret();
  return { key: `cq_live_${keyId}_${secret}`, keyId, sha256: secretHash(secret) };
}

export function parseApiKey(key: string): { readonly keyId: string; readonly secret: string } | undefined {
  const [, keyId, secret] = pattern.exec(key) ?? [];
  return keyId === undefined || secret === undefined ? undefined : { keyId, secret };
}

/** Returns a new access token of a grant: like an API key, so that it is redacted like one. */
export const generateAccessToken = (keyId: string): string => `cq_oauth_${keyId}_${newSecret()}`;

const accessTokenPattern = /^cq_oauth_[0-9a-hjkmnp-tv-z]{16}_[A-Za-z0-9_-]{43}$/;

export const isAccessToken = (credential: string): boolean => accessTokenPattern.test(credential);

/** Matches the beginning of a key or an access token, so that a truncated one matches too. */
const keyLike = /cq_(?:live|oauth)_[\w-]*/gi;

const percentEncoded = /%([0-9a-f]{2})/gi;

/** Replaces everything in a text that looks like an API key, in any case and percent-encoded any number of times, by `[key]`. */
export function redactKeys(text: string): string {
  const decodedOnce = text.replace(percentEncoded, (_, code: string) => characterOf(code));
  if (decodedOnce === text) return text.replace(keyLike, "[key]");
  if (decodedOnce.search(percentEncoded) < 0 && decodedOnce.search(keyLike) < 0) return text;
  const { decoded, starts } = decodeFully(text);
  let redacted = "";
  let end = 0;
  for (const { 0: match, index } of decoded.matchAll(keyLike)) {
    redacted += `${text.slice(end, starts[index])}[key]`;
    end = starts[index + match.length] ?? text.length;
  }
  return redacted + text.slice(end);
}

const characterOf = (code: string): string => String.fromCharCode(Number.parseInt(code, 16));

/** Decodes percent-encoding until none is left. Returns the result, and where each of its characters starts in the text. */
function decodeFully(text: string): { readonly decoded: string; readonly starts: readonly number[] } {
  const characters: string[] = [];
  const starts: number[] = [];
  for (let at = 0; at < text.length; at += 1) {
    characters.push(text.charAt(at));
    starts.push(at);
    // A decoded character can complete an encoding that begins before it.
    while (characters.at(-3) === "%") {
      const code = `${characters.at(-2)}${characters.at(-1)}`;
      if (!/^[0-9a-f]{2}$/i.test(code)) break;
      characters.splice(-3, 3, characterOf(code));
      starts.splice(-2);
    }
  }
  return { decoded: characters.join(""), starts };
}

/** Returns true if a secret has this SHA-256. Constant-time. */
export function matchesSecret(secret: string, sha256: Uint8Array): boolean {
  return timingSafeEqual(digest(secret), sha256);
}

const digest = (secret: string): Buffer => hash("sha256", secret, "buffer");
