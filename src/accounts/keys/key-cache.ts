/** Cache of API keys and their accounts, and the times of their last uses. */
import { LRUCache } from "lru-cache";
import type { Account } from "../account.ts";
import { CredentialCache, credentialsMax } from "./credential-cache.ts";
import type { ActiveKey, ApiKey, KeyUses } from "./keys.ts";

/** An account as last read, less what has been charged since. */
export interface CachedAccount {
  account: Account;
}

export interface CachedKey {
  readonly key: ApiKey;
  /** Shared by all keys of the account. */
  readonly cached: CachedAccount;
  readonly sha256: Uint8Array;
}

export class KeyCache extends CredentialCache<CachedKey> {
  private readonly accounts = new LRUCache<string, CachedAccount>({ max: credentialsMax });

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
    const cached = this.accounts.get(account.accountId) ?? { account };
    cached.account = account;
    this.accounts.set(account.accountId, cached);
    return { key, sha256: Buffer.from(sha256, "hex"), cached };
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
