/**
 * Sign-in with a password or a one-time link. Failed attempts are limited per account and client address. An unknown name and a wrong
 * password have the same result and cost the same work.
 */
import { secretHash } from "../../base/random-ids.ts";
import { UserError } from "../../base/user-error.ts";
import type { Administration } from "../administration/administration.ts";
import type { Clock } from "../clock.ts";
import { FailedAuthentications } from "../policy/failed-authentications.ts";
import { failedSignInLimits, SignInLimits } from "../policy/sign-in-limits.ts";
import type { LinkKind, OneTimeLink } from "./one-time-links.ts";
import { hashPassword, isAcceptedPassword, matchesPassword, passwordRule } from "./passwords.ts";

/** An attempt of a client to prove that it knows a password. */
export interface SignInAttempt {
  /** An account id or email address. */
  readonly name: string;
  readonly password: string;
  /** The client's network, as `clientNetwork` returns it. */
  readonly network: string;
}

/** The account that an attempt signs in to, `wrong`, or the time until the next attempt. */
export type SignInResult = { readonly accountId: string } | "wrong" | { readonly retryAfterSeconds: number };

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

  /** Checks a name and a password. An attempt counts as failed until it succeeds. Refuses with `overloaded`. */
  async attempt({ name, password, network }: SignInAttempt): Promise<SignInResult> {
    const known = name.trim().toLowerCase().slice(0, 254);
    const credentials = await this.administration.call("findCredentials", { name: known });
    // The id and the email address of an account count together.
    const source = { account: credentials?.accountId ?? known, network };
    const retryAfterSeconds = this.limits.count(source);
    if (retryAfterSeconds !== undefined) return { retryAfterSeconds };
    if (!(await matchesPassword(password, credentials?.hash)) || credentials === null) return "wrong";
    this.limits.uncount(source);
    return { accountId: credentials.accountId };
  }

  /** Checks the password of a signed-in account, before a change that needs it. Refuses with `overloaded`. */
  async confirm(accountId: string, password: string): Promise<SignInResult> {
    const retryAfterSeconds = this.failedConfirmations.count(accountId);
    if (retryAfterSeconds !== undefined) return { retryAfterSeconds };
    const credentials = await this.administration.call("findCredentials", { name: accountId });
    if (!(await matchesPassword(password, credentials?.hash))) return "wrong";
    this.failedConfirmations.uncount(accountId);
    return { accountId };
  }

  /** Returns true if an account has a password to sign in with. */
  async hasPassword(accountId: string): Promise<boolean> {
    return (await this.administration.call("findCredentials", { name: accountId })) !== null;
  }

  /** Returns the account of a one-time link without using it, or undefined if it does not work any more. */
  async findLink(secret: string, kind: LinkKind): Promise<OneTimeLink | undefined> {
    const input = { sha256: secretHash(secret), kind, atMs: this.administration.nowMs };
    return (await this.administration.call("findLink", input)) ?? undefined;
  }

  /** Uses a sign-in link. Returns its account, or undefined if it does not work any more. */
  async useSignInLink(secret: string): Promise<OneTimeLink | undefined> {
    return this.consumeLink(secret, null);
  }

  /**
   * Uses an invitation: sets the password of its account and ends the account's sessions. Returns the account, or undefined if the
   * invitation does not work any more. Throws a UserError for a password that is too short or too long; refuses with `overloaded`.
   */
  async acceptInvitation(secret: string, password: string): Promise<OneTimeLink | undefined> {
    requireAccepted(password);
    if ((await this.findLink(secret, "invitation")) === undefined) return undefined;
    return this.consumeLink(secret, await hashPassword(password));
  }

  /** Sets the password of an account and ends its sessions. Throws a UserError for a password that is too short or too long. */
  async changePassword(accountId: string, password: string): Promise<void> {
    requireAccepted(password);
    const hash = await hashPassword(password);
    await this.administration.change(accountId, "accounts password", { accountId, hash });
  }

  private async consumeLink(secret: string, passwordHash: string | null): Promise<OneTimeLink | undefined> {
    const atMs = this.administration.nowMs;
    const input = { sha256: secretHash(secret), passwordHash, atMs };
    return (await this.administration.call("consumeLink", input)) ?? undefined;
  }
}

function requireAccepted(password: string): void {
  if (!isAcceptedPassword(password)) throw new UserError(`Invalid password: expected ${passwordRule}.`);
}
