/**
 * Authentication, rate limits and payment of requests, for the HTTP service.
 *
 * A request's price is held in memory before the work and charged in the ledger after it. The charge checks the balance again in its
 * own transaction, so a stale hold never overdraws an account. A charge is acknowledged only when it is on disk. Cached keys and
 * accounts are at most a second old.
 */

import { refuse } from "../contract/errors.ts";
import type { QueryOf } from "../contract/types.ts";
import type { Synchronous } from "../db/sqlite.ts";
import { type Account, effectiveLimits } from "./account.ts";
import { matchesSecret, parseApiKey } from "./api-key.ts";
import { type Clock, dayOf, monthOf } from "./clock.ts";
import type { ApiKey } from "./keys.ts";
import type { AccountBalance } from "./ledger/charging.ts";
import { type UsageRange, type UsageRow, usageRange } from "./ledger/usage.ts";
import { refuseForBilling, shortfall } from "./policy/billing-state.ts";
import { prices, type UsageClass } from "./policy/prices.ts";
import { RateLimiter, type RateLimits, type RemainingRequests } from "./policy/rate-limiter.ts";
import type { ReviewResult } from "./policy/tier-reviews.ts";
import { LedgerClient, LedgerUnavailable } from "./worker/ledger-client.ts";

export interface AccountsOptions {
  readonly clock: Clock;
  /** Called when the ledger becomes unavailable, with the reason, and when it recovers. */
  readonly onAvailabilityChange?: (isDown: boolean, reason: string) => void;
  readonly synchronous?: Synchronous;
  /** The module that the ledger worker runs; tests pass one that crashes. */
  readonly workerModule?: URL;
}

const ledgerWorkerModule = new URL("./worker/ledger-worker.ts", import.meta.url);

const bounds = {
  /** A cached key older than this is refreshed in the background; one older than `validMs` is loaded again before use. */
  refreshMs: 300,
  validMs: 900,
  /** Cached keys; the cache is cleared when it is full. */
  keysMost: 10_000,
  batchMost: 512,
  waitingMost: 4096,
  /** Engine time of an uncharged request that counts as one request. */
  unchargedMs: 100,
  busyMs: 2_000,
  stalledMs: 5_000,
  restartMs: 1_000,
} as const;

/** An account as last read from the ledger, and the sum of its holds. */
interface CachedAccount {
  account: Account;
  heldMicros: number;
}

/** The caller of an authenticated request. */
export interface Identity {
  readonly key: ApiKey;
  /** Shared by all keys of the account. */
  readonly cached: CachedAccount;
}

interface CachedKey extends Identity {
  readonly sha256: Uint8Array;
  readonly loadedAtMs: number;
}

/** A price held for a request. */
export interface Hold {
  readonly usageClass: UsageClass;
  readonly micros: number;
  /** Releases the hold. Idempotent. */
  release(): void;
}

export class Accounts {
  private readonly keys = new Map<string, CachedKey>();
  private readonly loading = new Map<string, Promise<CachedKey | undefined>>();
  private readonly accounts = new Map<string, CachedAccount>();
  private readonly ledger: LedgerClient;
  private readonly rateLimiter: RateLimiter;

  private constructor(
    path: string,
    private readonly clock: Clock,
    {
      onAvailabilityChange = () => undefined,
      synchronous = "FULL",
      workerModule = ledgerWorkerModule,
    }: Omit<AccountsOptions, "clock">,
  ) {
    const { busyMs, ...clientBounds } = bounds;
    const onBalances = (balances: readonly AccountBalance[]): void => {
      for (const { accountId, ...balance } of balances) {
        const cached = this.accounts.get(accountId);
        if (cached !== undefined) cached.account = { ...cached.account, ...balance };
      }
    };
    this.ledger = new LedgerClient(
      { path, busyMs, synchronous },
      { ...clientBounds, workerModule, onBalances, onAvailabilityChange },
    );
    this.rateLimiter = new RateLimiter(() => clock.monotonicMs());
  }

  /** Opens an accounts file; creates it if it does not exist. Throws a UserError if it cannot be opened. */
  static async open(path: string, { clock, ...options }: AccountsOptions): Promise<Accounts> {
    const accounts = new Accounts(path, clock, options);
    await accounts.ledger.open();
    return accounts;
  }

  /** Returns the identity of an API key. Refuses with `invalid_api_key`, or `metering_unavailable` if the ledger is down. */
  async identify(apiKey: string): Promise<Identity> {
    const parts = parseApiKey(apiKey);
    if (parts === undefined) throw refuse("invalid_api_key", {});
    let key = this.keys.get(parts.keyId);
    const ageMs = key === undefined ? Number.POSITIVE_INFINITY : this.clock.monotonicMs() - key.loadedAtMs;
    if (ageMs > bounds.validMs) key = await this.loadKey(parts.keyId);
    else if (ageMs > bounds.refreshMs) this.loadKey(parts.keyId).catch(() => undefined);
    if (key === undefined || !matchesSecret(parts.secret, key.sha256)) throw refuse("invalid_api_key", {});
    return key;
  }

