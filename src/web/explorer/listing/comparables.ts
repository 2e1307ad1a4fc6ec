/** Comparable listings, those for sale of the same model, year and condition, and the standing of a price among theirs. */
import type { AnswerOf } from "../../../contract/types.ts";
import type { TextParameters } from "../../../operations/operation-request.ts";
import type { PageRequests } from "../../shell/page-requests.ts";
import type { CountedRange } from "../facets.ts";

type ListingDetails = AnswerOf<"getListing">["data"];

export interface Comparables {
  readonly filters: TextParameters;
  readonly total: number;
  /** The prices below which 25, 50 and 75 % of them are; null if they are fewer than ten. */
  readonly quartiles: readonly (number | null)[];
  readonly ranges: readonly CountedRange[];
  /** The width of the regular ranges. */
  readonly interval: number;
}

const metrics = ["price.p25", "price.median", "price.p75"] as const;

/** Returns the comparable listings; undefined if the make or model is unknown. Needs a facet request for each quartile. */
export async function findComparables(
  requests: PageRequests,
  { vehicle: { build }, inventory_type: condition }: ListingDetails,
): Promise<Comparables | undefined> {
  const { make, model, year } = build;
  if (make === null || model === null || [make, model].some((name) => name.includes(","))) return undefined;
  const filters = {
    ...{ make, model },
    ...(year === null ? {} : { year: String(year) }),
    ...(condition === null ? {} : { inventory_type: condition }),
  };
  const answers = await Promise.all(
    metrics.map((metric) => requests.call("getFacets", { facets: "model,price", metric, ...filters })),
  );
  const [first] = answers;
  return {
    filters,
    total: first?.data.total ?? 0,
    quartiles: answers.map(({ data }) => data.facets.model?.[0]?.metric?.value ?? null),
    ranges: first?.data.range_facets.price?.buckets ?? [],
    interval: first?.data.range_facets.price?.interval ?? 1,
  };
}

export function standingOf(price: number | null, [p25, median, p75]: readonly (number | null)[]): string | undefined {
  if (price === null || typeof p25 !== "number" || typeof median !== "number" || typeof p75 !== "number")
    return undefined;
  if (price <= p25) return "in the lowest quarter";
  if (price <= median) return "below the median";
  return price <= p75 ? "above the median" : "in the highest quarter";
}
