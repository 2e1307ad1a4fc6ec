/** Limits the pages and downloads of each signed-in account: how many are in progress, and how many begin in a time. */
import { ConcurrencyLimit, RateLimiter, type RateLimits } from "./rate-limiter.ts";

/** What an account opens: a page, a file of any length, or a photo of a page. */
export type VisitKind = "page" | "download" | "photo";

/** The most visits of an account in progress. */
const concurrentMax: Readonly<Record<VisitKind, number>> = { page: 16, download: 2, photo: 32 };
/** Pages and downloads are counted together. */
const rateLimits: RateLimits = { per10s: 200, per60s: 600 };
const photoRateLimits: RateLimits = { per10s: 600, per60s: 1800 };

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
      if (kind === "photo") this.rates.count(`photo ${accountId}`, photoRateLimits);
      else this.rates.count(accountId, rateLimits);
      return leave;
    } catch (thrown) {
      leave();
      throw thrown;
    }
  }
}
