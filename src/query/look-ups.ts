/**
 * Look-ups of one listing by its id and of one vehicle by its VIN (sections 4.3 and 4.4 of the specification): a few point reads,
 * however many listings there are and have been.
 */
import { refuse } from "../contract/errors.ts";
import type { LakeVersion } from "../serving/lake-version.ts";
import { type Detail, detailColumns, detailOf } from "./details.ts";
import type { Expansion } from "./expansions.ts";
import { listingPeriodsOf, successorOf, type VinState, vinStateOf } from "./listing-periods.ts";

type Include = readonly Expansion[] | undefined;

export interface ListingLookUp extends Detail {
  /** A listing counts as active until it is sold. */
  readonly status: "active" | "sold";
  /** The state of its VIN, which may have been listed again since. */
  readonly vinState: VinState;
  /** The id of the listing that took the place of this one, which ended without a sale. */
  readonly supersededBy: string | undefined;
}

export interface VinLookUp extends Detail {
  readonly state: VinState;
}

/** The listing of an id; refuses what no listing has, whatever its form, as not found. */
export async function findListing(id: string, include: Include, version: LakeVersion): Promise<ListingLookUp> {
  const [found] = isListingId(id) ? await version.lookUp("id", id, detailColumns(include)) : [];
  if (found === undefined) throw refuse("not_found", { what: "listing", id });
  const detail = detailOf(found.row, include, version.dimensions);
  if (found.state === "active" || found.state === "missing")
    return { ...detail, status: "active", vinState: found.state, supersededBy: undefined };
  const spells = await listingPeriodsOf(detail.vin, ["id"], version);
  return {
    ...detail,
    status: found.state === "sold" ? "sold" : "active",
    vinState: vinStateOf(spells) ?? "missing",
    supersededBy: successorOf(found, spells),
  };
}

/** The vehicle of a VIN in either case, with its latest listing; refuses a VIN that was never listed. */
export async function findVin(text: string, include: Include, version: LakeVersion): Promise<VinLookUp> {
  const spells = await listingPeriodsOf(text.toUpperCase(), detailColumns(include), version);
  const [latest, state] = [spells.at(-1), vinStateOf(spells)];
  if (latest === undefined || state === undefined)
    throw refuse("not_found", { what: "vehicle with the VIN", id: text });
  return { ...detailOf(latest.row, include, version.dimensions), state };
}

/** Whether a text has the form of the ids that are served. */
const isListingId = (text: string): boolean => /^[0-9a-f]{32}$/.test(text);
