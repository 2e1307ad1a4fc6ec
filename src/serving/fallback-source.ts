/** A listing source that answers from a search index, and from Parquet when the index fails. */
import { messageOf } from "../base/user-error.ts";
import { Refusal } from "../contract/errors.ts";
import { Abandoned } from "../db/job.ts";
import type { ListingSource } from "../listing/source.ts";

/** Returns the combined source. Calls `onFailure` when a request to the index fails; Parquet answers this request too. */
export function sourceWithFallback(
  index: ListingSource,
  parquet: ListingSource,
  onFailure: (fault: string) => void,
): ListingSource {
  const withFallback = <T>(request: (source: ListingSource) => Promise<T>): Promise<T> =>
    request(index).catch((thrown: unknown) => {
      if (thrown instanceof Refusal || thrown instanceof Abandoned) throw thrown;
      onFailure(messageOf(thrown));
      return request(parquet);
    });
  return {
    count: index.count,
    findPage: (request) => withFallback((source) => source.findPage(request)),
    countValues: (request) => withFallback((source) => source.countValues(request)),
    measureValues: (request) => withFallback((source) => source.measureValues(request)),
  };
}
