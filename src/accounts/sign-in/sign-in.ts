/**
 * Sign-in with a password or a one-time link, and the sessions of signed-in browsers. Failed attempts are limited per account and client address. An unknown name and a wrong
 * password have the same result and cost the same work.
 */
import { createHmac, timingSafeEqual } from "node:crypto";
import { newSecret, secretHash } from "../../base/random-ids.ts";
import { UserError } from "../../base/user-error.ts";
import type { SqlDatabase } from "../../db/sql-database.ts";
import type { Administration } from "../administration/administration.ts";
import { applyChange } from "../administration/changes.ts";
import type { Clock } from "../clock.ts";
import { FailedAuthentications, failedSignInLimits, SignInLimits } from "../policy/failed-authentications.ts";
import { hashPassword, isAcceptedPassword, matchesPassword, passwordRule } from "./passwords.ts";
import {
  type Credentials,
  consumeLink,
  endSession,
  findCredentials,
  findLink,
  findSession,
  insertSession,
  type LinkKind,
  type OneTimeLink,
  type SessionAccount,
  type SessionRecord,
  touchSession,
} from "./sign-in-tables.ts";

/** The account that an attempt signs in to, with the verified hash, `wrong`, or the time until the next attempt. */
type SignInResult = Credentials | "wrong" | { readonly retryAfterSeconds: number };

export class SignIn {
  private readonly limits: SignInLimits;
  /** Wrong current passwords of signed-in accounts. What others try at the sign-in page does not count here. */
  private readonly failedConfirmations: FailedAuthentications;

  constructor(
    private readonly administration: Administration,
    clock: Clock,
  ) {
    const nowMs = (): number => clock.monotonicMs();
    this.limits = new SignInLimits(nowMs);
    this.failedConfirmations = new FailedAuthentications(failedSignInLimits, nowMs);
  }

  /**
   * Checks a name, which is an account id or email address, and a password, for a client's network as `clientNetwork` returns it. An attempt counts as
   * failed until it succeeds. Refuses with `overloaded`.
   */
  async attempt(name: string, password: string, network: string): Promise<SignInResult> {
    const known = name.trim().toLowerCase().slice(0, 254);
    const credentials = await this.administration.call(findCredentials, known);
    // The id and the email address of an account count together.
    const account = credentials?.accountId ?? known;
    const retryAfterSeconds = this.limits.count(account, network);
    if (retryAfterSeconds !== undefined) return { retryAfterSeconds };
    if (!(await matchesPassword(password, credentials?.hash, network)) || credentials === undefined) return "wrong";
    this.limits.uncount(account, network);
    return credentials;
  }

  /** Checks the password of a signed-in account, before a change that needs it. Refuses with `overloaded`. */
  async confirm(accountId: string, password: string): Promise<SignInResult> {
    const retryAfterSeconds = this.failedConfirmations.count(accountId);
    if (retryAfterSeconds !== undefined) return { retryAfterSeconds };
    const credentials = await this.administration.call(findCredentials, accountId);
    if (!(await matchesPassword(password, credentials?.hash, accountId)) || credentials === undefined) return "wrong";
    this.failedConfirmations.uncount(accountId);
    return credentials;
  }

  /** Returns the account of a one-time link without using it, or undefined if it does not work any more. */
  findLink(secret: string, kind: LinkKind): Promise<OneTimeLink | undefined> {
    return this.administration.call(findLink, secretHash(secret), kind, this.administration.nowMs);
  }

  /** Uses a sign-in link. Returns its account, or undefined if it does not work any more. */
  useSignInLink(secret: string): Promise<OneTimeLink | undefined> {
    return this.administration.call(consumeLink, secretHash(secret), "sign_in", this.administration.nowMs);
  }

  /**
   * Uses an invitation: sets the password of its account and ends the account's sessions. Returns the account, or undefined if the
   * invitation does not work any more. Throws a UserError for a password that is too short or too long; refuses with `overloaded`.
   */
  async acceptInvitation(secret: string, password: string): Promise<OneTimeLink | undefined> {
    requireAccepted(password);
    const link = await this.findLink(secret, "invitation");
    if (link === undefined) return undefined;
    const hash = await hashPassword(password, link.accountId);
    return this.administration.call(consumeInvitation, secretHash(secret), hash, this.administration.nowMs);
  }

  /**
   * Sets the password of an account and ends its sessions. Returns the new credentials. Throws a UserError for a password that is too short or too
   * long.
   */
  async changePassword(accountId: string, password: string): Promise<Credentials> {
    requireAccepted(password);
    const hash = await hashPassword(password, accountId);
    await this.administration.change(accountId, "accounts password", { accountId, hash });
    return { accountId, hash };
  }
}

/** Consumes an invitation, and sets the password of its account. Returns the link with the new hash, or undefined if it does not work any more. */
const consumeInvitation = (
  opened: SqlDatabase,
  sha256: string,
  hash: string,
  atMs: number,
): Promise<OneTimeLink | undefined> =>
  opened.transaction(async (database) => {
    const link = await consumeLink(database, sha256, "invitation", atMs);
    if (link === undefined) return undefined;
    const { accountId } = link;
    await applyChange(database, "accounts password", { accountId, hash }, { actor: accountId, atMs });
    return { ...link, hash };
  });

function requireAccepted(password: string): void {
  if (!isAcceptedPassword(password)) throw new UserError(`Invalid password: expected ${passwordRule}.`);
}

interface BrowserSession extends SessionRecord {
  readonly csrfToken: string;
}

/** How exactly the time of a session's last request is known. */
const seenResolutionMs = 60_000;

const secretPattern = /^[\w-]{43}$/;

/** Sessions. The cookie is a random secret; the accounts file holds its hash. */
export class Sessions {
  constructor(private readonly administration: Administration) {}

  /** Starts a session of an account. Returns the value of its cookie; undefined if the password of a verified account has changed since. */
  async create(account: SessionAccount): Promise<string | undefined> {
    const cookie = newSecret();
    const session = { ...account, sha256: secretHash(cookie), atMs: this.administration.nowMs };
    return (await this.administration.call(insertSession, session)) ? cookie : undefined;
  }

  /** Returns the session of a cookie, or undefined if it has ended. Its idle time starts again. */
  async find(cookie: string): Promise<BrowserSession | undefined> {
    if (!secretPattern.test(cookie)) return undefined;
    const sha256 = secretHash(cookie);
    const atMs = this.administration.nowMs;
    const session = await this.administration.call(findSession, sha256, atMs);
    if (session === undefined) return undefined;
    if (atMs - session.seenAtMs > seenResolutionMs) await this.administration.call(touchSession, sha256, atMs);
    return { ...session, csrfToken: csrfTokenOf(cookie) };
  }

  end(cookie: string): Promise<void> {
    return this.administration.call(endSession, secretHash(cookie));
  }
}

/** Returns the token that forms of a session carry, so that no other site can send them. */
const csrfTokenOf = (cookie: string): string => createHmac("sha256", cookie).update("csrf token").digest("base64url");

/** Returns true if a form carries the token of a session. Constant-time. */
export function matchesCsrfToken({ csrfToken }: Pick<BrowserSession, "csrfToken">, sent: string): boolean {
  const expected = Buffer.from(csrfToken);
  const found = Buffer.from(sent);
  return expected.length === found.length && timingSafeEqual(expected, found);
}
