/**
 * Authentication, rate limits and payment of requests, for the HTTP service.
 *
 * A request's price is held in memory before the work and charged in the ledger after it. The charge checks the balance again in its
 * own statement, so a stale hold never overdraws an account. A charge survives a kill of the process once it is acknowledged, and a loss of power 100 ms
 * later. Cached keys and accounts are at most a second old.
 */
import { setTimeout as pause } from "node:timers/promises";
import { refuse } from "../contract/errors.ts";
import { classifyFault, isOutcomeUnknown } from "../db/engine-faults.ts";
import { isPostgresUrl } from "../db/postgres.ts";
import { effectiveLimits } from "./account.ts";
import { Administration } from "./administration/administration.ts";
import { reviewDaily } from "./administration/changes.ts";
import { type Clock, monthOf } from "./clock.ts";
import { matchesSecret, parseApiKey } from "./keys/api-key.ts";
import type { CredentialCache } from "./keys/credential-cache.ts";
import { type CachedAccount, type CachedKey, KeyCache, KeyUseRecorder } from "./keys/key-cache.ts";
import { type ApiKey, findActiveKey, localKeyOf, recordKeyUses } from "./keys/keys.ts";
import { type ChargeEntry, postCharge } from "./ledger/charging.ts";
import {
  findRepetition,
  type IdempotentRequest,
  idempotencyMs,
  purgeIdempotencyKeys,
  type Repetition,
} from "./ledger/idempotency.ts";
import { purgeOAuthState } from "./oauth/oauth-state.ts";
import { refuseForBilling, requireFunds, type Shortfall } from "./policy/billing-state.ts";
import { FailedAuthentications, failedAuthenticationLimits } from "./policy/failed-authentications.ts";
import { prices, type UsageClass } from "./policy/prices.ts";
import { RateLimiter, type RateLimits, type RequestCounter, requireNoExcess } from "./policy/rate-limiter.ts";
import { SharedRateLimiter } from "./policy/shared-rate-limiter.ts";
import type { ReviewResult } from "./policy/tier-reviews.ts";
import { purgeSessions } from "./sign-in/sign-in-tables.ts";
import { refuseUnmetered, ServiceAccounts, type ServiceAccountsOptions } from "./storage/service-accounts.ts";

/** Options and callbacks of the ledger, and the clock. */
export interface AccountsOptions extends ServiceAccountsOptions {
  readonly clock: Clock;
  /** Whether every request is one of the same local account, without a key, a limit or a charge: `--auth=off`. */
  readonly isOpen?: boolean;
  /** Called with a charge of a refused request that may be in the ledger. */
  readonly onUndecided?: (charge: ChargeEntry) => void;
}

export interface Identity {
  readonly key: ApiKey;
  /** Shared by all keys of the account. */
  readonly cached: CachedAccount;
}

/** A price held for a request. */
export interface Hold {
  readonly usageClass: UsageClass;
  /** How often the price of the class is charged. */
  readonly units: number;
  /** The price to charge; 0 if the request repeats a charged one. */
  readonly micros: number;
  /** The idempotency key of the request, if it has one. */
  readonly request?: IdempotentRequest | undefined;
  /** Releases the hold. Idempotent. */
  release(): void;
}

const ignore = (): undefined => undefined;

/** How often, and after which pause, a charge is posted again whose outcome is not known because a connection was lost. */
const chargeRetries = 5;
const chargeRetryMs = 300;

export class Accounts {
  private readonly keys: KeyCache;
  private readonly failedAuthentications: FailedAuthentications;
  readonly administration: Administration;
  private readonly keyUses: KeyUseRecorder;
  private readonly requests: RequestCounter;
  private readonly clock: Clock;
  /** The sums of holds by account. */
  private readonly heldMicros = new Map<string, number>();
  /** The key of the local account of open access; undefined if requests need keys. */
  private localKeyId: string | undefined;

  private constructor(
    location: string,
    private readonly store: ServiceAccounts,
    private readonly options: AccountsOptions,
  ) {
    const { clock } = options;
    this.clock = clock;
    this.administration = new Administration(store, clock);
    this.keyUses = new KeyUseRecorder((uses) => this.administration.call(recordKeyUses, uses));
    const monotonicMs = (): number => clock.monotonicMs();
    this.keys = new KeyCache(
      (keyId) => store.use((database) => findActiveKey(database, keyId, monthOf(clock.wallMs()))),
      monotonicMs,
    );
    this.failedAuthentications = new FailedAuthentications(failedAuthenticationLimits, monotonicMs);
    this.requests = isPostgresUrl(location) ? new SharedRateLimiter(store) : new RateLimiter(monotonicMs);
  }

