/** Limits the pages and downloads of each signed-in account: how many are in progress, and how many begin in a time. */
import { ConcurrencyLimit, RateLimiter, type RateLimits, requireNoExcess } from "./rate-limiter.ts";

/** What an account opens: a page, or a file of any length. */
export type VisitKind = "page" | "download";

/** The most visits of an account in progress. */
const concurrentMax: Readonly<Record<VisitKind, number>> = { page: 16, download: 2 };
/** Pages and downloads are counted together. */
const rateLimits: RateLimits = { per10s: 200, per60s: 600 };

export class VisitLimits {
  private readonly visits = new ConcurrencyLimit();
  private readonly rates: RateLimiter;

  constructor(nowMs: () => number) {
    this.rates = new RateLimiter(nowMs);
  }

  /** Counts a visit. Returns a function that ends it. Refuses with `concurrency_limit_exceeded` and `rate_limit_exceeded`. */
  enter(accountId: string, kind: VisitKind): () => void {
    const leave = this.visits.enter(`${kind} ${accountId}`, concurrentMax[kind]);
    try {
      requireNoExcess(this.rates.take(accountId, rateLimits));
      return leave;
    } catch (thrown) {
      leave();
      throw thrown;
    }
  }
}
