/**
 * The listings that differ between two versions of a lake, in SQL over the Parquet files of both. Files that both have hold no difference. If the newer
 * version continues the older one, only the rows whose interval begins or ends after the older one's day are read.
 */
import { ident, integerLiteral, join, literal, type Sql, sql } from "../../db/sql.ts";
import { flatColumns, starJoins, tokensInOrder, tokenWords } from "../../lake/analyst/flat-listings.ts";
import { rowsOfFiles } from "../../lake/derived-relations.ts";
import { JsonRowFormat } from "../../lake/json-row.ts";
import { type LakeFile, type Manifest, tableFilesOf } from "../../lake/manifest.ts";
import { activeOn, type Inventory, unorderedListings } from "../../lake/market.ts";
import { type ServedColumn, servedColumns } from "../../lake/served-columns.ts";
import type { Filter } from "../../listing/filter.ts";
import { type AttributeName, attributeOf, attributes } from "../../listing/schema.ts";
import { inventoriesOf, type ListingState } from "../../serving/listing-files.ts";
import { matchesAll } from "./matching.ts";
import type { VersionPair } from "./version-pair.ts";

/** Returns whether a change of an attribute is a change of the listing: it is served or searched, and neither counts days nor depends on the whole market. */
function isCompared(name: AttributeName): boolean {
  const { serve, kept, feed } = attributeOf(name);
  const isListed = serve !== "key" && serve !== "none" && serve !== "price_history";
  return isListed && kept !== "counted" && feed !== "valuation" && name !== "id" && name !== "vin";
}

export const comparedNames = (Object.keys(attributes) as AttributeName[]).filter(isCompared);

/** The states of a listing, each with the day since which it is in it. */
const sinceOf: Readonly<Record<ListingState, Sql>> = {
  active: sql`valid_from`,
  missing: sql`missing_since`,
  sold: sql`sold_on_record`,
  ended: sql`coalesce(ended_on, missing_since)`,
};

/** The files and the dimensions of one side of a pair. */
interface Side {
  readonly inventories: Readonly<Record<ListingState, Inventory>>;
  /** The version whose dimension files have its keys; undefined if those of the engine's tables do. */
  readonly dimensions: Manifest | undefined;
  /** Rows of active and sold listings hold since a later day; undefined if all are read. */
  readonly since: string | undefined;
}

/** Which differences of a pair to find. */
interface DifferenceRequest {
  readonly filters: readonly Filter[];
  readonly kinds: readonly string[] | undefined;
  /** Differences after this one, in order. */
  readonly after: { readonly day: string; readonly id: string } | undefined;
  readonly limit: number;
  /** Whether to leave out listings with equal content, which takes as long as reading all of their columns. */
  readonly isHashed: boolean;
}

/** Returns the rows of a side's files that the other version can lack. */
function sidesOf({ before, after, isContinued }: VersionPair): readonly [Side, Side] {
  const unshared = (of: Manifest, other: Manifest): Side["inventories"] => {
    const paths = new Set(tableFilesOf(other).map(({ path }) => path));
    const without = ({ files, ...inventory }: Inventory): Inventory => ({
      ...inventory,
      files: files.filter(({ path }) => !paths.has(path)),
      valuations: [],
    });
    const { active, missing, sold, ended } = inventoriesOf(of);
    return { active: without(active), missing: without(missing), sold: without(sold), ended: without(ended) };
  };
  const older = unshared(before, after);
  const newer = unshared(after, before);
  if (!isContinued)
    return [
      { inventories: older, dimensions: before, since: undefined },
      { inventories: newer, dimensions: undefined, since: undefined },
    ];
  const held = activeOn(after, before.as_of);
  const isPast = new Set<LakeFile>(after.tables.past_listings);
  const active = { ...held, files: held.files.filter((file) => isPast.has(file)), valuations: [] };
  // Sales are final.
  const sold = { ...older.sold, files: [] };
  return [
    { inventories: { ...older, active, sold }, dimensions: undefined, since: undefined },
    { inventories: newer, dimensions: undefined, since: before.as_of },
  ];
}

/** Returns all files that `differencesOf` reads. */
export const filesOfPair = (pair: VersionPair): readonly LakeFile[] =>
  sidesOf(pair).flatMap(({ inventories, dimensions }) => [
    ...Object.values(inventories).flatMap(({ files }) => files),
    ...(dimensions === undefined ? [] : dimensionFiles(dimensions)),
  ]);

const dimensionFiles = ({ tables }: Manifest): readonly LakeFile[] => [
  ...tables.builds,
  ...tables.dealers,
  ...tables.tokens,
];

/** Returns a query over relations `builds`, `dealers`, `tokens` and `tokens_in_order`: those of a version's files, or of the engine's tables. */
function withDimensions(dimensions: Manifest | undefined, folder: string, query: Sql): Sql {
  const tables = dimensions === undefined ? [] : (["builds", "dealers", "tokens"] as const);
  const relations = tables.map(
    (table) => sql`${ident(table)} AS (${rowsOfFiles(table, dimensions?.tables[table] ?? [], folder)})`,
  );
  return sql`WITH ${join([...relations, sql`tokens_in_order AS (${tokensInOrder})`])} ${query}`;
}

