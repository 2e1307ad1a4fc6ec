/**
 * Authentication, rate limits and payment of requests, for the HTTP service. One ledger worker writes charges, another one reads keys,
 * so that no number of unknown keys delays a charge.
 *
 * A request's price is held in memory before the work and charged in the ledger after it. The charge checks the balance again in its
 * own transaction, so a stale hold never overdraws an account. A charge is acknowledged only when it is on disk. Cached keys and
 * accounts are at most a second old.
 */
import { refuse } from "../contract/errors.ts";
import { effectiveLimits } from "./account.ts";
import { Administration } from "./administration/administration.ts";
import { type Clock, dayOf, monthOf } from "./clock.ts";
import { type ApiKeyParts, parseApiKey } from "./keys/api-key.ts";
import { type CachedAccount, type CachedKey, hasSecret, KeyCache, KeyUseRecorder } from "./keys/key-cache.ts";
import type { ApiKey } from "./keys/keys.ts";
import type { ChargeEntry } from "./ledger/charging.ts";
import { type IdempotentRequest, idempotencyMs } from "./ledger/idempotency.ts";
import type { UsageRange, UsageRow } from "./ledger/usage.ts";
import type { AccessToken } from "./oauth/oauth-state.ts";
import { refuseForBilling, requireFunds } from "./policy/billing-state.ts";
import { FailedAuthentications, failedAuthenticationLimits } from "./policy/failed-authentications.ts";
import { prices, type UsageClass } from "./policy/prices.ts";
import { type LimitedAccount, RateLimiter, type RateLimits } from "./policy/rate-limiter.ts";
import { onlyReplica, type Replica, rateLimitShare, shareOf } from "./policy/replica.ts";
import type { ReviewResult } from "./policy/tier-reviews.ts";
import { refuseUnmetered } from "./worker/ledger-client.ts";
import { LedgerClients, type LedgerClientsOptions } from "./worker/ledger-clients.ts";

/** Options and callbacks of the ledger, and the clock and replica that decide limits. */
export interface AccountsOptions extends Partial<Omit<LedgerClientsOptions, "onBalances">> {
  readonly clock: Clock;
  /** Whether every request is one of the same local account, without a key, a limit or a charge: `--auth=off`. */
  readonly isOpen?: boolean;
  /** The number of this service among those that share the accounts; the only one by default. */
  readonly replica?: Replica;
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
  readonly request?: IdempotentRequest;
  /** Releases the hold. Idempotent. */
  release(): void;
}

const ignore = (): undefined => undefined;
const defaults = { synchronous: "FULL", onAvailabilityChange: ignore, onBatch: ignore, onUnrefunded: ignore } as const;

export class Accounts {
  private readonly keys: KeyCache;
  private readonly failedAuthentications: FailedAuthentications;
  private readonly clients: LedgerClients;
  readonly administration: Administration;
  private readonly keyUses: KeyUseRecorder;
  private readonly rateLimiter: RateLimiter;
  private readonly replica: Replica;
  /** The key of the local account of open access; undefined if requests need keys. */
  private localKeyId: string | undefined;

  private constructor(
    location: string,
    private readonly clock: Clock,
    { replica = onlyReplica, ...options }: Omit<AccountsOptions, "clock" | "isOpen">,
  ) {
    this.replica = replica;
    this.clients = new LedgerClients(location, {
      ...defaults,
      ...options,
      onBalances: (balances) => this.keys.setBalances(balances),
    });
    this.administration = new Administration(this.clients.pages, clock);
    this.keyUses = new KeyUseRecorder((uses) => this.administration.call("recordKeyUses", { uses }));
    const monotonicMs = (): number => clock.monotonicMs();
    this.keys = new KeyCache(
      (keyId) => this.clients.reader.call("findKey", { keyId, month: monthOf(clock.wallMs()) }),
      monotonicMs,
    );
    const { failuresMax, ...limits } = failedAuthenticationLimits;
    const failureLimits = { ...limits, failuresMax: shareOf(failuresMax, replica) };
    this.failedAuthentications = new FailedAuthentications(failureLimits, monotonicMs);
    this.rateLimiter = new RateLimiter(monotonicMs);
  }

