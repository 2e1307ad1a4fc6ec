/** The change feed, compared with the markets of two versions that are read whole: a plain comparison of every listing. */
import assert from "node:assert/strict";
import { symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Row } from "../../../src/base/json.ts";
import type { AnswerOf } from "../../../src/contract/types.ts";
import { valuedNames } from "../../../src/listing/schema.ts";
import { queryLake, temporaryFolder } from "../../support/lakes/lakes.ts";
import type { Scope } from "../../support/scope.ts";
import { filterOf } from "../answers/filters.ts";
import { type FlatListing, flatListingsOf, type OracleInventory } from "../answers/inventory.ts";
import { oracleSearch } from "../answers/search.ts";
import type { Query } from "../random-requests/query.ts";

export type ListingChange = AnswerOf<"listChanges">["data"][number];

interface MarketListing {
  readonly state: string;
  readonly price: unknown;
  /** All attributes but those that count days or follow from the whole market, as text. */
  readonly content: string;
  readonly flat: FlatListing;
}

/** A version's market: every listing by id, and the search rows of active and sold ones. */
export interface VersionMarket {
  readonly inventory: OracleInventory;
  readonly listings: ReadonlyMap<string, MarketListing>;
  readonly rows: ReadonlyMap<string, object>;
}

/** What changes from day to day without a change of the listing. */
const uncompared: readonly string[] = [
  "days_on_market",
  "days_seen",
  "last_checked_at",
  "price_history",
  ...valuedNames,
];

const contentOf = (row: Row): string =>
  JSON.stringify(
    Object.entries(row).filter(
      ([name]) => !uncompared.includes(name) && !/_month$|^ended_on$|^market_state$/.test(name),
    ),
  );

const states = ["active", "missing", "sold", "ended"] as const;

/** Reads the market of a version. The vocabularies of `newest` are those of all versions. */
export async function readMarket(
  scope: Scope,
  lake: string,
  version: string,
  newest: OracleInventory,
): Promise<VersionMarket> {
  const folder = await temporaryFolder(scope);
  for (const name of ["files", "versions"]) await symlink(join(lake, name), join(folder, name));
  await writeFile(join(folder, "CURRENT"), version);
  const all = states.map((state) => `SELECT '${state}' AS market_state, * FROM ${state}`);
  const found = await queryLake(folder, all.join(" UNION ALL BY NAME "));
  const rowsIn = (state: string): readonly Row[] => found.filter(({ market_state }) => market_state === state);
  const flat = new Map(
    states.map((state) => [state, flatListingsOf(rowsIn(state), state === "sold" ? "sold" : "active")] as const),
  );
  const listings = states.flatMap((state) =>
    rowsIn(state).map((row, index): readonly [string, MarketListing] => {
      const listing = flat.get(state)?.[index] ?? assert.fail(state);
      return [listing.id, { state, price: row.price, content: contentOf(row), flat: listing }];
    }),
  );
  const inventory = { ...newest, active: flat.get("active") ?? [], sold: flat.get("sold") ?? [] };
  const rows = ["active", "sold"].flatMap((status) =>
    oracleSearch(inventory, new Map(Object.entries({ ...searched, inventory_status: status }))).data.map(
      (row): readonly [string, object] => [String(row.id), withoutDays(row)],
    ),
  );
  return { inventory, listings: new Map(listings), rows: new Map(rows) };
}

const searched = { fields: "default,features,options_packages", limit: "1000000" };
export const changeFields = searched.fields;

const withoutDays = ({ days_on_market: _, ...row }: Readonly<Record<string, unknown>>): object => row;

/** What the definition says about a listing that differs. */
export type ExpectedChange = Pick<
  ListingChange,
  "id" | "kind" | "state_before" | "state" | "matched_before" | "matches"
>;

/** Returns the changes of a search between two markets, by id. */
export function expectedChanges(before: VersionMarket, after: VersionMarket, query: Query): readonly ExpectedChange[] {
  const matchedBefore = filterOf(query, before.inventory);
  const matchesNow = filterOf(query, after.inventory);
  const ids = [...new Set([...before.listings.keys(), ...after.listings.keys()])].sort();
  return ids.flatMap((id): readonly ExpectedChange[] => {
    const was = before.listings.get(id);
    const is = after.listings.get(id);
    if (was?.state === is?.state && was?.content === is?.content) return [];
    const matched_before = was !== undefined && matchedBefore(was.flat);
    const matches = is !== undefined && matchesNow(is.flat);
    if (!matched_before && !matches) return [];
    const states = { state_before: stateOf(was), state: stateOf(is) };
    return [{ id, kind: kindOf(was, is), ...states, matched_before, matches }];
  });
}

const stateOf = (listing: MarketListing | undefined) => (listing?.state ?? null) as ListingChange["state"];

function kindOf(was: MarketListing | undefined, is: MarketListing | undefined): ListingChange["kind"] {
  if (is === undefined) return "removed";
  if (is.state !== "active" && is.state !== was?.state) return is.state as ListingChange["kind"];
  if (was === undefined) return "new";
  if (was.state !== is.state) return "returned";
  return was.price === is.price ? "changed" : "price";
}

/** A copy of a market that a client keeps: the search rows of active and sold listings, and the states of all. */
export interface Mirror {
  readonly rows: Map<string, object>;
  readonly states: Map<string, string>;
}

export const mirrorOf = ({ rows, listings }: VersionMarket): Mirror => ({
  rows: new Map(rows),
  states: new Map([...listings].map(([id, { state }]) => [id, state])),
});

export function applyChanges({ rows, states }: Mirror, changes: readonly ListingChange[]): void {
  for (const { id, state, listing } of changes) {
    if (listing === null || (state !== "active" && state !== "sold")) rows.delete(id);
    else rows.set(id, withoutDays({ ...listing }));
    if (state === null) states.delete(id);
    else states.set(id, state);
  }
}

const inOrder = <T>(map: ReadonlyMap<string, T>): readonly (readonly [string, T])[] =>
  [...map].sort(([one], [other]) => (one < other ? -1 : 1));

export function assertMirrors(mirror: Mirror, market: VersionMarket, message: string): void {
  const expected = mirrorOf(market);
  assert.deepEqual(inOrder(mirror.states), inOrder(expected.states), message);
  assert.deepEqual(inOrder(mirror.rows), inOrder(expected.rows), message);
}
