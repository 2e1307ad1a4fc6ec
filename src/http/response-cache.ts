/**
 * LRU response cache, keyed by version, operation, format and request; coalesces concurrent identical requests. Entries never expire,
 * because a published version is immutable; those of earlier versions age out. A hit is metered like any other request.
 */
import { LRUCache } from "lru-cache";
import { isObject } from "../base/json.ts";
import { Job } from "../db/job.ts";
import type { FormatName } from "../formats/table-formats.ts";
import type { Pagination } from "./present.ts";

/** The body of a response, and what its headers depend on. */
export interface CachedResponse {
  readonly body: Buffer;
  readonly pagination?: Pagination | undefined;
}

/** Computes a response for a job, which all requests share that wait for the response. */
type ComputeResponse = (job: Job) => Promise<CachedResponse>;

/** What a response depends on. */
export interface ResponseKey {
  readonly version: string;
  readonly operation: string;
  readonly format: FormatName;
  readonly request: object;
}

/** A response that is being computed. */
interface Computation {
  readonly job: Job;
  readonly response: Promise<CachedResponse>;
}

export interface ResponseCacheCounts {
  readonly hits: number;
  /** Requests that joined the computation of an identical request. */
  readonly shared: number;
  readonly misses: number;
  /** Entries in the cache. */
  readonly kept: number;
  /** Size of keys and bodies. */
  readonly bytes: number;
}

export class ResponseCache {
  private readonly cache: LRUCache<string, CachedResponse> | undefined;
  private readonly computations = new Map<string, Computation>();
  private hits = 0;
  private shared = 0;
  private misses = 0;

  /** Holds at most `bytesMax` bytes of keys and bodies. 0 disables the cache and the coalescing. */
  constructor(bytesMax: number) {
    if (bytesMax === 0) return;
    this.cache = new LRUCache({
      maxSize: bytesMax,
      sizeCalculation: ({ body }, key) => body.length + key.length,
    });
  }

  get counts(): ResponseCacheCounts {
    const { hits, shared, misses, cache } = this;
    return { hits, shared, misses, kept: cache?.size ?? 0, bytes: cache?.calculatedSize ?? 0 };
  }

  /** Removes all entries. */
  clear(): void {
    this.cache?.clear();
  }

  /**
   * Returns the response to a request, computed on a miss. An error rejects all waiting callers and is not cached. The computation ends early
   * when the jobs of all waiting callers are aborted.
   */
  async getOrCompute(parts: ResponseKey, job: Job, compute: ComputeResponse): Promise<CachedResponse> {
    if (this.cache === undefined) {
      this.misses += 1;
      return compute(job);
    }
    const key = keyTextOf(parts);
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
    return computation.response;
  }

  private start(key: string, { accounts }: Job, compute: ComputeResponse): Computation {
    const job = new Job(...accounts);
    const end = (): boolean => this.computations.get(key)?.job === job && this.computations.delete(key);
    // At once, so that a later request does not join what has been aborted.
    job.signal.addEventListener("abort", end, { once: true });
    const response = compute(job).then((computed) => {
      this.cache?.set(key, computed);
      return computed;
    });
    const computation = { job, response: response.finally(end) };
    this.computations.set(key, computation);
    return computation;
  }
}

/** Returns the same text for what has the same response. */
export const keyTextOf = ({ version, operation, format, request }: ResponseKey): string =>
  `${version} ${operation} ${format} ${canonicalJson(request)}`;

/** Returns the same text for requests that differ only in the order of their parameters. */
export const canonicalJson = (request: object): string => JSON.stringify(withSortedKeys(request));

/** Sorts the keys of an object, recursively. Arrays are not searched: those of a request contain no objects. */
function withSortedKeys(value: unknown): unknown {
  if (!isObject(value)) return value;
  const copy: Record<string, unknown> = {};
  for (const key of Object.keys(value).sort()) copy[key] = withSortedKeys(value[key]);
  return copy;
}
