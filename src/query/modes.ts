/**
 * Inventory mode of a request: active listings, the active listings of a past day, or sold listings.
 *
 * A mode selects the listings and its filters. All other parameters work the same in every mode.
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
  /** Whether the listings are those of the published day, which have values. */
  readonly hasValues: boolean;
}

/** The parameters that select a mode, and those that need the values of the published day. */
type ModeParameters = Pick<Filters, "inventory_status" | "sold_within_days" | "snapshot_date" | "value_rating"> & {
  readonly sort?: string | undefined;
  readonly group_by?: readonly string[];
  readonly metric?: string | readonly string[] | undefined;
};

/** Returns the inventory mode of a request. Windows count back from the as-of date. Refuses parameters of different modes. */
export function modeOf(query: ModeParameters, version: LakeVersion): InventoryMode {
  refuseConflicts(query);
  const { inventory_status, sold_within_days, snapshot_date } = query;
  const asOf = version.manifest.as_of;
  if (snapshot_date !== asOf) refuseValues(query);
  if (!version.hasFit) {
    // What measures or groups values answers that they are unknown.
    const { group_by: _, metric: __, ...ordered } = query;
    refuseValues(ordered, `version ${version.manifest.version}`, "no prices were fitted to its market");
  }
  if (inventory_status !== "sold" && sold_within_days === undefined) {
    const day = snapshot_date ?? asOf;
    return {
      listings: version.activeOn(day),
      filters: [],
      status: "active",
      hasValues: day === asOf && version.hasFit,
    };
  }
  if (sold_within_days === undefined) return { listings: version.soldSince(undefined), filters: [], ...sold };
  const since = plusDays(asOf, -sold_within_days);
  return { listings: version.soldSince(since), filters: [{ kind: "soldAfter", day: since }], ...sold };
}

const sold = { status: "sold", hasValues: false } as const;

/** Returns the parameter that selects other listings than the active ones of the published day. */
function modeParameterOf({ inventory_status, sold_within_days, snapshot_date }: ModeParameters): string | undefined {
  const isSold = inventory_status === "sold";
  return firstDefined({ snapshot_date, sold_within_days, "inventory_status=sold": isSold ? true : undefined });
}

/** Refuses a filter, an order or a metric of values together with a parameter that selects listings without them, the mode. */
export function refuseValues(
  query: ModeParameters,
  mode = modeParameterOf(query),
  reason = "values are those of the listings that are active on the published day",
): void {
  const { value_rating, sort, group_by, metric } = query;
  const isByValue = sort === "value" || sort === "-value";
  const isGrouped = group_by?.includes("value_rating") === true;
  const valuedMetric = [metric ?? []].flat().find((name) => name.startsWith("price_to_value."));
  const valued = firstDefined({
    value_rating,
    [`sort=${sort}`]: isByValue || undefined,
    "group_by=value_rating": isGrouped || undefined,
    [`metric=${valuedMetric}`]: valuedMetric,
  });
  if (mode === undefined || valued === undefined) return;
  throw refuse("incompatible_parameters", { parameters: `${valued} and ${mode}`, reason });
}

/** Returns the name of the first value that is not undefined; undefined if there is none. */
export const firstDefined = (values: Readonly<Record<string, unknown>>): string | undefined =>
  Object.keys(values).find((name) => values[name] !== undefined);

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
