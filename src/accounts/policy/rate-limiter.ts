/**
 * Limits of requests: how many are in progress, and how many begin in a time. Rate limiter: a sliding log of request times per account, with windows of 10 and 60 seconds. All keys of an account share its log.
 * Refused requests do not count.
 */
import { refuse } from "../../contract/errors.ts";

export interface RateLimits {
  readonly per10s: number;
  readonly per60s: number;
}

/** The limit that a request would exceed, and when to retry. */
export interface RateLimitExcess {
  readonly limit: number;
  readonly windowSeconds: number;
  readonly retryAfterSeconds: number;
}

const shortWindowSeconds = 10;
const longWindowSeconds = 60;

/** At this number of logs, empty ones are evicted before another is created. */
const logsMax = 10_000;

/** Counts the requests of accounts. */
export interface RequestCounter {
  /** Counts a request and returns undefined, or returns the limit it would exceed without counting it. */
  take(accountId: string, limits: RateLimits): Promise<RateLimitExcess | undefined> | RateLimitExcess | undefined;
  /** Counts a number of requests now, whether or not the limits allow them. */
  add(accountId: string, requests: number): Promise<void> | void;
  /** Returns how many requests the current windows still allow. */
  remaining(accountId: string, limits: RateLimits): RateLimits;
  /** Forgets the requests that have left the windows. */
  purge?(): Promise<unknown>;
}

/** Refuses with `rate_limit_exceeded` a request that exceeds a limit. */
export function requireNoExcess(excess: RateLimitExcess | undefined): void {
  if (excess === undefined) return;
  const { limit, windowSeconds, retryAfterSeconds } = excess;
  throw refuse("rate_limit_exceeded", { limit, window: windowSeconds, retryAfter: retryAfterSeconds });
}

export class RateLimiter implements RequestCounter {
  private readonly logs = new Map<string, RequestLog>();

  constructor(private readonly nowMs: () => number) {}

  take(accountId: string, limits: RateLimits): RateLimitExcess | undefined {
    const nowMs = this.nowMs();
    const log = this.logOf(accountId, nowMs);
    const excess = log.excess(limits, nowMs);
    if (excess === undefined) log.add(nowMs);
    return excess;
  }

  add(accountId: string, requests: number): void {
    const nowMs = this.nowMs();
    const log = this.logOf(accountId, nowMs);
    for (let count = 0; count < requests; count += 1) log.add(nowMs);
  }

  remaining(accountId: string, { per10s, per60s }: RateLimits): RateLimits {
    const log = this.logs.get(accountId);
    log?.expire(this.nowMs());
    return {
      per10s: Math.max(0, per10s - (log?.shortCount ?? 0)),
      per60s: Math.max(0, per60s - (log?.longCount ?? 0)),
    };
  }

  /** Returns the log of an account without expired times; creates it if needed. */
  private logOf(accountId: string, nowMs: number): RequestLog {
    const known = this.logs.get(accountId);
    if (known !== undefined) {
      known.expire(nowMs);
      return known;
    }
    if (this.logs.size >= logsMax) this.evictEmpty(nowMs);
    const log = new RequestLog();
    this.logs.set(accountId, log);
    return log;
  }

  private evictEmpty(nowMs: number): void {
    for (const [accountId, log] of this.logs) {
      log.expire(nowMs);
      if (log.longCount === 0) this.logs.delete(accountId);
    }
  }
}

/** The request times of an account in the last 60 seconds, and the positions at which the windows start. */
class RequestLog {
  private readonly timesMs: number[] = [];
  private longStart = 0;
  private shortStart = 0;

  get shortCount(): number {
    return this.timesMs.length - this.shortStart;
  }

  get longCount(): number {
    return this.timesMs.length - this.longStart;
  }

  expire(nowMs: number): void {
    this.longStart = this.startOf(longWindowSeconds, this.longStart, nowMs);
    this.shortStart = this.startOf(shortWindowSeconds, Math.max(this.shortStart, this.longStart), nowMs);
    if (this.longStart <= this.longCount) return;
    this.timesMs.splice(0, this.longStart);
    this.shortStart -= this.longStart;
    this.longStart = 0;
  }

  add(nowMs: number): void {
    this.timesMs.push(nowMs);
  }

  /** Returns the limit that one more request would exceed; if both, the one with the longer wait. */
  excess({ per10s, per60s }: RateLimits, nowMs: number): RateLimitExcess | undefined {
    const short = this.shortCount < per10s ? undefined : this.excessOf(per10s, shortWindowSeconds, nowMs);
    const long = this.longCount < per60s ? undefined : this.excessOf(per60s, longWindowSeconds, nowMs);
    if (short === undefined || long === undefined) return short ?? long;
    return long.retryAfterSeconds >= short.retryAfterSeconds ? long : short;
  }

  /** The wait ends when only the last `limit - 1` requests are still in the window. */
  private excessOf(limit: number, windowSeconds: number, nowMs: number): RateLimitExcess {
    const firstMs = limit === 0 ? nowMs : (this.timesMs.at(-limit) ?? nowMs);
    const waitMs = firstMs + windowSeconds * 1000 - nowMs;
    return { limit, windowSeconds, retryAfterSeconds: Math.max(1, Math.ceil(waitMs / 1000)) };
  }

  private startOf(windowSeconds: number, from: number, nowMs: number): number {
    let start = from;
    while ((this.timesMs[start] ?? nowMs) <= nowMs - windowSeconds * 1000) start += 1;
    return start;
  }
}

/** Limits what an account, or any other name, has in progress at once. */
export class ConcurrencyLimit {
  private readonly inProgress = new Map<string, number>();

  /** Counts one more in progress. Returns a function that ends it, to be called once. Refuses with `concurrency_limit_exceeded`. */
  enter(name: string, limit: number): () => void {
    const count = this.inProgress.get(name) ?? 0;
    if (count >= limit) throw refuse("concurrency_limit_exceeded", { limit, retryAfter: 1 });
    this.inProgress.set(name, count + 1);
    return () => this.leave(name);
  }

  private leave(name: string): void {
    const count = (this.inProgress.get(name) ?? 0) - 1;
    if (count === 0) this.inProgress.delete(name);
    else this.inProgress.set(name, count);
  }
}
