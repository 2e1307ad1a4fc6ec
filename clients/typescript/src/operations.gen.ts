/** What the client needs of the document beside its types. Written by `npm run generate`. */

/** Paths whose operation takes an `Idempotency-Key`: a repeated request is charged once. */
export const idempotentPaths: ReadonlySet<string> = new Set([
  "/v1/listings",
  "/v1/listings/search",
  "/v1/listings/{listing_id}",
  "/v1/vins/{vin}",
  "/v1/facets",
  "/v1/trends",
  "/v1/dealers",
  "/v1/dealers/{dealer_id}",
  "/v1/dealers/{dealer_id}/listings"
]);

/** Statuses of responses with `Retry-After`. */
export const retriedStatuses: ReadonlySet<number> = new Set([429,503]);

/** Separators of lists, by parameter; all others are separated by commas. */
export const separators: ReadonlyMap<string, string> = new Map([["assembly_location","|"],["exclude_assembly_location","+"]]);
