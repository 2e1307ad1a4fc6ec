/** Look-ups by id and by VIN, for operations `getListing` and `getVin`. A look-up is a few point reads at any size of the lake. */
import { refuse } from "../contract/errors.ts";
import { serviceJob } from "../db/job.ts";
import type { ServedColumn } from "../lake/served-columns.ts";
import { decodedVin, newestYearOn } from "../listing/vins.ts";
import type { LakeVersion } from "../serving/lake-version.ts";
import type { FoundListing } from "../serving/listing-files.ts";
import { type Detail, decodedBuild, detailColumns, detailOf } from "./details.ts";
import type { Expansion } from "./expansions.ts";
import { listingPeriodsOf, successorOf, type VinState, vinStateOf } from "./listing-periods.ts";

type Include = readonly Expansion[] | undefined;

export interface ListingLookUp extends Detail {
  /** `active` until the listing is sold. */
  readonly status: "active" | "sold";
  /** The current state of the VIN, which may have been listed again since. */
  readonly vinState: VinState;
  /** The id of the listing that follows this one, if this one ended without a sale. */
  readonly supersededBy: string | undefined;
}

export interface VinLookUp extends Pick<Detail, "vin" | "build"> {
  readonly state: VinState | "unlisted";
  /** Null if the vehicle has never been listed. */
  readonly listing: Detail["listing"] | null;
}

/** Returns the columns of the listing with an id (in any case). Refuses an unknown or malformed id with `not_found`. */
export async function lookUpListing(
  id: string,
  columns: readonly ServedColumn[],
  version: LakeVersion,
): Promise<FoundListing> {
  const [listing] = isListingId(id) ? await version.lookUp("id", id.toLowerCase(), columns) : [];
  if (listing === undefined) throw refuse("not_found", { what: "listing", id });
  return listing;
}

/** Returns the listing with an id, as `lookUpListing` does. */
export async function findListing(id: string, include: Include, version: LakeVersion): Promise<ListingLookUp> {
  const listing = await lookUpListing(id, detailColumns(include), version);
  const detail = detailOf(listing.row, include, version.dimensions);
  if (listing.state === "active" || listing.state === "missing")
    return { ...detail, status: "active", vinState: listing.state, supersededBy: undefined };
  const periods = await listingPeriodsOf(detail.vin, ["id"], version);
  return {
    ...detail,
    status: listing.state === "sold" ? "sold" : "active",
    vinState: vinStateOf(periods) ?? "missing",
    supersededBy: successorOf(listing, periods),
  };
}

/**
 * Returns the vehicle with a VIN (in any case) and its latest listing; without any listing, what its VIN says of it. Refuses a VIN that says nothing
 * with `not_found`.
 */
export async function findVin(vin: string, include: Include, version: LakeVersion): Promise<VinLookUp> {
  const periods = await listingPeriodsOf(vin.toUpperCase(), detailColumns(include), version);
  const latest = periods.at(-1);
  const state = vinStateOf(periods);
  if (latest === undefined || state === undefined) return decodeVin(vin.toUpperCase(), include, version);
  return { ...detailOf(latest.row, include, version.dimensions), state };
}

async function decodeVin(vin: string, include: Include, version: LakeVersion): Promise<VinLookUp> {
  // As work of the service: a statement of the request would begin its charge, which most of these VINs end without.
  const decoding = version.withJob(serviceJob());
  const [decoded] = await decoding.rows(decodedVin(vin, newestYearOn(version.manifest.as_of)));
  if (decoded === undefined) throw refuse("not_found", { what: "vehicle with the VIN", id: vin });
  return { vin, state: "unlisted", build: decodedBuild(decoded, include), listing: null };
}

/** Returns whether a text has the form of a listing id: 32 hexadecimal digits. */
const isListingId = (text: string): boolean => /^[0-9a-f]{32}$/i.test(text);