  /** Counts a request against the rate limits of the account. Refuses with `rate_limit_exceeded`; refused requests do not count. */
  countRequest({ cached: { account } }: Identity): void {
    const excess = this.rateLimiter.take(account.accountId, effectiveLimits(account));
    if (excess === undefined) return;
    const { limit, windowSeconds, retryAfterSeconds } = excess;
    throw refuse("rate_limit_exceeded", { limit, window: windowSeconds, retryAfter: retryAfterSeconds });
  }

  /** Counts the engine time of a request that ends without a charge: as one request, counted already, for each started 100 ms. */
  countUncharged({ cached: { account } }: Identity, engineMs: number): void {
    this.rateLimiter.add(account.accountId, Math.ceil(engineMs / bounds.unchargedMs) - 1);
  }

  /** Returns the rate limits of the account and the requests that remain in the current windows. */
  limits({ cached: { account } }: Identity): { readonly limits: RateLimits; readonly remaining: RemainingRequests } {
    const limits = effectiveLimits(account);
    return { limits, remaining: this.rateLimiter.remaining(account.accountId, limits) };
  }

  /** Holds the price of a request. Refuses with a 402 code if the balance or the spend cap does not cover it and all other holds. */
  hold({ cached }: Identity, usageClass: UsageClass): Hold {
    const { account, heldMicros } = cached;
    const micros = prices[usageClass];
    const isThisMonth = account.month === monthOf(this.clock.wallMs());
    const short = shortfall(
      {
        ...account,
        balanceMicros: account.balanceMicros - heldMicros,
        spentMicros: (isThisMonth ? account.spentMicros : 0) + heldMicros,
      },
      micros,
    );
    if (short !== undefined) throw refuseForBilling(short);
    cached.heldMicros += micros;
    let isHeld = true;
    const release = (): void => {
      if (isHeld) cached.heldMicros -= micros;
      isHeld = false;
    };
    return { usageClass, micros, release };
  }

  /**
   * Charges a hold and releases it; resolves when the charge is on disk. Idempotent by `chargeId`. Refuses with a 402 code if the
   * account can no longer pay, and with `metering_unavailable` if the ledger is down. A refused charge writes nothing, except that a
   * charge whose worker crashed may be on disk if no worker could look it up in time.
   */
  async charge({ key }: Identity, { usageClass, release }: Hold, chargeId: string): Promise<void> {
    const { accountId, keyId } = key;
    const charge = { chargeId, accountId, keyId, usageClass, atMs: this.clock.wallMs() };
    const short = await this.ledger.call("charge", charge, release).catch(refuseUnmetered);
    if (short !== null) throw refuseForBilling(short);
  }

  /** Operation `getUsage`: returns the usage of the account, with the range that it covers. */
  async usage(
    { key }: Identity,
    query: QueryOf<"getUsage">,
  ): Promise<{ readonly range: UsageRange; readonly rows: readonly UsageRow[] }> {
    const range = usageRange(query, dayOf(this.clock.wallMs()));
    const rows = await this.ledger.call("listUsage", { accountId: key.accountId, range }).catch(refuseUnmetered);
    return { range, rows };
  }

  /** Runs today's automatic tier review. Returns its results, empty if it has already run. */
  async review(): Promise<readonly ReviewResult[]> {
    return this.ledger.call("reviewTiers", { day: dayOf(this.clock.wallMs()) });
  }

  /** Waits for pending charges, then closes the file. */
  close(): Promise<void> {
    return this.ledger.close();
  }

  /** Loads a key into the cache; concurrent callers share one lookup. */
  private loadKey(keyId: string): Promise<CachedKey | undefined> {
    const pending = this.loading.get(keyId) ?? this.fetchKey(keyId).finally(() => this.loading.delete(keyId));
    this.loading.set(keyId, pending);
    return pending;
  }

  private async fetchKey(keyId: string): Promise<CachedKey | undefined> {
    const loadedAtMs = this.clock.monotonicMs();
    const found = await this.ledger
      .call("findKey", { keyId, month: monthOf(this.clock.wallMs()) })
      .catch(refuseUnmetered);
    if (found === null) {
      this.keys.delete(keyId);
      return undefined;
    }
    if (this.keys.size >= bounds.keysMost) {
      this.keys.clear();
      this.accounts.clear();
    }
    const { key, sha256, account } = found;
    const cachedKey = { key, sha256: Buffer.from(sha256, "hex"), cached: this.cacheAccount(account), loadedAtMs };
    this.keys.set(keyId, cachedKey);
    return cachedKey;
  }

  /** Replaces the cached state of an account; its holds stay. */
  private cacheAccount(account: Account): CachedAccount {
    const cached = this.accounts.get(account.accountId) ?? { account, heldMicros: 0 };
    cached.account = account;
    this.accounts.set(account.accountId, cached);
    return cached;
  }
}

/** Fails closed: a request that cannot be metered is refused. */
function refuseUnmetered(thrown: unknown): never {
  throw thrown instanceof LedgerUnavailable ? refuse("metering_unavailable", {}) : thrown;
}
