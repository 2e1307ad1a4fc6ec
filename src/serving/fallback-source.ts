/** A listing source that answers from a search index, and from Parquet when the index is damaged. */
import { messageOf } from "../base/user-error.ts";
import { classifyFault } from "../db/engine-faults.ts";
import type { ListingSource } from "../listing/source.ts";

/** Returns the combined source. Calls `onDamage` when a request finds the index damaged; Parquet answers this request too. Any other fault fails its request only. */
export function sourceWithFallback(
  index: ListingSource,
  parquet: ListingSource,
  onDamage: (fault: string) => void,
): ListingSource {
  const withFallback = <T>(request: (source: ListingSource) => Promise<T>): Promise<T> =>
    request(index).catch((thrown: unknown) => {
      if (classifyFault(thrown) !== "damaged") throw thrown;
      onDamage(messageOf(thrown));
      return request(parquet);
    });
  return {
    count: index.count,
    findPage: (request) => withFallback((source) => source.findPage(request)),
    countValues: (request) => withFallback((source) => source.countValues(request)),
    measureValues: (request) => withFallback((source) => source.measureValues(request)),
  };
}
