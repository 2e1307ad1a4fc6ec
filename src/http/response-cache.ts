/**
 * LRU response cache, keyed by version, operation and request; coalesces concurrent identical requests. Entries never expire,
 * because a published version is immutable; those of earlier versions age out. A hit is metered like any other request.
 */
import { LRUCache } from "lru-cache";
import { isObject } from "../base/json.ts";

type ComputeBody = () => Promise<Buffer>;

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
  private readonly cache: LRUCache<string, Buffer, ComputeBody> | undefined;
  private hits = 0;
  private shared = 0;
  private misses = 0;

  /** Holds at most `bytesMax` bytes of keys and bodies. 0 disables the cache and the coalescing. */
  constructor(bytesMax: number) {
    if (bytesMax === 0) return;
    this.cache = new LRUCache({
      maxSize: bytesMax,
      sizeCalculation: (body, key) => body.length + key.length,
      ignoreFetchAbort: true,
      fetchMethod: (_key, _stale, { context }) => context(),
    });
  }

  get counts(): ResponseCacheCounts {
    const { hits, shared, misses, cache } = this;
    return { hits, shared, misses, kept: cache?.size ?? 0, bytes: cache?.calculatedSize ?? 0 };
  }

  /** Returns the body for a request to a version, computed on a miss. An error rejects all waiting callers and is not cached. */
  async getOrCompute(version: string, operation: string, request: object, compute: ComputeBody): Promise<Buffer> {
    if (this.cache === undefined) {
      this.misses += 1;
      return compute();
    }
    const status: LRUCache.Status<string, Buffer> = {};
    const key = `${version} ${operation} ${canonicalJson(request)}`;
    const body = this.cache.forceFetch(key, { context: compute, status });
    this.count(status.fetch);
    return body;
  }

  private count(outcome: LRUCache.Status<string, Buffer>["fetch"]): void {
    if (outcome === "hit") this.hits += 1;
    else if (outcome === "inflight") this.shared += 1;
    else this.misses += 1;
  }
}

/** Returns the same text for requests that differ only in the order of their parameters. */
export const canonicalJson = (request: object): string => JSON.stringify(withSortedKeys(request));

/** Sorts the keys of an object, recursively. Arrays are not searched: those of a request contain no objects. */
function withSortedKeys(value: unknown): unknown {
  if (!isObject(value)) return value;
  const copy: Record<string, unknown> = {};
  for (const key of Object.keys(value).sort()) copy[key] = withSortedKeys(value[key]);
  return copy;
}
