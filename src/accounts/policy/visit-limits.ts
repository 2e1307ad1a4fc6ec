/** Limits the pages and downloads of each signed-in account: how many are in progress, and how many begin in a time. */
import { refuse } from "../../contract/errors.ts";
import { RateLimiter, type RateLimits } from "./rate-limiter.ts";

/** What an account opens: a page, or a file of any length. */
export type VisitKind = "page" | "download";

/** The most visits of an account in progress. */
const concurrentMax: Readonly<Record<VisitKind, number>> = { page: 16, download: 2 };
const rateLimits: RateLimits = { per10s: 200, per60s: 600 };

export class VisitLimits {
  private readonly inProgress = new Map<string, number>();
  private readonly rates: RateLimiter;

  constructor(nowMs: () => number) {
    this.rates = new RateLimiter(nowMs);
  }

  /** Counts a visit. Returns a function that ends it. Refuses with `concurrency_limit_exceeded` and `rate_limit_exceeded`. */
  enter(accountId: string, kind: VisitKind): () => void {
    const [name, limit] = [`${kind} ${accountId}`, concurrentMax[kind]];
    const count = this.inProgress.get(name) ?? 0;
    if (count >= limit) throw refuse("concurrency_limit_exceeded", { limit, retryAfter: 1 });
    const excess = this.rates.take(accountId, rateLimits);
    if (excess !== undefined)
      throw refuse("rate_limit_exceeded", {
        ...excess,
        window: excess.windowSeconds,
        retryAfter: excess.retryAfterSeconds,
      });
    this.inProgress.set(name, count + 1);
    return () => this.leave(name);
  }

  private leave(name: string): void {
    const count = (this.inProgress.get(name) ?? 0) - 1;
    if (count <= 0) this.inProgress.delete(name);
    else this.inProgress.set(name, count);
  }
}
