/**
 * Look-ups by id and by VIN, for operations `getListing` and `getVin`: a few point reads at any size of the lake.
 *
 * Listing periods of a VIN do not overlap: each belongs to a single owner and ends before the next one begins. They determine the VIN's state, its latest
 * listing, and the successor of a listing that ended.
 */
import { type Row, textIn } from "../base/json.ts";
import { refuse } from "../contract/errors.ts";
import type { ServedColumn } from "../lake/served-columns.ts";
import { decodedVin, newestYearOn } from "../listing/vins.ts";
import type { LakeVersion } from "../serving/lake-version.ts";
import type { FoundListing, ListingState } from "../serving/listing-files.ts";
import { type Detail, decodedBuild, detailColumns, detailOf } from "./details.ts";
import type { Expansion } from "./fields.ts";

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
  if (latest === undefined || state === undefined) {
    const decoded = await decodeVin(vin.toUpperCase(), version);
    return { vin: vin.toUpperCase(), state: "unlisted", build: decodedBuild(decoded, include), listing: null };
  }
  return { ...detailOf(latest.row, include, version.dimensions), state };
}

/** Returns the attributes that follow from a VIN. Refuses one that says nothing with `not_found`. */
export async function decodeVin(vin: string, version: LakeVersion): Promise<Row> {
  const [decoded] = await version.rows(decodedVin(vin, newestYearOn(version.manifest.as_of)));
  if (decoded === undefined) throw refuse("not_found", { what: "vehicle with the VIN", id: vin });
  return decoded;
}

/** Returns whether a text has the form of a listing id: 32 hexadecimal digits. */
const isListingId = (text: string): boolean => /^[0-9a-f]{32}$/i.test(text);

/** The state of a VIN, by the state of its latest listing. A VIN whose listing ended without a sale counts as missing. */
const vinStates = {
  active: "active",
  missing: "missing",
  sold: "sold",
  ended: "missing",
} as const satisfies Record<ListingState, string>;

type VinState = (typeof vinStates)[ListingState];

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
function vinStateOf(periods: readonly FoundListing[]): VinState | undefined {
  const latest = periods.at(-1);
  return latest && vinStates[latest.state];
}

/**
 * Returns the id of the listing that follows one that ended without a sale; undefined if it did not end or has no successor. The periods
 * must have been read with column `id`.
 */
function successorOf({ state, row }: FoundListing, periods: readonly FoundListing[]): string | undefined {
  if (state !== "ended") return undefined;
  const next = periods[1 + periods.findIndex((period) => period.row.id === row.id)];
  return next && textIn(next.row, "id");
}