/** Selects the rows of a side as listings, with `listing_state` and `since`. */
function rowsOfSide({ inventories, since }: Side, folder: string): Sql {
  const states = Object.entries(inventories);
  const held = states.filter(([, { files }]) => files.length > 0);
  // Planning takes as long as reading: a relation without files is left out.
  const relations = (held.length > 0 ? held : states.slice(0, 1)).map(([state, inventory]) => {
    const extra = [sql`${literal(state)} AS listing_state`, sql`${sinceOf[state as ListingState]} AS since`];
    const rows = unorderedListings(inventory, { folder, hasFeeds: false }, extra);
    const isLater = since !== undefined && (state === "active" || state === "sold");
    return isLater ? sql`FROM (${rows}) WHERE since > DATE ${literal(since)}` : rows;
  });
  return join(relations, sql` UNION ALL BY NAME `);
}

/** Selects the listings of a side with `state`, `since`, `matches`, and perhaps `content`, the hash of their attributes. */
function listingsOf(side: Side, folder: string, { filters, isHashed }: DifferenceRequest): Sql {
  const rows = sql`SELECT *, ${matchesAll(filters)} AS matches FROM (${rowsOfSide(side, folder)})`;
  const columns = sql`id, vin, listing_state, since, price, matches`;
  const facts = isHashed
    ? sql`SELECT ${columns}, ${contentHash} AS content FROM (${rows}) AS facts ${starJoins}`
    : sql`SELECT ${columns} FROM (${rows})`;
  return withDimensions(side.dimensions, folder, facts);
}

const attributeValue = (name: AttributeName): Sql => {
  const origin = flatColumns[name];
  if (origin === undefined) throw new TypeError(`Unknown attribute ${name}: expected a column of flat listings.`);
  if (origin.of === "tokens") return tokenWords(origin.column);
  return origin.of === "facts" ? servedColumns[name as ServedColumn] : origin.value;
};

const contentHash = sql`hash(${join(comparedNames.map(attributeValue))})`;

/** Returns the differences of a pair in order: of each listing its kind of change, the day since which it holds, and its states and matches in both. */
export function differencesOf(pair: VersionPair, folder: string, request: DifferenceRequest): Sql {
  const [older, newer] = sidesOf(pair).map((side) => listingsOf(side, folder, request)) as [Sql, Sql];
  const { kinds, after, limit, isHashed } = request;
  // A listing can have been active in between, and missing in both versions.
  const isOther = isHashed
    ? sql`older.content <> newer.content`
    : sql`(newer.listing_state = 'active' OR older.since <> newer.since)`;
  const isKind = kinds === undefined ? sql`` : sql`AND kind IN (${join(kinds.map(literal))})`;
  const day = sql`DATE ${literal(after?.day ?? "")}`;
  const isAfter = after === undefined ? sql`` : sql`AND (day > ${day} OR (day = ${day} AND id > ${literal(after.id)}))`;
  return sql`
    SELECT * REPLACE (day::VARCHAR AS day) FROM (
      SELECT id, coalesce(newer.vin, older.vin) AS vin, older.listing_state AS state_before, newer.listing_state AS state,
             coalesce(older.matches, false) AS matched_before, coalesce(newer.matches, false) AS matches,
             coalesce(newer.since, DATE ${literal(pair.after.as_of)}) AS day,
             CASE WHEN newer.listing_state IS NULL THEN 'removed'
                  WHEN newer.listing_state <> 'active' AND newer.listing_state IS DISTINCT FROM older.listing_state THEN newer.listing_state
                  WHEN older.listing_state IS NULL THEN 'new'
                  WHEN older.listing_state <> newer.listing_state THEN 'returned'
                  WHEN older.price IS DISTINCT FROM newer.price THEN 'price' ELSE 'changed' END AS kind
      FROM   (${older}) AS older FULL JOIN (${newer}) AS newer USING (id)
      WHERE  older.listing_state IS DISTINCT FROM newer.listing_state OR ${isOther})
    WHERE (matched_before OR matches) ${isKind} ${isAfter}
    ORDER BY day, id LIMIT ${integerLiteral(limit)}`;
}

/** Returns a query for listings of the older version: `id`, and some attributes as a piece of JSON in `attributes`. */
export function olderAttributes(
  pair: VersionPair,
  folder: string,
  ids: readonly string[],
  names: readonly AttributeName[],
): Sql {
  const [older] = sidesOf(pair);
  const format = new JsonRowFormat(Object.fromEntries(names.map((name) => [name, attributeValue(name)])));
  const rows = sql`SELECT * FROM (${rowsOfSide(older, folder)}) WHERE id IN (SELECT unnest(${ids}))`;
  const texts = sql`SELECT facts.id, ${format.selectText()} AS attributes FROM (${rows}) AS facts ${starJoins}`;
  return withDimensions(older.dimensions, folder, texts);
}

/** Returns the listings in a state of the files in which the versions can differ: of the older version, and of the newer one. */
export function inventoriesIn(pair: VersionPair, state: ListingState): readonly [older: Inventory, newer: Inventory] {
  const [older, newer] = sidesOf(pair);
  return [older.inventories[state], { ...inventoriesOf(pair.after)[state], files: newer.inventories[state].files }];
}
