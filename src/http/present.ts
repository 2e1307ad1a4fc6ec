/** How answers look: their parts, and the shapes of details. */
import type { ListingLookUp, VinLookUp } from "../query/look-ups.ts";

export interface PageWindow {
  readonly limit: number;
  readonly offset: number;
}

/** Schema `Pagination` (section 2.9 of the specification): where a page lies in the total, and where the next one begins. */
export function pagination({ limit, offset }: PageWindow, total: number): object {
  const next = offset + limit;
  return { limit, offset, total, next_offset: next < total ? next : null };
}

/** Schema `ListingDetail` (section 2.2 of the specification). */
export function listingDetail({ vin, status, vinState, build, listing }: ListingLookUp): object {
  const { id, price_history, ...rest } = listing;
  return { id, vin, status, ...rest, vehicle: { vin, status: vinState, build }, price_history };
}

/** Schema `VinRecord` (section 2.4 of the specification). */
export function vinRecord({ vin, state, build, listing: { vin: _, ...latest } }: VinLookUp): object {
  return { vin, status: state, build, latest_listing: latest };
}
