/**
 * The listings of a VIN, one after another: each is a spell at one owner, and ends before the next one begins. From them follow
 * the VIN's state (section 3 of the specification), its latest listing, and what took the place of one that ended.
 */
import { textIn } from "../base/json.ts";
import { join, type Sql, sql } from "../base/sql.ts";
import type { ListingState } from "../lake/lookups.ts";
import type { Found, Market } from "../lake/market.ts";

/** The state of a VIN by that of its latest listing: what left without a sale is still missing. */
const stateAfter = {
  active: "active",
  missing: "missing",
  sold: "sold",
  ended: "missing",
} as const satisfies Record<ListingState, string>;

export type VinState = (typeof stateAfter)[ListingState];

const isLive = ({ state }: Found): boolean => state === "active" || state === "missing";

/** The listings of a VIN, the oldest first; none of an unknown VIN. */
export async function spellsOf(vin: string, market: Market): Promise<readonly Found[]> {
  const all = await market.lookUp("vin", vin);
  const past = all.filter((found) => !isLive(found));
  const rows = past.length < 2 ? [] : await market.rows(endsOf(past));
  const endOf = new Map(rows.map((row) => [textIn(row, "id"), textIn(row, "missing_since")]));
  const ends = past.map((found) => ({ found, end: endOf.get(found.id) ?? "" }));
  const inOrder = ends.sort((one, other) => (one.end < other.end ? -1 : 1)).map(({ found }) => found);
  return [...inOrder, ...all.filter(isLive)];
}

/** When each of some past listings was first missing: on a day after it began, and no later than the next one begins. */
function endsOf(past: readonly Found[]): Sql {
  const ends = past.map(
    ({ listing }) => sql`SELECT id::VARCHAR AS id, missing_since::VARCHAR AS missing_since FROM (${listing})`,
  );
  return join(ends, sql` UNION ALL `);
}

/** The state of the VIN that some spells are of; that of none is undefined. */
export function stateOf(spells: readonly Found[]): VinState | undefined {
  const latest = spells.at(-1);
  return latest && stateAfter[latest.state];
}

/** The spell that took the place of one that ended without a sale. */
export function successorOf(found: Found, spells: readonly Found[]): Found | undefined {
  if (found.state !== "ended") return undefined;
  return spells[1 + spells.findIndex(({ id }) => id === found.id)];
}
