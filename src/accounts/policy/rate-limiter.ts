/**
 * Rate limits (section 8.2 of the specification): how often an account has asked in the last 10 and in the last 60 seconds. All its
 * keys share one log of times, which slides with a monotonic clock; what is refused does not use it up.
 */

/** Requests that an account may make in 10 and in 60 seconds. */
export interface RateLimits {
  readonly per10s: number;
  readonly per60s: number;
}

/** What is left of an account's limits. */
export interface RemainingRequests {
  readonly per10s: number;
  readonly per60s: number;
}

/** Why and until when a request is refused. */
export interface RateLimitExcess {
  readonly limit: number;
  readonly windowSeconds: number;
  readonly retryAfterSeconds: number;
}

const [shortSeconds, longSeconds] = [10, 60];
/** When so many accounts are known, those that have not asked for a minute are forgotten. */
const accountsMost = 10_000;

export class RateLimiter {
  private readonly logs = new Map<string, Log>();

  constructor(private readonly nowMs: () => number) {}

  /** Notes a request of an account, unless it exceeds a limit. */
  take(account: string, limits: RateLimits): RateLimitExcess | undefined {
    const nowMs = this.nowMs();
    const log = this.logOf(account, nowMs);
    const excess = log.excess(limits, nowMs);
    if (excess === undefined) log.add(nowMs);
    return excess;
  }

  /** What is left of an account's limits now. */
  left(account: string, { per10s, per60s }: RateLimits): RemainingRequests {
    const log = this.logs.get(account);
    log?.forget(this.nowMs());
    return {
      per10s: Math.max(0, per10s - (log?.inShort ?? 0)),
      per60s: Math.max(0, per60s - (log?.inLong ?? 0)),
    };
  }

  private logOf(account: string, nowMs: number): Log {
    const known = this.logs.get(account);
    if (known !== undefined) {
      known.forget(nowMs);
      return known;
    }
    if (this.logs.size >= accountsMost) this.forgetIdle(nowMs);
    const log = new Log();
    this.logs.set(account, log);
    return log;
  }

  private forgetIdle(nowMs: number): void {
    for (const [account, log] of this.logs) {
      log.forget(nowMs);
      if (log.inLong === 0) this.logs.delete(account);
    }
  }
}

/** The times of an account's requests in the last 60 seconds, in a ring that grows; positions count on for ever. */
class Log {
  private times = new Float64Array(64);
  private longFrom = 0;
  private shortFrom = 0;
  private end = 0;

  get inShort(): number {
    return this.end - this.shortFrom;
  }

  get inLong(): number {
    return this.end - this.longFrom;
  }

  forget(nowMs: number): void {
    while (this.longFrom < this.end && this.at(this.longFrom) <= nowMs - longSeconds * 1000) this.longFrom += 1;
    this.shortFrom = Math.max(this.shortFrom, this.longFrom);
    while (this.shortFrom < this.end && this.at(this.shortFrom) <= nowMs - shortSeconds * 1000) this.shortFrom += 1;
  }

  add(nowMs: number): void {
    if (this.inLong === this.times.length) this.grow();
    this.times[this.end % this.times.length] = nowMs;
    this.end += 1;
  }

  /** The limit that one more request would exceed; of two, the one that holds for longer. */
  excess({ per10s, per60s }: RateLimits, nowMs: number): RateLimitExcess | undefined {
    const short = this.inShort < per10s ? undefined : this.excessOf(per10s, shortSeconds, nowMs);
    const long = this.inLong < per60s ? undefined : this.excessOf(per60s, longSeconds, nowMs);
    if (short === undefined || long === undefined) return short ?? long;
    return long.retryAfterSeconds >= short.retryAfterSeconds ? long : short;
  }

  /** There is room again when the last request but `limit - 1` has left the window. */
  private excessOf(limit: number, windowSeconds: number, nowMs: number): RateLimitExcess {
    const untilMs = limit === 0 ? windowSeconds * 1000 : this.at(this.end - limit) + windowSeconds * 1000 - nowMs;
    return { limit, windowSeconds, retryAfterSeconds: Math.max(1, Math.ceil(untilMs / 1000)) };
  }

  private at(position: number): number {
    return this.times[position % this.times.length] ?? Number.NaN;
  }

  private grow(): void {
    const larger = new Float64Array(this.times.length * 2);
    for (let position = this.longFrom; position < this.end; position += 1)
      larger[position % larger.length] = this.at(position);
    this.times = larger;
  }
}
