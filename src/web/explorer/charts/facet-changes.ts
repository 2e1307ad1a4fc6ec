/** How the counts of a view's facets have changed against 30 days before: the same facets of that snapshot. */
import { percent } from "../../shell/format.ts";
import type { PageRequests } from "../../shell/page-requests.ts";
import { countViewFacets, noFacets } from "../facets.ts";
import type { SnapshotDays } from "../search/market-control.tsx";
import { isSameValue, type ViewParameters } from "../view.ts";
import { dayBefore } from "./key-numbers.tsx";

export interface FacetChanges {
  /** Returns the change of a value's count in words; undefined if its count of that day is not among those that are answered. */
  changeOf(facet: string, value: string, listings: number): string | undefined;
}

/**
 * Loads the changes of the facets of a view with the parameter `change`. Undefined without it, for sold listings, if the data begins less than 30
 * days before, and if the API refuses.
 */
export async function facetChanges(
  requests: PageRequests,
  view: ViewParameters,
  days: SnapshotDays,
): Promise<FacetChanges | undefined> {
  const before = view.change === undefined ? undefined : dayBefore(view, days);
  if (before === undefined) return undefined;
  const counted = await countViewFacets(requests, { ...view, snapshot_date: before }, days.last);
  if (counted === noFacets) return undefined;
  return {
    changeOf(facet, value, listings) {
      const found = counted.values[facet]?.find((bucket) => isSameValue(bucket.value, value));
      return found === undefined ? undefined : percent(listings / found.count - 1);
    },
  };
}
