/**
 * Changes: the listings whose state or attributes differ between an older version of the lake and a newer one, in pages. Applied to the market of the
 * older version, all changes yield that of the newer one.
 *
 * A page takes one statement over narrow columns of the rows that can differ. The engine compares the content of a batch of them, and reads its listings,
 * so that the event loop only joins texts.
 */
import { nextTurn } from "../../base/concurrency.ts";
import { type Json, type Row, textIn } from "../../base/json.ts";
import { parseJsonValue } from "../../lake/json-row.ts";
import type { Filter } from "../../listing/filter.ts";
import type { Point } from "../../listing/geography.ts";
import { type AttributeName, attributes } from "../../listing/schema.ts";
import type { LakeVersion } from "../../serving/lake-version.ts";
import type { ListingState } from "../../serving/listing-files.ts";
import { type ListingField, serializerOf } from "../fields.ts";
import { distanceMiles } from "../geography.ts";
import {
  attributesOf,
  comparedNames,
  differencesOf,
  filesOfPair,
  newerListings,
  olderAttributes,
} from "./pair-rows.ts";
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

/** The most bytes of the changes on a page; a larger change is a page alone. */
const pageBytesMax = 256 * 1024;

/** How many changes are compared in a statement and serialized in a turn of the event loop: about a page of default fields. */
const batchRows = 250;

/** Returns a page of the changes between a version and an older one, and whether there are more. */
export async function changesOf(
  pair: VersionPair,
  version: LakeVersion,
  request: ChangesRequest,
): Promise<ChangesPage> {
  const { limit } = request;
  const texts: string[] = [];
  let bytes = 0;
  let last: ChangePosition | undefined;
  let { after } = request;
  // What differs in columns that are not compared is left out afterwards. If that leaves too few, the engine compares all columns of the rest.
  for (let isHashed = !pair.isContinued; ; isHashed = true) {
    const size = isHashed ? limit + 1 - texts.length : 2 * limit;
    const query = differencesOf(pair, version.folder, { ...request, after, limit: size, isHashed });
    const found = (await version.rowsFrom(filesOfPair(pair), query)).map(differenceIn);
    for (let from = 0; from < found.length; from += batchRows) {
      const changes = await changesAmong(found.slice(from, from + batchRows), pair, version);
      const listings = await listingsOf(changes, pair, version, request);
      for (const change of changes) {
        const text = `${JSON.stringify(change).slice(0, -1)},"listing":${listings.get(change.id) ?? null}}`;
        bytes += Buffer.byteLength(text) + 1;
        const isFull = texts.length === limit || (texts.length > 0 && bytes > pageBytesMax);
        if (isFull) return { texts, last, hasMore: true };
        texts.push(text);
        last = change;
      }
      await nextTurn();
    }
    if (found.length < size) return { texts, last, hasMore: false };
    after = found.at(-1);
  }
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
  const ids = found.flatMap(({ id, state, state_before }) => (state === state_before ? [id] : []));
  const query = attributesOf(pair, version.folder, ids);
  const rows = ids.length === 0 ? [] : await version.rowsFrom(filesOfPair(pair), query);
  const values = new Map(rows.map((row) => [textIn(row, "id"), differingValues(row)]));
  return found.flatMap((difference): readonly Change[] => {
    const { id, state, state_before } = difference;
    const differing = state === state_before ? values.get(id) : { before: {}, after: {} };
    return differing === undefined ? [] : [{ ...difference, ...differing }];
  });
}

const idsIn = (found: readonly Difference[], state: ListingState | null): readonly string[] =>
  found.flatMap((one) => (one.state === state ? [one.id] : []));

/** Returns the values of the attributes that differ. A row has the JSON of each compared attribute in a line, in both versions. */
function differingValues(row: Row): Pick<Change, "before" | "after"> {
  const before: Record<string, Json> = {};
  const after: Record<string, Json> = {};
  const older = textIn(row, "older").split("\n");
  const newer = textIn(row, "newer").split("\n");
  for (const [index, name] of comparedNames.entries()) {
    if (older[index] === newer[index]) continue;
    before[name] = parseJsonValue(older[index]);
    after[name] = parseJsonValue(newer[index]);
  }
  return { before, after };
}

const statusOf = (state: ListingState | null): "active" | "sold" => (state === "sold" ? state : "active");

/** Returns the last known row of each listing, as JSON text of schema `ListingSummary`: that of the newer version, if it has the listing. */
async function listingsOf(
  changes: readonly Change[],
  pair: VersionPair,
  version: LakeVersion,
  request: ChangesRequest,
): Promise<ReadonlyMap<string, string>> {
  const { fields, origin } = request;
  const found = new Map<string, string>(await removedListings(changes, pair, version, request));
  for (const state of ["active", "missing", "sold", "ended"] as const) {
    const ids = idsIn(changes, state);
    const { columns, serialize } = serializerOf(fields, { status: statusOf(state), origin }, version.dimensions);
    const rows = await version.scan(newerListings(pair, state), ids, columns);
    for (const [index, row] of rows.entries()) found.set(ids[index] ?? "", serialize(row));
  }
  return found;
}

/** Returns the rows of listings that only the older version has, by their ids. Its keys can mean other builds and dealers, so the engine joins them. */
async function removedListings(
  changes: readonly Change[],
  pair: VersionPair,
  version: LakeVersion,
  { fields, origin }: ChangesRequest,
): Promise<readonly (readonly [id: string, text: string])[]> {
  const ids = idsIn(changes, null);
  if (ids.length === 0) return [];
  const names = [...fields.filter((field) => Object.hasOwn(attributes, field)), "latitude", "longitude"];
  const query = olderAttributes(pair, version.folder, ids, names as AttributeName[]);
  const statuses = new Map(changes.map(({ id, state_before }) => [id, JSON.stringify(statusOf(state_before))]));
  return (await version.rowsFrom(filesOfPair(pair), query)).map((row) => {
    const id = textIn(row, "id");
    const values = textIn(row, "attributes").split("\n");
    const [latitude = null, longitude = null] = values.slice(-2).map(parseJsonValue);
    const computed: Readonly<Record<string, string | undefined>> = {
      status: statuses.get(id),
      inventory_status: statuses.get(id),
      distance_miles: origin && JSON.stringify(distanceMiles({ latitude, longitude }, origin)),
    };
    const jsonOf = (field: string): string => values[names.indexOf(field)] ?? computed[field] ?? "null";
    return [id, `{${fields.map((field) => `"${field}":${jsonOf(field)}`).join(",")}}`];
  });
}
