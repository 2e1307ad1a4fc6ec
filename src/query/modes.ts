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

/** The parameters that select a mode, and those that need the values of the published day. */
type ModeParameters = Pick<Filters, "inventory_status" | "sold_within_days" | "snapshot_date" | "value_rating"> & {
  readonly sort?: string | undefined;
  readonly facets?: readonly string[];
};

/** Returns the inventory mode of a request. Windows count back from the as-of date. Refuses parameters of different modes. */
export function modeOf(query: ModeParameters, version: LakeVersion): InventoryMode {
  refuseConflicts(query);
  const { inventory_status, sold_within_days, snapshot_date } = query;
  const asOf = version.manifest.as_of;
  if (snapshot_date !== asOf) refuseValues(query);
  if (inventory_status !== "sold" && sold_within_days === undefined) {
    return { listings: version.activeOn(snapshot_date ?? asOf), filters: [], status: "active" };
  }
  if (sold_within_days === undefined) return { listings: version.soldSince(undefined), filters: [], status: "sold" };
  const since = plusDays(asOf, -sold_within_days);
  return { listings: version.soldSince(since), filters: [{ kind: "soldAfter", day: since }], status: "sold" };
}

/** Refuses parameters that need values together with one that selects listings without them. */
function refuseValues({ inventory_status, sold_within_days, snapshot_date, ...query }: ModeParameters): void {
  const other =
    snapshot_date !== undefined
      ? "snapshot_date"
      : sold_within_days !== undefined
        ? "sold_within_days"
        : inventory_status === "sold" && "inventory_status=sold";
  const { value_rating, sort, facets } = query;
  const valued =
    value_rating !== undefined
      ? "value_rating"
      : sort?.endsWith("value") === true
        ? `sort=${sort}`
        : facets?.includes("value_rating") === true && "facets=value_rating";
  if (other === false || valued === false) return;
  const reason = "values are those of the listings that are active on the published day";
  throw refuse("incompatible_parameters", { parameters: `${valued} and ${other}`, reason });
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
