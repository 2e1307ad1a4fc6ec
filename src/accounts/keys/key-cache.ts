/** Cache of API keys and their accounts, and the times of their last uses. */
import type { Account } from "../account.ts";
import { CredentialCache } from "./credential-cache.ts";
import type { ActiveKey, ApiKey, KeyUses } from "./keys.ts";

/** An account as last read, and the sum of its holds. */
export interface CachedAccount {
  account: Account;
  heldMicros: number;
}

export interface CachedKey {
  readonly key: ApiKey;
  /** Shared by all keys of the account. */
  readonly cached: CachedAccount;
  readonly sha256: Uint8Array;
}

export class KeyCache extends CredentialCache<CachedKey> {
  /** The accounts that cached keys and running requests refer to: none of the latter's holds is forgotten. */
  private readonly accounts = new Map<string, WeakRef<CachedAccount>>();
  private readonly unusedAccounts = new FinalizationRegistry<string>((accountId) => {
    if (this.cachedAccount(accountId) === undefined) this.accounts.delete(accountId);
  });

  constructor(
    private readonly findKey: (keyId: string) => Promise<ActiveKey | undefined>,
    nowMs: () => number,
  ) {
    super(nowMs);
  }

  protected async find(keyId: string): Promise<CachedKey | undefined> {
    const found = await this.findKey(keyId);
    if (found === undefined) return undefined;
    const { key, sha256, account } = found;
    return { key, sha256: Buffer.from(sha256, "hex"), cached: this.cacheAccount(account) };
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
