/** The processor time of requests by usage class, for `docs/deployment.md`, which `npm run bench:publish` writes. */
import type { UsageClass } from "../../src/accounts/policy/prices.ts";
import { type Results, valueIn } from "./results.ts";
import { formatNumber, markdownTable } from "./tables.ts";

/** A request of each kind that users send often, by the name of its case. */
const kinds: readonly (readonly [usageClass: UsageClass, request: string, name: string])[] = [
  ["vehicle_detail", "a VIN", "details: VIN"],
  ["vehicle_detail", "a listing", "details: listing by id"],
  ["listing_search", "50 listings of a make and model below a price", "search: make, model, price"],
  ["listing_search", "50 listings of a state", "search: state"],
  ["listing_search", "50 listings within 50 miles", "search: radius 50"],
  ["listing_search_dealer_filtered", "50 listings of a dealer", "search: dealer"],
  ["facet_counts", "median price by make", "facets: median price by make"],
  ["facet_counts", "the explorer's facets of a state", "facets: sidebar, state"],
  ["facet_counts", "all 30 facets of a state", "facets: all 30, state"],
  ["facet_counts", "all 30 facets of everything", "facets: all 30"],
];

/** Returns the processor time of a request, and how many a core answers in a second, for runs of several sizes. */
export function costsTable(runs: readonly Results[]): string {
  const heads = runs.flatMap(({ dataset: { listings = 0 } = {} }) => {
    const size = `${listings.toLocaleString("en")} listings`;
    return [`${size}: ms`, "requests/s"];
  });
  const rows = kinds.map(([usageClass, request, name]) => [
    `\`${usageClass}\``,
    request,
    ...runs.flatMap((run) => {
      const ms = valueIn(run, { name, server: "carquet", unit: "processor ms" });
      return [formatNumber(ms), formatNumber(ms === undefined ? undefined : 1000 / ms)];
    }),
  ]);
  return markdownTable([["usage class", "request", ...heads], ...rows]);
}
