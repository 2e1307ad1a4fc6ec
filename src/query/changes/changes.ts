/**
 * Changes: the listings whose state or attributes differ between an older version of the lake and a newer one, in pages. Applied to the market of the
 * older version, all changes yield that of the newer one.
 *
 * A page takes one statement over narrow columns of the rows that can differ; whether a listing has changed is decided on the rows of the page alone.
 */
import { type Json, type Row, textIn } from "../../base/json.ts";
import type { Filter } from "../../listing/filter.ts";
import type { Point } from "../../listing/geography.ts";
import type { LakeVersion, Listings } from "../../serving/lake-version.ts";
import type { ListingState } from "../../serving/listing-files.ts";
import { type ListingField, type ListingSerializer, serializerOf } from "../fields.ts";
import { type AttributesSource, attributesOf, comparedNames, differencesOf, filesOfPair } from "./pair-rows.ts";
import type { VersionPair } from "./version-pair.ts";

/** The place of a change in the order of a feed: the day since which it holds, then the listing's id. */
export interface ChangePosition {
  readonly day: string;
  readonly id: string;
}

export interface ChangesRequest {
  /** A change is returned if the listing matches all of them in the older or in the newer version. */
  readonly filters: readonly Filter[];
  /** All kinds if undefined. */
  readonly kinds: readonly string[] | undefined;
  readonly limit: number;
  /** The last change of the page before. */
  readonly after: ChangePosition | undefined;
  /** The fields of `listing`. */
  readonly fields: readonly ListingField[];
  /** The origin of `distance_miles`. */
  readonly origin: Point | undefined;
}

export interface Change extends ChangePosition {
  readonly vin: string;
  readonly kind: string;
  /** Null if the version does not have the listing. */
  readonly state_before: ListingState | null;
  readonly state: ListingState | null;
  readonly matched_before: boolean;
  readonly matches: boolean;
  /** The compared attributes that differ; none unless the listing is in the same state in both. */
  readonly before: Row;
  readonly after: Row;
  /** The listing of the newer version if a search returns it: schema `ListingSummary`. */
  readonly listing: Row | null;
}

type Difference = Omit<Change, "before" | "after" | "listing">;

/** How many rows are read before other requests have their turn. */
const batchRows = 100;

/** Returns a page of the changes between a version and an older one, and whether there are more. */
export async function changesOf(
  pair: VersionPair,
  version: LakeVersion,
  request: ChangesRequest,
): Promise<{ readonly changes: readonly Change[]; readonly hasMore: boolean }> {
  const { limit } = request;
  const changes: Change[] = [];
  let { after } = request;
  // What differs in columns that are not compared is left out afterwards. If that leaves too few, the engine compares all columns of the rest.
  for (let isHashed = !pair.isContinued; ; isHashed = true) {
    const size = isHashed ? limit + 1 - changes.length : 2 * limit;
    const query = differencesOf(pair, version.folder, { ...request, after, limit: size, isHashed });
    const found = (await version.rowsFrom(filesOfPair(pair), query)).map(differenceIn);
    for (let from = 0; from < found.length && changes.length <= limit; from += batchRows)
      changes.push(...(await describe(found.slice(from, from + batchRows), { pair, version, request })));
    if (changes.length > limit || found.length < size)
      return { changes: changes.slice(0, limit), hasMore: changes.length > limit };
    after = found.at(-1);
  }
}

const stateIn = (row: Row, name: string): ListingState | null => (row[name] ?? null) as ListingState | null;

const differenceIn = (row: Row): Difference => ({
  ...{ id: textIn(row, "id"), vin: textIn(row, "vin"), day: textIn(row, "day"), kind: textIn(row, "kind") },
  ...{ state_before: stateIn(row, "state_before"), state: stateIn(row, "state") },
  ...{ matched_before: row.matched_before === true, matches: row.matches === true },
});

interface DescribeOptions {
  readonly pair: VersionPair;
  readonly version: LakeVersion;
  readonly request: ChangesRequest;
}

