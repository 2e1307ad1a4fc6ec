/**
 * Accounts, as the service has them: who presents a key, how often they may ask, and what they pay.
 *
 * A price is held in memory before the work and charged in the ledger after it; the charge looks again, in its own transaction,
 * whether the account can pay, so that a hold may be a little out of date and the ledger never is. Nobody is told that a charge
 * was made before it is on the disk. What is known of a key is looked up again within a second.
 */

import { refuse } from "../contract/errors.ts";
import type { QueryOf } from "../contract/types.ts";
import type { Synchronous } from "../db/sqlite.ts";
import { type Account, effectiveLimits } from "./account.ts";
import { matchesSecret, parseApiKey } from "./api-key.ts";
import { type Clock, dayOf, monthOf } from "./clock.ts";
import type { ApiKey } from "./keys.ts";
import type { ChargeResult } from "./ledger/charging.ts";
import { usageRange } from "./ledger/usage.ts";
import { refuseForBilling, shortfall } from "./policy/billing-state.ts";
import { prices, type UsageClass } from "./policy/prices.ts";
import { RateLimiter, type RateLimits, type RemainingRequests } from "./policy/rate-limiter.ts";
import type { ReviewResult } from "./policy/tier-reviews.ts";
import { LedgerClient, LedgerUnavailable } from "./worker/ledger-client.ts";

export interface AccountsOptions {
  readonly clock: Clock;
  /** Called when the ledger cannot be written any more, and when it can again. */
  readonly onChange?: (isDown: boolean, why: string) => void;
  readonly synchronous?: Synchronous;
  /** The module that the ledger's thread runs; a test runs one that ends it. */
  readonly thread?: URL;
}

const ledgerThread = new URL("./worker/ledger-worker.ts", import.meta.url);

const bounds = {
  /** What is known of a key is looked up again in the background after this time, and not used any more after that. */
  refreshMs: 300,
  validMs: 900,
  /** Keys that are known at a time; when there are more, all are looked up again. */
  keysMost: 10_000,
  batchMost: 512,
  waitingMost: 4096,
  busyMs: 2_000,
  stalledMs: 5_000,
  restartMs: 1_000,
} as const;

/** An account as it was last seen, and what is held of its balance. */
interface Held {
  account: Account;
  micros: number;
}

/** Somebody who has presented a valid key. */
export interface Identity {
  readonly key: ApiKey;
  /** What is held of the account's balance, shared by all its keys. */
  readonly held: Held;
}

interface Known extends Identity {
  readonly sha256: Uint8Array;
  readonly loadedAtMs: number;
}

/** A price that is held for a request. */
export interface Hold {
  readonly usageClass: UsageClass;
  readonly micros: number;
  /** Lets it go, unless that has happened. */
  release(): void;
}

export class Accounts {
  private readonly known = new Map<string, Known>();
  private readonly loading = new Map<string, Promise<Known | undefined>>();
  private readonly held = new Map<string, Held>();
  private readonly ledger: LedgerClient;
  private readonly rateLimiter: RateLimiter;

  private constructor(
    path: string,
    private readonly clock: Clock,
    { onChange = () => undefined, synchronous = "FULL", thread = ledgerThread }: Omit<AccountsOptions, "clock">,
  ) {
    const { busyMs, ...lineBounds } = bounds;
    const onCharged = (charged: readonly ChargeResult[]): void => {
      for (const { accountId, ...funds } of charged) {
        const held = this.held.get(accountId);
        if (held !== undefined) held.account = { ...held.account, ...funds };
      }
    };
    this.ledger = new LedgerClient({ path, busyMs, synchronous }, { ...lineBounds, thread, onCharged, onChange });
    this.rateLimiter = new RateLimiter(() => clock.monotonicMs());
  }

  /** Opens an accounts file, and makes it when there is none. */
  static async open(path: string, { clock, ...options }: AccountsOptions): Promise<Accounts> {
    const accounts = new Accounts(path, clock, options);
    await accounts.ledger.open();
    return accounts;
  }

  /** Who presents a key; refuses with `invalid_api_key`, or `metering_unavailable` when that cannot be told. */
  async identify(key: string): Promise<Identity> {
    const parts = parseApiKey(key);
    if (parts === undefined) throw refuse("invalid_api_key", {});
    let known = this.known.get(parts.keyId);
    const ageMs = known === undefined ? Number.POSITIVE_INFINITY : this.clock.monotonicMs() - known.loadedAtMs;
    if (ageMs > bounds.validMs) known = await this.load(parts.keyId);
    else if (ageMs > bounds.refreshMs) this.load(parts.keyId).catch(() => undefined);
    if (known === undefined || !matchesSecret(parts.secret, known.sha256)) throw refuse("invalid_api_key", {});
    return known;
  }

