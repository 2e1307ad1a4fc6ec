/**
 * Changes: the listings whose state or attributes differ between an older version of the lake and a newer one, in pages. Applied to the market of the
 * older version, all changes yield that of the newer one.
 *
 * A page takes one statement over narrow columns of the rows that can differ; whether a listing has changed is decided on the stored JSON of
 * the page's rows alone.
 */
import { nextTurn } from "../../base/concurrency.ts";
import { type Json, type Row, textIn } from "../../base/json.ts";
import { type JsonRow, parseJsonValue } from "../../lake/json-row.ts";
import type { Manifest } from "../../lake/manifest.ts";
import type { ServedColumn } from "../../lake/served-columns.ts";
import type { Filter } from "../../listing/filter.ts";
import type { Point } from "../../listing/geography.ts";
import type { LakeVersion, Listings } from "../../serving/lake-version.ts";
import type { ListingState } from "../../serving/listing-files.ts";
import { type ListingField, type StoredTexts, serializerOf, storedTextsOf } from "../fields.ts";
import { attributesOf, comparedNames, differencesOf, filesOfPair } from "./pair-rows.ts";
import type { VersionPair } from "./version-pair.ts";

/** The position of a change in the order of a feed: the day since which it holds, then the listing's id. */
interface ChangePosition {
  readonly day: string;
  readonly id: string;
}

