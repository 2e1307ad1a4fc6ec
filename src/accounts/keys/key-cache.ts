/**
 * Cache of API keys and their accounts, and the times of their last uses. Entries are at most `validMs` old, so that changes of the command line take effect within a
 * second. Ids of unknown keys are cached too, so that guesses do not reach the accounts file.
 */
import { LRUCache } from "lru-cache";
import { refuse } from "../../contract/errors.ts";
import type { Account } from "../account.ts";
import { matchesSecret } from "./api-key.ts";
import type { ActiveKey, ApiKey, KeyUses } from "./keys.ts";

/** A cached key older than this is refreshed in the background; one older than `validMs` is loaded again before use. */
const refreshMs = 300;
const validMs = 900;

/** Cached keys; the least recently used are forgotten. */
const keysMax = 10_000;

/** How long, and how many, unknown key ids are not looked up again. New keys work when this is over. */
const unknownMs = 500;
const unknownKeysMax = 10_000;

/** Concurrent look-ups beyond which only cached keys are loaded again, and others are refused. */
const lookUpsMax = 1_024;

/** An account as last read from the accounts file, and the sum of its holds. */
export interface CachedAccount {
  account: Account;
  heldMicros: number;
}

export interface CachedKey {
  readonly key: ApiKey;
  /** Shared by all keys of the account. */
  readonly cached: CachedAccount;
  readonly sha256: Uint8Array;
  readonly loadedAtMs: number;
}

export function hasSecret(key: CachedKey | null | undefined, secret: string): key is CachedKey {
  return key !== null && key !== undefined && matchesSecret(secret, key.sha256);
}

export class KeyCache {
  private readonly keys = new LRUCache<string, CachedKey>({ max: keysMax });
  /** The accounts that cached keys and running requests refer to: none of the latter's holds is forgotten. */
  private readonly accounts = new Map<string, WeakRef<CachedAccount>>();
  private readonly unusedAccounts = new FinalizationRegistry<string>((accountId) => {
    if (this.cachedAccount(accountId) === undefined) this.accounts.delete(accountId);
  });
  private readonly loading = new Map<string, Promise<CachedKey | undefined>>();
  /** The times until which key ids are unknown. */
  private readonly unknownUntilMs = new LRUCache<string, number>({ max: unknownKeysMax });

  constructor(
    private readonly findKey: (keyId: string) => Promise<ActiveKey | null>,
    private readonly nowMs: () => number,
  ) {}

  /** Returns a key; null if it is unknown, and undefined if it must be loaded first. */
  get(keyId: string): CachedKey | null | undefined {
    const known = this.keys.get(keyId);
    if (known === undefined) return (this.unknownUntilMs.get(keyId) ?? 0) > this.nowMs() ? null : undefined;
    const ageMs = this.nowMs() - known.loadedAtMs;
    if (ageMs > validMs) return undefined;
    if (ageMs > refreshMs) this.load(keyId).catch(() => undefined);
    return known;
  }

  /** Returns true if a key is cached at any age, or is being looked up: a request with it then costs no look-up. */
  has(keyId: string): boolean {
    return this.keys.has(keyId) || this.loading.has(keyId);
  }

  /**
   * Loads a key into the cache; concurrent callers share one look-up. Returns undefined if the key is unknown or revoked. Refuses with
   * `overloaded` if the key is not cached and too many are being looked up.
   */
  load(keyId: string): Promise<CachedKey | undefined> {
    const pending = this.loading.get(keyId);
    if (pending !== undefined) return pending;
    if (!this.keys.has(keyId) && this.loading.size >= lookUpsMax) throw refuse("overloaded", {});
    const started = this.readKey(keyId).finally(() => this.loading.delete(keyId));
    this.loading.set(keyId, started);
    return started;
  }

  private async readKey(keyId: string): Promise<CachedKey | undefined> {
    const loadedAtMs = this.nowMs();
    const found = await this.findKey(keyId);
    if (found === null) {
      this.keys.delete(keyId);
      this.unknownUntilMs.set(keyId, loadedAtMs + unknownMs);
      return undefined;
    }
    const { key, sha256, account } = found;
    const cachedKey = { key, sha256: Buffer.from(sha256, "hex"), cached: this.cacheAccount(account), loadedAtMs };
    this.keys.set(keyId, cachedKey);
    return cachedKey;
  }

  /** Replaces the cached state of an account; its holds stay. */
  private cacheAccount(account: Account): CachedAccount {
    const { accountId } = account;
    const known = this.cachedAccount(accountId);
    if (known !== undefined) {
      known.account = account;
      return known;
    }
    const cached = { account, heldMicros: 0 };
    this.accounts.set(accountId, new WeakRef(cached));
    this.unusedAccounts.register(cached, accountId);
    return cached;
  }

  private cachedAccount(accountId: string): CachedAccount | undefined {
    return this.accounts.get(accountId)?.deref();
  }
}

const writeDelayMs = 500;
const useResolutionMs = 60_000;
const usedKeysMax = 10_000;

/** Collects when keys were used, and writes that soon after a key's first use and once a minute while it is in use. */
export class KeyUseRecorder {
  private readonly recordedAtMs = new Map<string, number>();
  private readonly pending = new Map<string, number>();
  private timer: NodeJS.Timeout | undefined;

  constructor(private readonly write: (uses: KeyUses) => Promise<unknown>) {}

  add(keyId: string, atMs: number): void {
    if (atMs - (this.recordedAtMs.get(keyId) ?? 0) < useResolutionMs) return;
    if (this.recordedAtMs.size >= usedKeysMax) this.recordedAtMs.clear();
    this.recordedAtMs.set(keyId, atMs);
    this.pending.set(keyId, atMs);
    this.timer ??= setTimeout(() => void this.flush(), writeDelayMs).unref();
  }

  /** Writes the pending uses. Drops uses that cannot be written: the next use is recorded again. */
  async flush(): Promise<void> {
    clearTimeout(this.timer);
    this.timer = undefined;
    const uses = [...this.pending];
    this.pending.clear();
    if (uses.length === 0) return;
    await this.write(uses).catch(() => {
      for (const [keyId] of uses) this.recordedAtMs.delete(keyId);
    });
  }
}
