/**
 * Which listings a request is about: today's, those of a past day, or those that were sold. All else of a request is the same
 * in each; a mode is another list of files.
 */
import { plusDays } from "../base/day.ts";
import { refuse } from "../contract/errors.ts";
import type { Filters } from "../contract/types.ts";
import type { Filter } from "../listing/filter.ts";
import type { LakeVersion, Listings } from "../serving/lake-version.ts";

export interface InventoryMode {
  readonly listings: Listings;
  /** What of them is searched, besides a request's own filters. */
  readonly filters: readonly Filter[];
  /** The state of each in this result. */
  readonly status: "active" | "sold";
}

type ModeFilters = Pick<Filters, "inventory_status" | "sold_within_days" | "snapshot_date">;

/** The mode of a request. Windows count back from the published day. Refuses modes that do not go together. */
export function modeOf(
  { inventory_status, sold_within_days, snapshot_date }: ModeFilters,
  version: LakeVersion,
): InventoryMode {
  const asOf = version.manifest.as_of;
  if (snapshot_date !== undefined && (inventory_status === "sold" || sold_within_days !== undefined)) {
    const other = sold_within_days === undefined ? "inventory_status=sold" : "sold_within_days";
    throw refuse("incompatible_parameters", {
      parameters: `snapshot_date and ${other}`,
      reason: "a snapshot is of active inventory",
    });
  }
  if (inventory_status === "active" && sold_within_days !== undefined) {
    const reason = "the window is one of sold listings";
    throw refuse("incompatible_parameters", { parameters: "sold_within_days and inventory_status=active", reason });
  }
  if (inventory_status !== "sold" && sold_within_days === undefined) {
    return { listings: version.activeOn(snapshot_date ?? asOf), filters: [], status: "active" };
  }
  if (sold_within_days === undefined) return { listings: version.soldSince(undefined), filters: [], status: "sold" };
  const since = plusDays(asOf, -sold_within_days);
  return { listings: version.soldSince(since), filters: [{ kind: "soldAfter", day: since }], status: "sold" };
}
