/**
 * Listing periods of a VIN. Periods do not overlap: each one belongs to a single owner and ends before the next one begins.
 *
 * They determine the VIN's state, its latest listing, and the successor of a listing that ended.
 */
import { textIn } from "../base/json.ts";
import type { ServedColumn } from "../lake/served-columns.ts";
import type { LakeVersion } from "../serving/lake-version.ts";
import type { FoundListing, ListingState } from "../serving/listing-files.ts";

/** The state of a VIN, by the state of its latest listing. A VIN whose listing ended without a sale counts as missing. */
const vinStates = {
  active: "active",
  missing: "missing",
  sold: "sold",
  ended: "missing",
} as const satisfies Record<ListingState, string>;

export type VinState = (typeof vinStates)[ListingState];

const isOpen = ({ state }: FoundListing): boolean => state === "active" || state === "missing";

const endOf = ({ row }: FoundListing): string => textIn(row, "missing_since");

/**
 * Returns the listing periods of a VIN with the given columns, oldest first; empty if the VIN is unknown. Closed periods are ordered by
 * `missing_since`: that day lies after the start of its period and no later than the start of the next one.
 */
export async function listingPeriodsOf(
  vin: string,
  columns: readonly ServedColumn[],
  version: LakeVersion,
): Promise<readonly FoundListing[]> {
  const periods = await version.lookUp("vin", vin, [...columns, "missing_since"]);
  const closed = periods.filter((period) => !isOpen(period)).sort((a, b) => (endOf(a) < endOf(b) ? -1 : 1));
  return [...closed, ...periods.filter(isOpen)];
}

/** Returns the state of a VIN, given its listing periods; undefined without periods. */
export function vinStateOf(periods: readonly FoundListing[]): VinState | undefined {
  const latest = periods.at(-1);
  return latest && vinStates[latest.state];
}

/**
 * Returns the id of the listing that follows one that ended without a sale; undefined if it did not end or has no successor. The periods
 * must have been read with column `id`.
 */
export function successorOf({ state, row }: FoundListing, periods: readonly FoundListing[]): string | undefined {
  if (state !== "ended") return undefined;
  const next = periods[1 + periods.findIndex((period) => period.row.id === row.id)];
  return next && textIn(next.row, "id");
}
