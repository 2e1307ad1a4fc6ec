/**
 * Changes: the listings whose state or attributes differ between an older version of the lake and a newer one, in pages. Applied to the market of the
 * older version, all changes yield that of the newer one.
 *
 * A page takes one statement over narrow columns of the rows that can differ. The row store reads what a batch of them has in both versions, which is
 * compared in short turns of the event loop: the engine would read all columns of the market.
 */

import { type Json, type Row, rowOf, textIn } from "../../base/json.ts";
import { forEachInTurns, turnLater } from "../../base/turns.ts";
import { type JsonRow, parsePiece } from "../../lake/json-row.ts";
import type { Filter } from "../../listing/filter.ts";
import type { Point } from "../../listing/geography.ts";
import { type AttributeName, attributes } from "../../listing/schema.ts";
import type { LakeVersion } from "../../serving/lake-version.ts";
import { type ListingState, listingStates } from "../../serving/listing-files.ts";
import { attributesOf, type ListingField, serializerOf } from "../fields.ts";
import { distanceMiles } from "../geography.ts";
import { comparedNames, differencesOf, filesOfPair, inventoriesIn, olderAttributes } from "./pair-rows.ts";
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

/** A difference with the compared attributes that differ, none unless the listing is in the same state in both, and the listing, as JSON text. */
interface SerializedChange extends ChangePosition {
  readonly text: string;
}

interface ChangesPage {
  /** Each is JSON text of schema `ListingChange`. */
  readonly texts: readonly string[];
  readonly last: ChangePosition | undefined;
  readonly hasMore: boolean;
}

/** The most bytes of the changes on a page; a larger change is a page alone. */
const pageBytesMax = 256 * 1024;

/** How many differences a statement finds: those of two pages of default fields. The event loop takes 5 ms to receive them. */
const roundRows = 500;