  /** Opens a file, or a PostgreSQL database by its URL; creates accounts if it has none. Throws a UserError if it cannot be opened. */
  static async open(location: string, options: AccountsOptions): Promise<Accounts> {
    const accounts = new Accounts(location, await ServiceAccounts.open(location, options), options);
    if (options.isOpen === true)
      accounts.localKeyId = await accounts.administration.call(localKeyOf, options.clock.wallMs());
    return accounts;
  }

  /** Whether requests need no key: nothing is limited or charged then. */
  get isOpen(): boolean {
    return this.localKeyId !== undefined;
  }

  /** Returns the identity of all requests to a service with open access. Refuses others with `missing_api_key`. */
  async localIdentity(): Promise<Identity> {
    if (this.localKeyId === undefined) throw refuse("missing_api_key", {});
    return this.identityOfKey(this.localKeyId);
  }

  /** Why requests cannot be charged, for operators: `ledger` while charges cannot be written or keys cannot be read. */
  get faults(): readonly string[] {
    return this.store.isAvailable ? [] : ["ledger"];
  }

  /**
   * Returns the identity of an API key, without waiting if it is cached. Refuses with `invalid_api_key`, with `too_many_invalid_api_keys` if too
   * many attempts of the client's network failed, and with `metering_unavailable` if the key cannot be looked up. Cached keys pass regardless of
   * failed attempts.
   */
  identify(apiKey: string, network: string): Identity | Promise<Identity> {
    const { keyId, secret = "" } = parseApiKey(apiKey) ?? {};
    const found = this.authenticate(this.keys, keyId, network, ({ sha256 }) => matchesSecret(secret, sha256));
    return found instanceof Promise ? found.then((key) => this.identityOf(key)) : this.identityOf(found);
  }

  /**
   * Returns the identity of a key that pays for the pages of a signed-in account. Refuses with `invalid_api_key` if the key is revoked,
   * and with `metering_unavailable` if it cannot be looked up.
   */
  async identityOfKey(keyId: string): Promise<Identity> {
    return this.identityOf(this.keys.get(keyId) ?? (await this.keys.load(keyId)));
  }

  /** Counts a request against the rate limits of the account. Refuses with `rate_limit_exceeded`; refused requests do not count. */
  async countRequest({ cached: { account } }: Identity): Promise<void> {
    if (!this.isOpen) requireNoExcess(await this.requests.take(account.accountId, effectiveLimits(account)));
  }

  /** Counts further requests against the rate limits, for the time that an uncharged request has used. */
  async countUncharged({ cached: { account } }: Identity, requests: number): Promise<void> {
    if (!this.isOpen && requests > 0) await this.requests.add(account.accountId, requests);
  }

  limits({ cached: { account } }: Identity): { readonly limits: RateLimits; readonly remaining: RateLimits } {
    const limits = effectiveLimits(account);
    return { limits, remaining: this.requests.remaining(account.accountId, limits) };
  }

  /**
   * Holds `units` times the price of a request. Refuses with a 402 code if the balance or the spend cap does not cover it and all other holds.
   */
  hold({ cached: { account } }: Identity, usageClass: UsageClass, request?: IdempotentRequest, units = 1): Hold {
    if (this.isOpen) return { usageClass, units, micros: 0, release: ignore };
    const micros = prices[usageClass] * units;
    requireFunds(account, micros, this.heldBy(account.accountId), monthOf(this.clock.wallMs()));
    this.addHeld(account.accountId, micros);
    let isHeld = true;
    const release = (): void => {
      if (isHeld) this.addHeld(account.accountId, -micros);
      isHeld = false;
    };
    return { usageClass, units, micros, request, release };
  }

  /** Returns the sum of an account's holds, in micros. */
  heldBy(accountId: string): number {
    return this.heldMicros.get(accountId) ?? 0;
  }

  private addHeld(accountId: string, micros: number): void {
    const sum = this.heldBy(accountId) + micros;
    if (sum === 0) this.heldMicros.delete(accountId);
    else this.heldMicros.set(accountId, sum);
  }

  /**
   * Holds the price of a request with an idempotency key; nothing if the account has been charged for the same request. Refuses like `hold`, and
   * with `idempotency_key_reused` if the key belongs to a different request.
   */
  async holdOnce(
    identity: Identity,
    usageClass: UsageClass,
    request: IdempotentRequest | undefined,
    units = 1,
  ): Promise<Hold> {
    if (this.isOpen || request === undefined) return this.hold(identity, usageClass, undefined, units);
    const { accountId } = identity.key;
    const atMs = this.clock.wallMs();
    const found = await this.store.use((database) => findRepetition(database, accountId, request, atMs));
    if (found === "mismatched") throw refuse("idempotency_key_reused", {});
    return this.hold(identity, usageClass, request, found === "repeated" ? 0 : units);
  }

