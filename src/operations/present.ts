/** Response shapes: pagination and the details of listings and vehicles, from rows. */
import { redactKeys } from "../accounts/keys/api-key.ts";
import type { AnswerOf } from "../contract/types.ts";
import type { ListingLookUp, VinLookUp } from "../query/look-ups.ts";
import type { UnmatchedMeta } from "../query/unmatched.ts";

export interface PageWindow {
  readonly limit: number;
  readonly offset: number;
}

/** Schema `Pagination`. */
export type Pagination = AnswerOf<"searchListings">["pagination"];

/** Returns schema `Pagination`. */
export function pagination({ limit, offset }: PageWindow, total: number): Pagination {
  const next = offset + limit;
  return { limit, offset, total, next_offset: next < total ? next : null };
}

/** Returns schema `ListingDetail`. */
export function listingDetail({ vin, status, vinState, build, listing }: ListingLookUp): object {
  const { id, price_history, ...rest } = listing;
  return { id, vin, status, ...rest, vehicle: { vin, status: vinState, build }, price_history };
}

/** Returns schema `VinRecord`. */
export function vinRecord({ vin, state, build, listing: { vin: _, ...latest } }: VinLookUp): object {
  return { vin, status: state, build, latest_listing: latest };
}

/** Returns unmatched values without the API keys that were sent as values by mistake. */
export function withoutKeys({ unmatched }: UnmatchedMeta): UnmatchedMeta {
  if (unmatched === undefined) return {};
  return { unmatched: unmatched.map((entry) => ({ ...entry, value: redactKeys(entry.value) })) };
}