/** How many differences are read, compared and serialized in a turn of the event loop, and how many by statements that read all rows. */
const batchRows = { stored: 50, scanned: 250 } as const;

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
  let isHashed = !pair.isContinued;
  for (;;) {
    const before = texts.length;
    const left = limit + 1 - before;
    const size = isHashed ? left : Math.min(2 * left, roundRows);
    const query = differencesOf(pair, version.folder, { ...request, after, limit: size, isHashed });
    const found = (await version.rowsFrom(filesOfPair(pair), query)).map(differenceIn);
    const batch = pair.isContinued ? batchRows.stored : batchRows.scanned;
    for (let from = 0; from < found.length; from += batch) {
      await turnLater();
      for (const change of await changesAmong(found.slice(from, from + batch), pair, version, request)) {
        bytes += Buffer.byteLength(change.text) + 1;
        const isFull = texts.length === limit || (texts.length > 0 && bytes > pageBytesMax);
        if (isFull) return { texts, last, hasMore: true };
        texts.push(change.text);
        last = change;
      }
    }
    if (found.length < size) return { texts, last, hasMore: false };
    after = found.at(-1);
    // What differs in columns that are not compared was left out. If that was most of them, the engine compares all columns of the rest.
    isHashed ||= texts.length - before < found.length / 2;
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

/** Returns the changes among differences, each as JSON text. Leaves out listings whose state and attributes are equal. */
async function changesAmong(
  found: readonly Difference[],
  pair: VersionPair,
  version: LakeVersion,
  request: ChangesRequest,
): Promise<readonly SerializedChange[]> {
  const { fields, origin } = request;
  const { dimensions } = version;
  const compared = attributesOf(comparedNames, dimensions);
  const serializers = {
    active: serializerOf(fields, { status: "active", origin }, dimensions),
    sold: serializerOf(fields, { status: "sold", origin }, dimensions),
  };
  const removed = await removedListings(found, pair, version, request);
  const newer = await rowsAfter(found, pair, version, [...comparedNames, ...fields]);
  const older = await comparisons(found, pair, version, compared);
  const changes: SerializedChange[] = [];
  await forEachInTurns(found, (difference) => {
    const { id, day, state, state_before } = difference;
    const row = newer.get(id);
    const was = older.get(id);
    const differing = was && row ? was(row) : { before: {}, after: {} };
    if (state === state_before && Object.keys(differing.after).length === 0) return;
    const listing = row === undefined ? (removed.get(id) ?? null) : serializers[statusOf(state)](row);
    const text = `${JSON.stringify({ ...difference, ...differing }).slice(0, -1)},"listing":${listing}}`;
    changes.push({ id, day, text });
  });
  return changes;
}

const idsIn = (found: readonly Difference[], state: ListingState | null): readonly string[] =>
  found.flatMap((one) => (one.state === state ? [one.id] : []));

/** Returns the rows of the newer version by id. */
async function rowsAfter(
  found: readonly Difference[],
  pair: VersionPair,
  version: LakeVersion,
  columns: readonly string[],
): Promise<ReadonlyMap<string, JsonRow>> {
  const rows = new Map<string, JsonRow>();
  for (const state of listingStates) {
    const ids = idsIn(found, state);
    const [, inventory] = inventoriesIn(pair, state);
    const read = await version.read(inventory, ids, columns, (row) => row);
    for (const [index, row] of read.entries()) rows.set(ids[index] ?? "", row);
  }
  return rows;
}

/** The values of the compared attributes that differ between two versions. */
type DifferingValues = Readonly<Record<"before" | "after", Row>>;

/** Returns the function that compares a row of the newer version with what its listing has in the older one, by id: of those that are in the same state in both. */
async function comparisons(
  found: readonly Difference[],
  pair: VersionPair,
  version: LakeVersion,
  compared: ReturnType<typeof attributesOf>,
): Promise<ReadonlyMap<string, (row: JsonRow) => DifferingValues>> {
  const compare = new Map<string, (row: JsonRow) => DifferingValues>();
  const inBoth = found.filter(({ state, state_before }) => state === state_before);
  // The newer version has the older rows of active listings among those of past days. It has replaced the files of missing and ended ones.
  const stored = pair.isContinued ? idsIn(inBoth, "active") : [];
  const [inventory] = inventoriesIn(pair, "active");
  const read = await version.read(inventory, stored, comparedNames, (older) => (newer: JsonRow) => {
    const names = compared.differingIn(older, newer);
    return differingValues(names, compared.read(older, names), compared.read(newer, names));
  });
  for (const [index, one] of read.entries()) compare.set(stored[index] ?? "", one);
  const scanned = inBoth.flatMap(({ id }) => (compare.has(id) ? [] : [id]));
  if (scanned.length === 0) return compare;
  const query = olderAttributes(pair, version.folder, scanned, comparedNames);
  await forEachInTurns(await version.rowsFrom(filesOfPair(pair), query), (row) => {
    const older = parsePiece(textIn(row, "attributes"));
    compare.set(textIn(row, "id"), (newer) =>
      differingValues(comparedNames, older, compared.read(newer, comparedNames)),
    );
  });
  return compare;
}

/** Returns which of some attributes differ. */
function differingValues(names: readonly AttributeName[], older: Row, newer: Row): DifferingValues {
  const before: Record<string, Json> = {};
  const after: Record<string, Json> = {};
  for (const name of names) {
    const was = older[name] ?? null;
    const is = newer[name] ?? null;
    if (was === is || JSON.stringify(was) === JSON.stringify(is)) continue;
    before[name] = was;
    after[name] = is;
  }
  return { before, after };
}

const statusOf = (state: ListingState | null): "active" | "sold" => (state === "sold" ? state : "active");

/** Returns the rows of listings that only the older version has, by their ids. Its keys can mean other builds and dealers, so the engine joins them. */
async function removedListings(
  found: readonly Difference[],
  pair: VersionPair,
  version: LakeVersion,
  { fields, origin }: ChangesRequest,
): Promise<ReadonlyMap<string, string>> {
  const ids = idsIn(found, null);
  if (ids.length === 0) return new Map();
  const names = [...new Set([...fields.filter((field) => Object.hasOwn(attributes, field)), "latitude", "longitude"])];
  const query = olderAttributes(pair, version.folder, ids, names as AttributeName[]);
  const statuses = new Map(found.map(({ id, state_before }) => [id, statusOf(state_before)]));
  const texts = new Map<string, string>();
  await forEachInTurns(await version.rowsFrom(filesOfPair(pair), query), (row) => {
    const id = textIn(row, "id");
    const values = parsePiece(textIn(row, "attributes"));
    const computed: Readonly<Record<string, Json | undefined>> = {
      status: statuses.get(id),
      inventory_status: statuses.get(id),
      distance_miles: origin && distanceMiles(values, origin),
    };
    texts.set(id, JSON.stringify(rowOf(fields, (field) => values[field] ?? computed[field] ?? null)));
  });
  return texts;
}