/** Adds the rows of both versions to differences. Leaves out listings whose state and attributes are equal. */
async function describe(found: readonly Difference[], options: DescribeOptions): Promise<readonly Change[]> {
  const inBoth = found.filter(({ state, state_before }) => state === state_before);
  const [older, newer] = [await attributesBefore(inBoth, options), await attributesAfter(inBoth, options)];
  const listings = await listingsAfter(found, options);
  return found.flatMap((difference): readonly Change[] => {
    const { id } = difference;
    const [was, is] = [older.get(id), newer.get(id)];
    const names = comparedNames.filter((name) => isOther(was?.[name], is?.[name]));
    if (is !== undefined && names.length === 0) return [];
    const pick = (row: Row = {}): Row =>
      Object.fromEntries(names.map((name): [string, Json] => [name, row[name] ?? null]));
    return [{ ...difference, before: pick(was), after: pick(is), listing: listings.get(id) ?? null }];
  });
}

const isOther = (one: Json | undefined, other: Json | undefined): boolean =>
  JSON.stringify(one ?? null) !== JSON.stringify(other ?? null);

type ById<T> = ReadonlyMap<string, T>;

const idsIn = (found: readonly Difference[], state: ListingState): readonly string[] =>
  found.flatMap((one) => (one.state === state ? [one.id] : []));

/** Calls `read` with the ids of each state. */
async function byState(
  found: readonly Difference[],
  read: (state: ListingState, ids: readonly string[]) => Promise<ById<Row>>,
): Promise<ById<Row>> {
  const states = [...new Set(found.flatMap(({ state }) => state ?? []))];
  const rows = await Promise.all(states.map((state) => read(state, idsIn(found, state))));
  return new Map(rows.flatMap((some) => [...some]));
}

/** Returns the compared attributes that listings have in the older version. */
const attributesBefore = (
  found: readonly Difference[],
  { pair: { before, isContinued }, version }: DescribeOptions,
): Promise<ById<Row>> =>
  byState(found, (state, ids) =>
    isContinued && state === "active"
      ? storedAttributes(version.activeOn(before.as_of), ids, version)
      : queriedAttributes({ manifest: before, isForeign: !isContinued }, state, ids, version),
  );

/** Returns the compared attributes that listings have in the newer version. */
const attributesAfter = (found: readonly Difference[], { version }: DescribeOptions): Promise<ById<Row>> =>
  byState(found, (state, ids) =>
    state === "active"
      ? storedAttributes(version.activeOn(version.manifest.as_of), ids, version)
      : queriedAttributes({ manifest: version.manifest, isForeign: false }, state, ids, version),
  );

async function queriedAttributes(
  source: AttributesSource,
  state: ListingState,
  ids: readonly string[],
  version: LakeVersion,
): Promise<ById<Row>> {
  const [files, query] = attributesOf(source, version.folder, state, ids);
  return new Map((await version.rowsFrom(files, query)).map((row) => [textIn(row, "id"), row]));
}

const storedAttributes = (listings: Listings, ids: readonly string[], version: LakeVersion): Promise<ById<Row>> =>
  serialized(listings, ids, serializerOf(comparedNames, { status: "active", origin: undefined }, version.dimensions));

async function serialized(
  listings: Listings,
  ids: readonly string[],
  { columns, serialize }: ListingSerializer,
): Promise<ById<Row>> {
  const rows = ids.length === 0 ? [] : await listings.read(ids, columns);
  return new Map(rows.map((row, place) => [ids[place] ?? "", JSON.parse(serialize(row))]));
}

/** Returns the listings of the newer version that a search returns, as it does. */
async function listingsAfter(
  found: readonly Difference[],
  { version, request: { fields, origin } }: DescribeOptions,
): Promise<ById<Row>> {
  const listings = { active: version.activeOn(version.manifest.as_of), sold: version.soldSince(undefined) };
  const read = (status: "active" | "sold"): Promise<ById<Row>> =>
    serialized(listings[status], idsIn(found, status), serializerOf(fields, { status, origin }, version.dimensions));
  return new Map([...(await read("active")), ...(await read("sold"))]);
}
