/**
 * The listings of a VIN, one after another: each is a spell at one owner, and ends before the next one begins. From them follow
 * the VIN's state (section 3 of the specification), its latest listing, and what took the place of one that ended.
 */
import { textIn } from "../base/json.ts";
import type { ServedColumn } from "../lake/served-columns.ts";
import type { LakeVersion } from "../serving/lake-version.ts";
import type { FoundListing as FoundRow, ListingState } from "../serving/listing-files.ts";

/** The state of a VIN by that of its latest listing: what left without a sale is still missing. */
const stateAfter = {
  active: "active",
  missing: "missing",
  sold: "sold",
  ended: "missing",
} as const satisfies Record<ListingState, string>;

export type VinState = (typeof stateAfter)[ListingState];

const isLive = ({ state }: FoundRow): boolean => state === "active" || state === "missing";

const endOf = ({ row }: FoundRow): string => textIn(row, "missing_since");

/**
 * The listings of a VIN, the oldest first, with what is read of them; none of an unknown VIN. A past one was first missing on a day
 * after it began, and no later than the next one begins.
 */
export async function listingPeriodsOf(
  vin: string,
  names: readonly ServedColumn[],
  version: LakeVersion,
): Promise<readonly FoundRow[]> {
  const all = await version.lookUp("vin", vin, [...names, "missing_since"]);
  const past = all.filter((found) => !isLive(found)).sort((one, other) => (endOf(one) < endOf(other) ? -1 : 1));
  return [...past, ...all.filter(isLive)];
}

/** The state of the VIN that some spells are of; that of none is undefined. */
export function vinStateOf(spells: readonly FoundRow[]): VinState | undefined {
  const latest = spells.at(-1);
  return latest && stateAfter[latest.state];
}

/** The id of the spell that took the place of one that ended without a sale, of spells that were read with their ids. */
export function successorOf({ state, row }: FoundRow, spells: readonly FoundRow[]): string | undefined {
  if (state !== "ended") return undefined;
  const next = spells[1 + spells.findIndex((spell) => spell.row.id === row.id)];
  return next && textIn(next.row, "id");
}
