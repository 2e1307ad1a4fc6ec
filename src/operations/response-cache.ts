/**
 * LRU cache of answers in JSON, keyed by version, operation and request; coalesces concurrent identical requests. Entries never expire, because a
 * published version is immutable; those of earlier versions age out. A hit is metered like any other request.
 */
import { LRUCache } from "lru-cache";
import { Job } from "../db/job.ts";
import { jsonOf, type Result } from "./result.ts";

/** The body of a response in JSON, and its `pagination`. The objects of a result would stop the event loop each time that the garbage collector moves them. */
export interface ComputedAnswer extends Pick<Result, "pagination"> {
  readonly json: Buffer;
}

/** Computes a result for a job, which all requests share that wait for the result. */
type Compute = (job: Job) => Promise<Result>;

interface Computation {
  readonly job: Job;
  readonly answer: Promise<ComputedAnswer>;
}

export class ResponseCache {
  private readonly cache: LRUCache<string, ComputedAnswer> | undefined;
  private readonly computations = new Map<string, Computation>();
  private hits = 0;
  private shared = 0;
  private misses = 0;

  /** Holds at most about `bytesMax` bytes. 0 disables the cache and the coalescing. */
  constructor(bytesMax: number) {
    if (bytesMax === 0) return;
    this.cache = new LRUCache({
      maxSize: bytesMax,
      sizeCalculation: ({ json }, key) => json.length + key.length,
    });
  }

  /** The bytes are those of keys and answers. */
  get counts() {
    const { hits, shared, misses, cache } = this;
    return { hits, shared, misses, kept: cache?.size ?? 0, bytes: cache?.calculatedSize ?? 0 };
  }

  clear(): void {
    this.cache?.clear();
  }

  /**
   * Returns the answer to a request by its `keyTextOf`, computed on a miss. An error rejects all waiting callers and is not cached. The computation ends
   * early when the jobs of all waiting callers are aborted.
   */
  async getOrCompute(key: string, job: Job, compute: Compute): Promise<ComputedAnswer> {
    if (this.cache === undefined) {
      this.misses += 1;
      return inJson(await compute(job));
    }
    const cached = this.cache.get(key);
    if (cached !== undefined) {
      this.hits += 1;
      return cached;
    }
    const running = this.computations.get(key);
    if (running === undefined) this.misses += 1;
    else this.shared += 1;
    const computation = running ?? this.start(key, job, compute);
    computation.job.join(job);
    return computation.answer;
  }

  private start(key: string, { accounts }: Job, compute: Compute): Computation {
    const job = new Job(...accounts);
    const end = (): boolean => this.computations.get(key)?.job === job && this.computations.delete(key);
    // Removed at once, so that a later request does not join an aborted computation.
    job.signal.addEventListener("abort", end, { once: true });
    const answer = compute(job).then((result) => {
      const computed = inJson(result);
      this.cache?.set(key, computed);
      return computed;
    });
    const computation = { job, answer: answer.finally(end) };
    this.computations.set(key, computation);
    return computation;
  }
}

const inJson = (result: Result): ComputedAnswer => ({
  json: Buffer.from(jsonOf(result)),
  ...(result.pagination && { pagination: result.pagination }),
});

/** Returns the same text for requests with the same result, whose parameters are decoded in one order. */
export const keyTextOf = (version: string, operation: string, request: object): string =>
  `${version} ${operation} ${JSON.stringify(request)}`;