  /**
   * Charges a hold and releases it; resolves with the charged amount when the charge is in the ledger. Idempotent by `chargeId`, and by the
   * idempotency key of the request. Refuses with a 402 code if the account can no longer pay, with `idempotency_key_reused`, and with
   * `metering_unavailable` if the charge cannot be posted.
   */
  async charge({ key: { accountId, keyId }, cached }: Identity, hold: Hold, chargeId: string): Promise<number> {
    const { micros, usageClass, units, request } = hold;
    if (micros === 0) return 0;
    const charge = { chargeId, accountId, keyId, usageClass, units, request, atMs: this.clock.wallMs() };
    try {
      const failure = await this.post(charge);
      if (failure === "repeated") return 0;
      if (failure === "mismatched") throw refuse("idempotency_key_reused", {});
      if (failure !== undefined) throw refuseForBilling(failure);
      addSpending(cached, micros, monthOf(charge.atMs));
      return micros;
    } finally {
      hold.release();
    }
  }

  /** Posts a charge, again if it is not known whether it was posted. */
  private async post(charge: ChargeEntry): Promise<Shortfall | Repetition | undefined> {
    let isUndecided = false;
    for (let retry = 0; ; retry += 1) {
      try {
        return await this.store.attempt((database) => postCharge(database, charge), "write");
      } catch (thrown) {
        isUndecided ||= isOutcomeUnknown(thrown);
        if (!isUndecided) return refuseUnmetered(thrown);
        if (retry === chargeRetries || classifyFault(thrown) !== "unreachable") break;
      }
      await pause(chargeRetryMs);
    }
    this.options.onUndecided?.(charge);
    throw refuse("metering_unavailable", {});
  }

  /** Runs today's automatic tier review. Returns its results, empty if it has already run. */
  async review(): Promise<readonly ReviewResult[]> {
    const atMs = this.clock.wallMs();
    return this.store.attempt((database) => reviewDaily(database, atMs));
  }

  async purgeExpired(): Promise<void> {
    const atMs = this.clock.wallMs();
    while (await this.store.attempt((database) => purgeIdempotencyKeys(database, atMs - idempotencyMs)));
    await this.administration.call(purgeSessions, atMs);
    await this.administration.call(purgeOAuthState, atMs);
    await this.requests.purge?.();
  }

  /** Waits for pending charges, then closes the file. Does not resolve while the disk hangs. */
  async close(): Promise<void> {
    await this.keyUses.flush();
    await this.store.close();
  }

  private identityOf(key: CachedKey | undefined): Identity {
    if (key === undefined) throw refuse("invalid_api_key", {});
    this.keyUses.add(key.key.keyId, this.clock.wallMs());
    return key;
  }

  /**
   * Returns what a credential stands for, without waiting if it is cached; undefined if it is unknown or not valid. An attempt counts as failed until the
   * credential turns out to be valid; one with a credential that was known at its last look-up, or is being looked up, counts only after the look-up.
   * Throws `too_many_invalid_api_keys`, instead of rejecting, if too many attempts of the network failed: requests pipelined behind such a one must not
   * begin.
   */
  authenticate<Value extends object>(
    cache: CredentialCache<Value>,
    id: string | undefined,
    network: string,
    isValid = (_: Value): boolean => true,
  ): Promise<Value | undefined> | Value | undefined {
    const cached = id === undefined ? null : cache.get(id);
    if (cached && isValid(cached)) return cached;
    const isKnown = cached === undefined && id !== undefined && cache.has(id);
    if (!isKnown) this.countFailure(network);
    if (cached !== undefined || id === undefined) return undefined;
    return this.loadCounting(() => cache.load(id), network, isKnown, isValid);
  }

  private async loadCounting<Value>(
    load: () => Promise<Value | undefined>,
    network: string,
    isKnown: boolean,
    isValid: (value: Value) => boolean,
  ): Promise<Value | undefined> {
    let isFailure = false;
    try {
      const found = await load();
      isFailure = found === undefined || !isValid(found);
      if (isFailure && isKnown) this.countFailure(network);
      return isFailure ? undefined : found;
    } finally {
      if (!isFailure && !isKnown) this.failedAuthentications.uncount(network);
    }
  }

  /** Counts a failed authentication. Refuses with `too_many_invalid_api_keys` if the network has reached its limit. */
  countFailure(network: string): void {
    const retryAfter = this.failedAuthentications.count(network);
    const { failuresMax: limit, windowMs } = this.failedAuthentications.limits;
    if (retryAfter !== undefined)
      throw refuse("too_many_invalid_api_keys", { limit, window: windowMs / 1000, retryAfter });
  }
}

/** Takes a charge from the cached balance, until the account is read again. */
function addSpending(cached: CachedAccount, micros: number, month: string): void {
  const { account } = cached;
  const spentMicros = (account.month === month ? account.spentMicros : 0) + micros;
  cached.account = { ...account, month, spentMicros, balanceMicros: account.balanceMicros - micros, isNew: false };
}