interface ChangesRequest {
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

/** A listing that differs between the versions. */
interface Difference extends ChangePosition {
  readonly vin: string;
  readonly kind: string;
  /** Null if the version does not have the listing. */
  readonly state_before: ListingState | null;
  readonly state: ListingState | null;
  readonly matched_before: boolean;
  readonly matches: boolean;
}

/** A difference with the compared attributes that differ; none unless the listing is in the same state in both. */
interface Change extends Difference {
  readonly before: Row;
  readonly after: Row;
}

interface ChangesPage {
  /** Each is JSON text of schema `ListingChange`. */
  readonly texts: readonly string[];
  readonly last: ChangePosition | undefined;
  readonly hasMore: boolean;
}

/** How many rows are read before other requests have their turn. */
const batchRows = 100;

/** Returns a page of the changes between a version and an older one, and whether there are more. */
export async function changesOf(
  pair: VersionPair,
  version: LakeVersion,
  request: ChangesRequest,
): Promise<ChangesPage> {
  const { limit } = request;
  const changes: Change[] = [];
  let { after } = request;
  let isComplete = false;
  // What differs in columns that are not compared is left out afterwards. If that leaves too few, the engine compares all columns of the rest.
  for (let isHashed = !pair.isContinued; !isComplete && changes.length <= limit; isHashed = true) {
    const size = isHashed ? limit + 1 - changes.length : 2 * limit;
    const query = differencesOf(pair, version.folder, { ...request, after, limit: size, isHashed });
    const found = (await version.rowsFrom(filesOfPair(pair), query)).map(differenceIn);
    for (let from = 0; from < found.length && changes.length <= limit; ) {
      const end = from + Math.max(batchRows, limit + 1 - changes.length);
      changes.push(...(await changesAmong(found.slice(from, end), pair, version)));
      from = end;
    }
    isComplete = found.length < size;
    after = found.at(-1);
  }
  const page = changes.slice(0, limit);
  const listings = await listingsAfter(page, version, request);
  const texts = page.map(
    (change) => `${JSON.stringify(change).slice(0, -1)},"listing":${listings.get(change.id) ?? null}}`,
  );
  return { texts, last: page.at(-1), hasMore: changes.length > limit };
}

const stateIn = (row: Row, name: string): ListingState | null => (row[name] ?? null) as ListingState | null;

const differenceIn = (row: Row): Difference => ({
  id: textIn(row, "id"),
  vin: textIn(row, "vin"),
  day: textIn(row, "day"),
  kind: textIn(row, "kind"),
  state_before: stateIn(row, "state_before"),
  state: stateIn(row, "state"),
  matched_before: row.matched_before === true,
  matches: row.matches === true,
});

/** Adds the attributes of both versions to differences. Leaves out listings whose state and attributes are equal. */
async function changesAmong(
  found: readonly Difference[],
  pair: VersionPair,
  version: LakeVersion,
): Promise<readonly Change[]> {
  const inBoth = found.filter(({ state, state_before }) => state === state_before);
  const values = new Map<string, Pick<Change, "before" | "after"> | undefined>();
  for (const state of new Set(inBoth.flatMap((one) => one.state ?? []))) {
    const ids = idsIn(inBoth, state);
    const { older, newer, valueIn } = await attributesOfBoth(pair, version, state, ids);
    for (const id of ids) values.set(id, differingValues(older.get(id), newer.get(id), valueIn));
  }
  return found.flatMap((difference): readonly Change[] => {
    const { id, state, state_before } = difference;
    const differing = state === state_before ? values.get(id) : { before: {}, after: {} };
    return differing === undefined ? [] : [{ ...difference, ...differing }];
  });
}

const idsIn = (found: readonly Difference[], state: ListingState): readonly string[] =>
  found.flatMap((one) => (one.state === state ? [one.id] : []));

/** The JSON of compared attributes, in the order of `comparedNames`. */
type Texts = readonly string[];

/** Returns the values of the attributes whose texts differ; undefined if none do. */
function differingValues(
  older: Texts = [],
  newer: Texts = [],
  valueIn: StoredTexts["valueIn"],
): Pick<Change, "before" | "after"> | undefined {
  const before: Record<string, Json> = {};
  const after: Record<string, Json> = {};
  let isOther = false;
  for (let index = 0; index < comparedNames.length; index += 1) {
    const name = comparedNames[index];
    if (name === undefined || older[index] === newer[index]) continue;
    isOther = true;
    before[name] = valueIn(name, older[index]);
    after[name] = valueIn(name, newer[index]);
  }
  return isOther ? { before, after } : undefined;
}

interface AttributesOfBoth {
  readonly older: ReadonlyMap<string, Texts>;
  readonly newer: ReadonlyMap<string, Texts>;
  readonly valueIn: StoredTexts["valueIn"];
}

/** Returns the compared attributes that listings have in both versions: both as the row store, or both as the engine has them. */
async function attributesOfBoth(
  { before, isContinued }: VersionPair,
  version: LakeVersion,
  state: ListingState,
  ids: readonly string[],
): Promise<AttributesOfBoth> {
  if (isContinued && state === "active") {
    const { columns, textsOf, valueIn } = storedTextsOf(comparedNames, version.dimensions);
    const textsOn = (day: string): Promise<ReadonlyMap<string, Texts>> =>
      readListings(version.activeOn(day), ids, columns, textsOf);
    return { older: await textsOn(before.as_of), newer: await textsOn(version.manifest.as_of), valueIn };
  }
  const textsIn = async (manifest: Manifest, isForeign: boolean): Promise<ReadonlyMap<string, Texts>> => {
    const [files, query] = attributesOf({ manifest, isForeign }, version.folder, state, ids);
    const rows = await version.rowsFrom(files, query);
    return new Map(rows.map((row) => [textIn(row, "id"), textIn(row, "attributes").split("\n")]));
  };
  return {
    older: await textsIn(before, !isContinued),
    newer: await textsIn(version.manifest, false),
    valueIn: (_name, text) => parseJsonValue(text),
  };
}

/** Reads rows in batches, and converts each. */
async function readListings<T>(
  listings: Listings,
  ids: readonly string[],
  columns: readonly ServedColumn[],
  convert: (row: JsonRow) => T,
): Promise<ReadonlyMap<string, T>> {
  const found = new Map<string, T>();
  for (let from = 0; from < ids.length; from += batchRows) {
    const batch = ids.slice(from, from + batchRows);
    const rows = await listings.read(batch, columns);
    for (const [index, row] of rows.entries()) found.set(batch[index] ?? "", convert(row));
    await nextTurn();
  }
  return found;
}

/** Returns the listings of the newer version that a search returns, each as JSON text of schema `ListingSummary`. */
async function listingsAfter(
  changes: readonly Change[],
  version: LakeVersion,
  { fields, origin }: ChangesRequest,
): Promise<ReadonlyMap<string, string>> {
  const listings = { active: version.activeOn(version.manifest.as_of), sold: version.soldSince(undefined) };
  const read = (status: "active" | "sold"): Promise<ReadonlyMap<string, string>> => {
    const { columns, serialize } = serializerOf(fields, { status, origin }, version.dimensions);
    return readListings(listings[status], idsIn(changes, status), columns, serialize);
  };
  return new Map([...(await read("active")), ...(await read("sold"))]);
}
