/**
 * Answers that are kept: a published version never changes, so what it has answered once it answers again, and what it is being
 * asked already is not asked twice. The least recently wanted go when there is no more room; those of versions before are wanted by
 * nobody. Whoever gets one is metered as everybody.
 */
import { LRUCache } from "lru-cache";
import { isObject } from "../base/json.ts";

type Make = () => Promise<Buffer>;

/** How often an answer was at hand, was being made for somebody else, or had to be made; and what is kept. */
export interface ResponseCacheCounts {
  readonly hits: number;
  readonly shared: number;
  readonly misses: number;
  readonly kept: number;
  readonly bytes: number;
}

export class ResponseCache {
  private readonly kept: LRUCache<string, Buffer, Make> | undefined;
  private hits = 0;
  private shared = 0;
  private misses = 0;

  /** Keeps so many bytes of answers and of what asked for them; with 0, none, and every answer is made. */
  constructor(bytesMost: number) {
    if (bytesMost === 0) return;
    this.kept = new LRUCache({
      maxSize: bytesMost,
      sizeCalculation: (body, key) => body.length + key.length,
      ignoreFetchAbort: true,
      fetchMethod: (_key, _stale, { context }) => context(),
    });
  }

  get counts(): ResponseCacheCounts {
    const { hits, shared, misses, kept } = this;
    return { hits, shared, misses, kept: kept?.size ?? 0, bytes: kept?.calculatedSize ?? 0 };
  }

  /** The answer to what a version has been asked, made if need be. What cannot be made is not kept. */
  async of(version: string, operation: string, request: object, make: Make): Promise<Buffer> {
    if (this.kept === undefined) {
      this.misses += 1;
      return make();
    }
    const status: LRUCache.Status<string, Buffer> = {};
    const answer = this.kept.forceFetch(`${version} ${operation} ${canonical(request)}`, { context: make, status });
    this.count(status.fetch);
    return answer;
  }

  private count(fetched: LRUCache.Status<string, Buffer>["fetch"]): void {
    if (fetched === "hit") this.hits += 1;
    else if (fetched === "inflight") this.shared += 1;
    else this.misses += 1;
  }
}

/** A request as one text, whatever the order in which its parameters came. */
const canonical = (request: object): string => JSON.stringify(sorted(request));

/** A value with the keys of its objects in order; lists hold no objects. */
function sorted(value: unknown): unknown {
  if (!isObject(value)) return value;
  const copy: Record<string, unknown> = {};
  for (const key of Object.keys(value).sort()) copy[key] = sorted(value[key]);
  return copy;
}