  /** Counts a request against the account's limits; refuses with `rate_limit_exceeded` when it exceeds one. */
  countRequest({ held: { account } }: Identity): void {
    const excess = this.rateLimiter.take(account.accountId, effectiveLimits(account));
    if (excess === undefined) return;
    const { limit, windowSeconds, retryAfterSeconds } = excess;
    throw refuse("rate_limit_exceeded", { limit, window: windowSeconds, retryAfter: retryAfterSeconds });
  }

  /** The limits of an account, and what is left of them now. */
  limits({ held: { account } }: Identity): { readonly limits: RateLimits; readonly left: RemainingRequests } {
    const limits = effectiveLimits(account);
    return { limits, left: this.rateLimiter.left(account.accountId, limits) };
  }

  /** Holds the price of a request; refuses with the codes of 402 when the account cannot pay it on top of what is held. */
  hold({ held }: Identity, usageClass: UsageClass): Hold {
    const { account } = held;
    const micros = prices[usageClass];
    const isThisMonth = account.month === monthOf(this.clock.wallMs());
    const short = shortfall(
      {
        ...account,
        balanceMicros: account.balanceMicros - held.micros,
        spentMicros: (isThisMonth ? account.spentMicros : 0) + held.micros,
      },
      micros,
    );
    if (short !== undefined) throw refuseForBilling(short);
    held.micros += micros;
    let isHeld = true;
    const release = (): void => {
      if (isHeld) held.micros -= micros;
      isHeld = false;
    };
    return { usageClass, micros, release };
  }

  /**
   * Charges what is held; resolves when the charge is on the disk. Refuses with the codes of 402 when the account cannot pay any
   * more, and with `metering_unavailable` when the ledger cannot be written; then nothing is charged.
   */
  async charge({ key }: Identity, { usageClass, release }: Hold, chargeId: string): Promise<void> {
    const { accountId, keyId } = key;
    const charge = { chargeId, accountId, keyId, usageClass, atMs: this.clock.wallMs() };
    const short = await this.ledger.ask("charge", charge, release).catch(refuseUnmetered);
    if (short !== null) throw refuseForBilling(short);
  }

  /** Operation `getUsage`: the account's usage, with the range that it is of. */
  async usage({ key }: Identity, query: QueryOf<"getUsage">) {
    const range = usageRange(query, dayOf(this.clock.wallMs()));
    const rows = await this.ledger.ask("usage", { accountId: key.accountId, range }).catch(refuseUnmetered);
    return { range, rows };
  }

  /** The automatic tier review of today, unless it has been made. */
  async review(): Promise<readonly ReviewResult[]> {
    return this.ledger.ask("review", { day: dayOf(this.clock.wallMs()) });
  }

  /** Waits for the charges that are being made, and closes the file. */
  close(): Promise<void> {
    return this.ledger.close();
  }

  /** Looks a key up, once for all who wait for it. */
  private load(keyId: string): Promise<Known | undefined> {
    const known = this.loading.get(keyId) ?? this.present(keyId).finally(() => this.loading.delete(keyId));
    this.loading.set(keyId, known);
    return known;
  }

  private async present(keyId: string): Promise<Known | undefined> {
    const loadedAtMs = this.clock.monotonicMs();
    const found = await this.ledger
      .ask("present", { keyId, month: monthOf(this.clock.wallMs()) })
      .catch(refuseUnmetered);
    if (found === null) {
      this.known.delete(keyId);
      return undefined;
    }
    if (this.known.size >= bounds.keysMost) {
      this.known.clear();
      this.held.clear();
    }
    const { key, sha256, account } = found;
    const known = { key, sha256: Buffer.from(sha256, "hex"), held: this.see(account), loadedAtMs };
    this.known.set(keyId, known);
    return known;
  }

  /** Takes an account as it is in the ledger now. */
  private see(account: Account): Held {
    const held = this.held.get(account.accountId) ?? { account, micros: 0 };
    held.account = account;
    this.held.set(account.accountId, held);
    return held;
  }
}

/** Nothing is answered that could not be billed. */
function refuseUnmetered(thrown: unknown): never {
  throw thrown instanceof LedgerUnavailable ? refuse("metering_unavailable", {}) : thrown;
}
