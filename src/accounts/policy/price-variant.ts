/** The rule by which a request has one of its operation's prices. The console of the docs applies it in browsers, so it imports nothing. */

/** The parameters that decide the price. */
export interface PricingParameters {
  readonly inventory_status?: unknown;
  readonly sold_within_days?: unknown;
  readonly snapshot_date?: unknown;
  readonly snapshot_date_from?: unknown;
  readonly dealer_id?: unknown;
  readonly include?: unknown;
}

/** The prices of an operation: plain, historical, with dealer_id, with both, with include. */
export type PriceVariant = 0 | 1 | 2 | 3 | 4;

/** Returns which price a request has. `hasEnriched` is whether the operation has a price for `include`, which takes precedence. */
export function priceVariantOf(query: PricingParameters, hasEnriched: boolean): PriceVariant {
  const isHistorical =
    query.inventory_status === "sold" ||
    [query.sold_within_days, query.snapshot_date, query.snapshot_date_from].some((value) => value !== undefined);
  if (query.include !== undefined && hasEnriched) return 4;
  if (query.dealer_id !== undefined) return isHistorical ? 3 : 2;
  return isHistorical ? 1 : 0;
}