  /** Opens a file, or a PostgreSQL database by its URL; creates accounts if it has none. Throws a UserError if it cannot be opened. */
  static async open(location: string, { clock, isOpen, ...options }: AccountsOptions): Promise<Accounts> {
    const accounts = new Accounts(location, clock, options);
    await accounts.clients.open();
    if (isOpen === true)
      accounts.localKeyId = await accounts.administration.call("openLocalAccount", { atMs: clock.wallMs() });
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

  /** The accounts whose requests exceeded their rate limits last. */
  get limited(): readonly LimitedAccount[] {
    return this.rateLimiter.limited;
  }

  /** The number of tasks that wait for the ledger or are in flight. */
  get waitingTasks(): number {
    return this.clients.waitingTasks;
  }

  /** Why requests cannot be charged, for operators: `ledger` while charges cannot be written or keys cannot be read. */
  get faults(): readonly string[] {
    return this.clients.isAvailable ? [] : ["ledger"];
  }

  /**
   * Returns the identity of an API key, without waiting if it is cached. Refuses with `invalid_api_key`, with `too_many_invalid_api_keys` if too
   * many attempts of the client's network failed, and with `metering_unavailable` if the key cannot be looked up. Cached keys pass regardless of
   * failed attempts.
   */
  identify(apiKey: string, network: string): Identity | Promise<Identity> {
    const parts = parseApiKey(apiKey);
    const known = parts === undefined ? null : this.keys.get(parts.keyId);
    if (parts !== undefined && known === undefined) {
      if (this.keys.has(parts.keyId)) return this.identifyCached(parts, network);
      this.countFailure(network);
      return this.identifyNew(parts, network);
    }
    if (parts !== undefined && hasSecret(known, parts.secret)) return this.withUse(known);
    this.countFailure(network);
    throw refuse("invalid_api_key", {});
  }

  /**
   * Returns the identity of a key that pays for the pages of a signed-in account. Refuses with `invalid_api_key` if the key is revoked,
   * and with `metering_unavailable` if it cannot be looked up.
   */
  async identityOfKey(keyId: string): Promise<Identity> {
    const key = this.keys.get(keyId) ?? (await this.keys.load(keyId).catch(refuseUnmetered));
    if (key === undefined) throw refuse("invalid_api_key", {});
    return this.withUse(key);
  }

  findToken(sha256: string): Promise<AccessToken | null> {
    return this.clients.reader.call("findToken", { sha256, atMs: this.clock.wallMs() }).catch(refuseUnmetered);
  }

  /** Counts a request against the rate limits of the account. Refuses with `rate_limit_exceeded`; refused requests do not count. */
  countRequest({ cached: { account } }: Identity): void {
    if (this.isOpen) return;
    this.rateLimiter.count(account.accountId, rateLimitShare(effectiveLimits(account), this.replica));
  }

  /** Counts further requests against the rate limits, for the time that an uncharged request has used. */
  countUncharged({ cached: { account } }: Identity, requests: number): void {
    if (this.isOpen) return;
    this.rateLimiter.add(account.accountId, requests);
  }

  limits({ cached: { account } }: Identity): { readonly limits: RateLimits; readonly remaining: RateLimits } {
    const limits = rateLimitShare(effectiveLimits(account), this.replica);
    return { limits, remaining: this.rateLimiter.remaining(account.accountId, limits) };
  }

  /**
   * Holds `units` times the price of a request. Refuses with a 402 code if the balance or the spend cap does not cover it and all other holds.
   */
  hold({ cached }: Identity, usageClass: UsageClass, request?: IdempotentRequest, units = 1): Hold {
    if (this.isOpen) return { usageClass, units, micros: 0, release: ignore };
    const micros = prices[usageClass] * units;
    requireFunds(cached.account, micros, cached.heldMicros, monthOf(this.clock.wallMs()));
    cached.heldMicros += micros;
    let isHeld = true;
    const release = (): void => {
      if (isHeld) cached.heldMicros -= micros;
      isHeld = false;
    };
    const hold = { usageClass, units, micros, release };
    return request === undefined ? hold : { ...hold, request };
  }

  /**
   * Holds the price of a request with an idempotency key; nothing if the account has been charged for the same request. Refuses like `hold`, and
   * with `idempotency_key_reused` if the key belongs to a different request.
   */
  async holdOnce(identity: Identity, usageClass: UsageClass, request: IdempotentRequest, units = 1): Promise<Hold> {
    if (this.isOpen) return this.hold(identity, usageClass, undefined, units);
    const { accountId } = identity.key;
    const atMs = this.clock.wallMs();
    const found = await this.clients.reader.call("findRepetition", { accountId, request, atMs }).catch(refuseUnmetered);
    if (found === "mismatched") throw refuse("idempotency_key_reused", {});
    return this.hold(identity, usageClass, request, found === "repeated" ? 0 : units);
  }

  /**
   * Charges a hold and releases it; resolves with the charged amount when the charge is on disk. Idempotent by `chargeId`, and by the
   * idempotency key of the request. Refuses with a 402 code if the account can no longer pay, with `idempotency_key_reused`, and with
   * `metering_unavailable` if the ledger is down. A refused charge writes nothing; one whose commit comes after the refusal is refunded.
   */
  async charge(identity: Identity, hold: Hold, chargeId: string): Promise<number> {
    const { micros, release, request } = hold;
    if (micros === 0) return 0;
    const charge = this.entryOf(identity, hold, chargeId);
    const task = request === undefined ? charge : { ...charge, request };
    const failure = await this.clients.ledger.call("charge", task, release).catch(refuseUnmetered);
    if (failure === null) return micros;
    if (failure === "repeated") return 0;
    throw failure === "mismatched" ? refuse("idempotency_key_reused", {}) : refuseForBilling(failure);
  }

  /** Refunds a charge whose request failed after it, and frees its idempotency key. Resolves when the refund is on disk. */
  refund(identity: Identity, hold: Hold, chargeId: string): Promise<void> {
    return this.clients.ledger.refund([this.entryOf(identity, hold, chargeId)]);
  }

  private entryOf({ key: { accountId, keyId } }: Identity, { usageClass, units }: Hold, chargeId: string): ChargeEntry {
    return { chargeId, accountId, keyId, usageClass, units, atMs: this.clock.wallMs() };
  }

  usage({ key: { accountId } }: Identity, range: UsageRange): Promise<readonly UsageRow[]> {
    return this.clients.reader.call("listUsage", { accountId, range }).catch(refuseUnmetered);
  }

  /** Runs today's automatic tier review. Returns its results, empty if it has already run. */
  async review(): Promise<readonly ReviewResult[]> {
    const atMs = this.clock.wallMs();
    return this.clients.ledger.call("reviewTiers", { day: dayOf(atMs), atMs });
  }

  async purgeExpired(): Promise<void> {
    const atMs = this.clock.wallMs();
    while (await this.clients.ledger.call("purgeIdempotencyKeys", { beforeMs: atMs - idempotencyMs }));
    await this.administration.call("purgeExpired", { atMs });
  }

  /** Waits for pending charges, then closes the file. Does not resolve while the disk hangs. */
  async close(): Promise<void> {
    await this.keyUses.flush();
    await this.clients.close();
  }

  /** Waits for a key that is cached but too old, or is being looked up for another request. */
  private async identifyCached({ keyId, secret }: ApiKeyParts, network: string): Promise<Identity> {
    const key = await this.keys.load(keyId).catch(refuseUnmetered);
    if (hasSecret(key, secret)) return this.withUse(key);
    this.countFailure(network);
    throw refuse("invalid_api_key", {});
  }

  /** Looks up a key that is not cached. The attempt counts as failed until the key turns out to be valid. */
  private async identifyNew({ keyId, secret }: ApiKeyParts, network: string): Promise<Identity> {
    let key: CachedKey | undefined;
    try {
      key = await this.keys.load(keyId);
    } catch (thrown) {
      this.uncountFailure(network);
      return refuseUnmetered(thrown);
    }
    if (!hasSecret(key, secret)) throw refuse("invalid_api_key", {});
    this.uncountFailure(network);
    return this.withUse(key);
  }

  private withUse(key: CachedKey): CachedKey {
    this.keyUses.add(key.key.keyId, this.clock.wallMs());
    return key;
  }

  /** Takes back the count of an authentication that turned out to be valid. */
  uncountFailure(network: string): void {
    this.failedAuthentications.uncount(network);
  }

  /** Counts a failed authentication. Refuses with `too_many_invalid_api_keys` if the network has reached its limit. */
  countFailure(network: string): void {
    const retryAfter = this.failedAuthentications.count(network);
    const { failuresMax: limit, windowMs } = this.failedAuthentications.limits;
    if (retryAfter !== undefined)
      throw refuse("too_many_invalid_api_keys", { limit, window: windowMs / 1000, retryAfter });
  }
}
