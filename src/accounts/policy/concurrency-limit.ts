/** Limits what an account, or any other name, has in progress at once. */
import { refuse } from "../../contract/errors.ts";

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
