/**
 * Inventory mode of a request: active listings, the active listings of a past day, or sold listings.
 *
 * A mode selects the listing source and its filters. All other parameters work the same in every mode.
 */
import { plusDays } from "../base/day.ts";
import { refuse } from "../contract/errors.ts";
import type { Filters } from "../contract/types.ts";
import type { Filter } from "../listing/filter.ts";
import type { LakeVersion, Listings } from "../serving/lake-version.ts";

export interface InventoryMode {
  readonly listings: Listings;
  readonly filters: readonly Filter[];
  /** The `status` of every listing in the result. */
  readonly status: "active" | "sold";
}

type ModeParameters = Pick<Filters, "inventory_status" | "sold_within_days" | "snapshot_date">;

/** Returns the inventory mode of a request. Windows count back from the as-of date. Refuses parameters of different modes. */
export function modeOf(query: ModeParameters, version: LakeVersion): InventoryMode {
  refuseConflicts(query);
  const { inventory_status, sold_within_days, snapshot_date } = query;
  const asOf = version.manifest.as_of;
  if (inventory_status !== "sold" && sold_within_days === undefined) {
    return { listings: version.activeOn(snapshot_date ?? asOf), filters: [], status: "active" };
  }
  if (sold_within_days === undefined) return { listings: version.soldSince(undefined), filters: [], status: "sold" };
  const since = plusDays(asOf, -sold_within_days);
  return { listings: version.soldSince(since), filters: [{ kind: "soldAfter", day: since }], status: "sold" };
}

function refuseConflicts({ inventory_status, sold_within_days, snapshot_date }: ModeParameters): void {
  if (snapshot_date !== undefined && (inventory_status === "sold" || sold_within_days !== undefined)) {
    const other = sold_within_days === undefined ? "inventory_status=sold" : "sold_within_days";
    const reason = "a snapshot contains active listings only";
    throw refuse("incompatible_parameters", { parameters: `snapshot_date and ${other}`, reason });
  }
  if (inventory_status === "active" && sold_within_days !== undefined) {
    const reason = "sold_within_days selects sold listings";
    throw refuse("incompatible_parameters", { parameters: "sold_within_days and inventory_status=active", reason });
  }
}
