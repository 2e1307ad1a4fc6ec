/**
 * Look-ups of one listing by its id and of one vehicle by its VIN (sections 4.3 and 4.4 of the specification): a few point reads,
 * however many listings there are and have been.
 */
import { refuse } from "../contract/errors.ts";
import type { Found, Market } from "../lake/market.ts";
import { type Detail, detailOf } from "./details.ts";
import type { Expansion } from "./expansions.ts";
import { spellsOf, stateOf, successorOf, type VinState } from "./spells.ts";

type Include = readonly Expansion[] | undefined;

export interface FoundListing extends Detail {
  /** A listing counts as active until it is sold. */
  readonly status: "active" | "sold";
  /** The state of its VIN, which may have been listed again since. */
  readonly vinState: VinState;
  /** The id of the listing that took the place of this one, which ended without a sale. */
  readonly supersededBy: string | undefined;
}

export interface FoundVin extends Detail {
  readonly state: VinState;
}

/** The listing of an id; refuses what no listing has, whatever its form, as not found. */
export async function findListing(id: string, include: Include, market: Market): Promise<FoundListing> {
  if (!isListingId(id)) throw refuse("not_found", { what: "listing", id });
  const active = await activeDetail("id", id, include, market);
  if (active !== undefined) return { ...active, status: "active", vinState: "active", supersededBy: undefined };
  const [found] = await market.lookUp("id", id);
  if (found === undefined) throw refuse("not_found", { what: "listing", id });
  const detail = await foundDetail(found, include, market);
  if (found.state === "active" || found.state === "missing") {
    return { ...detail, status: "active", vinState: found.state, supersededBy: undefined };
  }
  const spells = await spellsOf(detail.vin, market);
  return {
    ...detail,
    status: found.state === "sold" ? "sold" : "active",
    vinState: stateOf(spells) ?? "missing",
    supersededBy: successorOf(found, spells)?.id.replaceAll("-", ""),
  };
}

/** The vehicle of a VIN in either case, with its latest listing; refuses a VIN that was never listed. */
export async function findVin(text: string, include: Include, market: Market): Promise<FoundVin> {
  const vin = text.toUpperCase();
  const active = await activeDetail("vin", vin, include, market);
  if (active !== undefined) return { ...active, state: "active" };
  const spells = await spellsOf(vin, market);
  const [latest, state] = [spells.at(-1), stateOf(spells)];
  if (latest === undefined || state === undefined)
    throw refuse("not_found", { what: "vehicle with the VIN", id: text });
  return { ...(await foundDetail(latest, include, market)), state };
}

/** What nearly every look-up is of: an active listing, or a VIN that has one alone. */
async function activeDetail(
  by: "vin" | "id",
  wanted: string,
  include: Include,
  market: Market,
): Promise<Detail | undefined> {
  const listing = market.activeBy(by, wanted);
  return listing && (await detailOf(listing, include, market));
}

/** The detail of what was looked up; a look-up that leads to nothing is a defect of the lake. */
async function foundDetail({ id, listing }: Found, include: Include, market: Market): Promise<Detail> {
  const detail = await detailOf(listing, include, market);
  if (detail === undefined) throw new Error(`The look-ups have the listing ${id}, and its table has not.`);
  return detail;
}

/** Whether a text has the form of the ids that are served. */
const isListingId = (text: string): boolean => /^[0-9a-f]{32}$/.test(text);
