/**
 * Sessions of signed-in browsers. The cookie is a random secret; the accounts file holds its hash. Forms of a session carry a token that
 * is derived from the cookie, so that no other site can send them.
 */
import { createHmac, timingSafeEqual } from "node:crypto";
import { newSecret, secretHash } from "../../base/random-ids.ts";
import type { Administration } from "../administration/administration.ts";
import { type SessionRecord, seenResolutionMs } from "./session-table.ts";

export interface BrowserSession extends SessionRecord {
  readonly csrfToken: string;
}

const secretPattern = /^[\w-]{43}$/;

export class Sessions {
  constructor(private readonly administration: Administration) {}

  /** Starts a session of an account. Returns the value of its cookie. */
  async create(accountId: string): Promise<string> {
    const cookie = newSecret();
    const atMs = this.administration.nowMs;
    await this.administration.call("startSession", { accountId, sha256: secretHash(cookie), atMs });
    return cookie;
  }

  /** Returns the session of a cookie, or undefined if it has ended. Its idle time starts again. */
  async find(cookie: string): Promise<BrowserSession | undefined> {
    if (!secretPattern.test(cookie)) return undefined;
    const [sha256, atMs] = [secretHash(cookie), this.administration.nowMs];
    const session = await this.administration.call("findSession", { sha256, atMs });
    if (session === null) return undefined;
    if (atMs - session.seenAtMs > seenResolutionMs) await this.administration.call("touchSession", { sha256, atMs });
    return { ...session, csrfToken: csrfTokenOf(cookie) };
  }

  async end(cookie: string): Promise<void> {
    await this.administration.call("endSession", { sha256: secretHash(cookie) });
  }
}

const csrfTokenOf = (cookie: string): string => createHmac("sha256", cookie).update("csrf token").digest("base64url");

/** Returns true if a form carries the token of a session. Constant-time. */
export function matchesCsrfToken({ csrfToken }: Pick<BrowserSession, "csrfToken">, sent: string): boolean {
  const [expected, found] = [Buffer.from(csrfToken), Buffer.from(sent)];
  return expected.length === found.length && timingSafeEqual(expected, found);
}
