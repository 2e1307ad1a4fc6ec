/**
 * Fair shares of sessions, or of the event loop: start-time fair queueing over the time that work holds them, with equal weights.
 *
 * Each account has a virtual time, its time so far. The waiting work of the account with the least virtual time starts next, so an account that has used
 * more time waits longer. An account that returns after a pause starts at the virtual time of the work that started last: pauses earn no credit.
 * What is done once, and what all accounts may wait for, goes before everything else.
 */

/** In place of an account: what is done once for all of them. */
export const everyAccount = "";

/** Session time: how long statements have held sessions, added up over concurrent ones, in milliseconds. */
export class SessionTime {
  private endedMs = 0;
  private startsMs = 0;
  private runningCount = 0;

  /** Starts from an amount of time that counts as used. */
  constructor(private readonly baseMs = 0) {}

  get running(): number {
    return this.runningCount;
  }

  /** Returns the time used until now, running statements included. */
  at(nowMs: number): number {
    return this.baseMs + this.endedMs + this.runningCount * nowMs - this.startsMs;
  }

  start(nowMs: number): void {
    this.runningCount += 1;
    this.startsMs += nowMs;
  }

  /** Ends a statement that started at `startedAtMs`. */
  end(startedAtMs: number, nowMs: number): void {
    this.runningCount -= 1;
    this.startsMs -= startedAtMs;
    this.endedMs += nowMs - startedAtMs;
  }
}

/** Above this number of accounts, those that a new share would equal are forgotten. */
const sharesMax = 1000;

export class FairShares {
  private readonly shares = new Map<string, SessionTime>();
  private virtualMs = 0;

  leastUsed(accounts: Iterable<string>, nowMs: number): { readonly account: string; readonly virtualMs: number } {
    let min = { account: "", virtualMs: Number.POSITIVE_INFINITY };
    for (const account of accounts) {
      const virtualMs = this.virtualTimeOf(account, nowMs);
      if (virtualMs < min.virtualMs) min = { account, virtualMs };
    }
    return min;
  }

  heldBy(account: string): number {
    return this.shares.get(account)?.running ?? 0;
  }

  /** Starts a statement of an account. Returns a function that ends it. */
  start(account: string, nowMs: number): (endedAtMs: number) => void {
    const virtualMs = this.virtualTimeOf(account, nowMs);
    const known = this.shares.get(account);
    const share = known === undefined || virtualMs > known.at(nowMs) ? new SessionTime(virtualMs) : known;
    this.virtualMs = Math.max(this.virtualMs, virtualMs);
    if (this.shares.size > sharesMax) this.forgetUnused(nowMs);
    this.shares.set(account, share);
    share.start(nowMs);
    return (endedAtMs) => share.end(nowMs, endedAtMs);
  }

  /** Forgets all accounts. Called when no statement waits or runs: nothing is left to be shared. */
  reset(): void {
    this.shares.clear();
    this.virtualMs = 0;
  }

  private virtualTimeOf(account: string, nowMs: number): number {
    if (account === everyAccount) return Number.NEGATIVE_INFINITY;
    const share = this.shares.get(account);
    if (share === undefined) return this.virtualMs;
    return share.running > 0 ? share.at(nowMs) : Math.max(this.virtualMs, share.at(nowMs));
  }

  private forgetUnused(nowMs: number): void {
    for (const [account, share] of this.shares)
      if (share.running === 0 && share.at(nowMs) <= this.virtualMs) this.shares.delete(account);
  }
}
