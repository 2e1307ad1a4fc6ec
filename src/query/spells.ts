/**
 * The listings of a VIN, one after another: each is a spell at one owner, and ends before the next one begins. From them follow
 * the VIN's state (section 3 of the specification), its latest listing, and what took the place of one that ended.
 */
import { textIn } from "../base/json.ts";
import { join, type Sql, sql } from "../base/sql.ts";
import type { ListingState, Place } from "../lake/lookups.ts";
import type { Market } from "../lake/market.ts";

/** The state of a VIN by that of its latest listing: what left without a sale is still missing. */
const stateAfter = {
  active: "active",
  missing: "missing",
  sold: "sold",
  ended: "missing",
} as const satisfies Record<ListingState, string>;

export type VinState = (typeof stateAfter)[ListingState];

const isLive = ({ state }: Place): boolean => state === "active" || state === "missing";

/** Where the listings of a VIN are, the oldest first; none of an unknown VIN. */
export async function spellsOf(vin: string, market: Market): Promise<readonly Place[]> {
  const places = await market.places("vin", vin);
  const past = places.filter((place) => !isLive(place));
  const rows = past.length < 2 ? [] : await market.rows(endsOf(past, market));
  const endOf = new Map(rows.map((row) => [textIn(row, "id"), textIn(row, "missing_since")]));
  const ends = past.map((place) => ({ place, end: endOf.get(place.id) ?? "" }));
  const inOrder = ends.sort((one, other) => (one.end < other.end ? -1 : 1)).map(({ place }) => place);
  return [...inOrder, ...places.filter(isLive)];
}

/** When each of some past listings was first missing: on a day after it began, and no later than the next one begins. */
function endsOf(places: readonly Place[], market: Market): Sql {
  const ends = places.map(
    (place) => sql`SELECT id::VARCHAR AS id, missing_since::VARCHAR AS missing_since FROM (${market.listingAt(place)})`,
  );
  return join(ends, sql` UNION ALL `);
}

/** The state of the VIN that some spells are of; that of none is undefined. */
export function stateOf(spells: readonly Place[]): VinState | undefined {
  const latest = spells.at(-1);
  return latest && stateAfter[latest.state];
}

/** The spell that took the place of one that ended without a sale. */
export function successorOf(place: Place, spells: readonly Place[]): Place | undefined {
  if (place.state !== "ended") return undefined;
  return spells[1 + spells.findIndex(({ id }) => id === place.id)];
}
