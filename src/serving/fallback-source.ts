/** Answers from search indexes, and from Parquet when an index is damaged. */
import { messageOf, UserError } from "../base/user-error.ts";
import { classifyFault } from "../db/engine-faults.ts";
import type { ListingSource } from "../listing/source.ts";

/**
 * Returns a function that runs a request on the source that `open` returns. Calls `onDamage` when that finds an index damaged, or cannot open it;
 * `parquet` answers this request then. Any other fault fails its request only.
 */
export function withFallback<Source>(
  open: () => Promise<Source>,
  parquet: Source,
  onDamage: (fault: string) => void,
): <T>(request: (source: Source) => Promise<T>) => Promise<T> {
  return async (request) => {
    try {
      return await request(await open());
    } catch (thrown) {
      if (!(thrown instanceof UserError) && classifyFault(thrown) !== "damaged") throw thrown;
      onDamage(messageOf(thrown));
      return request(parquet);
    }
  };
}

/** Returns the listing source whose requests run as `withFallback` does. */
export function sourceWithFallback(
  open: () => Promise<ListingSource>,
  parquet: ListingSource,
  onDamage: (fault: string) => void,
): ListingSource {
  const run = withFallback(open, parquet, onDamage);
  return {
    count: parquet.count,
    findPage: (request) => run((source) => source.findPage(request)),
    countValues: (request) => run((source) => source.countValues(request)),
    measureValues: (request) => run((source) => source.measureValues(request)),
  };
}
