/**
 * Fair shares of sessions, or of the event loop, between accounts.
 *
 * The waiting work of the account starts next that has used the least time lately: what it used counts half after each second. Accounts that always wait
 * get equal times, one that uses less than its share waits for none of them, and neither a pause nor much work is remembered for long.
 * What is done once, and what all accounts may wait for, goes before everything else.
 */

/** In place of an account: what is done once for all of them. */
export const everyAccount = "";

/**
 * Used time: how long work has held sessions or the event loop, added up over what runs concurrently, in milliseconds. It counts half after each
 * `halfLifeMs`; without one, it stays.
 */
export class UsedTime {
  private usedMs = 0;
  private atMs = 0;
  private runningCount = 0;

  constructor(private readonly halfLifeMs = Number.POSITIVE_INFINITY) {}

  get running(): number {
    return this.runningCount;
  }

  /** Returns the time used until now, that of running work included. */
  at(nowMs: number): number {
    const passedMs = nowMs - this.atMs;
    this.usedMs = this.usedMs * 0.5 ** (passedMs / this.halfLifeMs) + this.runningCount * passedMs;
    this.atMs = nowMs;
    return this.usedMs;
  }

  start(nowMs: number): void {
    this.at(nowMs);
    this.runningCount += 1;
  }

  end(nowMs: number): void {
    this.at(nowMs);
    this.runningCount -= 1;
  }
}

/** The time after which what an account has used counts half. */
const halfLifeMs = 1_000;

/** Above this number of accounts, those are forgotten that have hardly used any time lately. */
const sharesMax = 1000;
const forgottenMs = 0.1;

export class FairShares {
  private readonly shares = new Map<string, UsedTime>();

  /** Returns the account that has used the least time lately, and that time; less than none for what goes before all accounts. */
  leastUsed(accounts: Iterable<string>, nowMs: number): { readonly account: string; readonly usedMs: number } {
    let min = { account: "", usedMs: Number.POSITIVE_INFINITY };
    for (const account of accounts) {
      const usedMs = account === everyAccount ? Number.NEGATIVE_INFINITY : (this.shares.get(account)?.at(nowMs) ?? 0);
      if (usedMs < min.usedMs) min = { account, usedMs };
    }
    return min;
  }

  heldBy(account: string): number {
    return this.shares.get(account)?.running ?? 0;
  }

  /** Starts work of an account. Returns a function that ends it. */
  start(account: string, nowMs: number): (endedAtMs: number) => void {
    if (this.shares.size > sharesMax) this.forgetUnused(nowMs);
    const share = this.shares.get(account) ?? new UsedTime(halfLifeMs);
    this.shares.set(account, share);
    share.start(nowMs);
    return (endedAtMs) => share.end(endedAtMs);
  }

  private forgetUnused(nowMs: number): void {
    for (const [account, share] of this.shares)
      if (share.running === 0 && share.at(nowMs) < forgottenMs) this.shares.delete(account);
  }
}
