/** A listing source that answers from a search index, and from Parquet when the index is damaged. */
import { messageOf, UserError } from "../base/user-error.ts";
import { classifyFault } from "../db/engine-faults.ts";
import type { ListingSource } from "../listing/source.ts";

/**
 * Returns the combined source. `open` returns the index for each request. Calls `onDamage` when it finds the index damaged, or cannot open it;
 * Parquet answers this request too. Any other fault fails its request only.
 */
export function sourceWithFallback(
  open: () => Promise<ListingSource>,
  parquet: ListingSource,
  onDamage: (fault: string) => void,
): ListingSource {
  const withFallback = async <T>(request: (source: ListingSource) => Promise<T>): Promise<T> => {
    try {
      return await request(await open());
    } catch (thrown) {
      if (!(thrown instanceof UserError) && classifyFault(thrown) !== "damaged") throw thrown;
      onDamage(messageOf(thrown));
      return request(parquet);
    }
  };
  return {
    count: parquet.count,
    findPage: (request) => withFallback((source) => source.findPage(request)),
    countValues: (request) => withFallback((source) => source.countValues(request)),
    measureValues: (request) => withFallback((source) => source.measureValues(request)),
  };
}
