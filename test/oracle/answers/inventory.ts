/** The listings of a lake as flat rows in memory: the oracle's only data. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { isObject, type Json, type Row, textIn } from "../../../src/base/json.ts";
import { projectText } from "../../../src/base/project-files.ts";
import { currentManifest, type Manifest } from "../../../src/lake/manifest.ts";
import {
  attributes,
  type CategoryName,
  categoryNames,
  type NameOf,
  type RangedName,
  rangedNames,
  valuedNames,
} from "../../../src/listing/schema.ts";
import { type LakeQuery, withLakeQueries } from "../../support/lakes/lakes.ts";
import { derivedOf } from "./derived.ts";
import { type OracleVocabulary, readVocabulary } from "./vocabulary.ts";

type NumberCategory = NameOf<{ readonly type: "SMALLINT"; readonly search: "category" }>;

export type NumberField = NumberCategory | RangedName | (typeof otherNumbers)[number] | "latitude" | "longitude";

/** Returns whether the values of an attribute are numbers that are matched one by one. */
export const isNumberCategory = (name: CategoryName): name is NumberCategory => attributes[name].type === "SMALLINT";

const otherNumbers = [
  ...(["market_value", "market_value_low", "market_value_high", "price_to_value"] as const),
  ...(["price_at_listing", "price_drop_percent", "seller_fees"] as const),
] as const;

const numberFields: readonly NumberField[] = [
  ...otherNumbers,
  ...categoryNames.filter(isNumberCategory),
  ...rangedNames,
  ...(["latitude", "longitude"] as const),
];
const otherTexts = [
  ...(["stock_number", "vdp_url", "sold_date", "sold_on_record", "value_step"] as const),
  ...(["dealer_name", "city", "postal_code"] as const),
] as const;

export type TextField = Exclude<CategoryName, NumberCategory> | (typeof otherTexts)[number];

const textFields: readonly TextField[] = [
  ...categoryNames.filter((name): name is Exclude<CategoryName, NumberCategory> => !isNumberCategory(name)),
  ...otherTexts,
];
export const listFields = ["photo_urls", "features", "options_packages", "keywords"] as const;

export type ListField = (typeof listFields)[number];

export interface FlatListing
  extends Readonly<Record<TextField, string | null>>,
    Readonly<Record<NumberField, number | null>>,
    Readonly<Record<ListField, readonly string[]>> {
  readonly id: string;
  readonly vin: string;
  readonly status: "active" | "sold";
  /** ISO 8601 in UTC. */
  readonly listed_at: string | null;
  readonly price_changed_at: string | null;
  readonly price_history: readonly Json[];
}

export interface OraclePoint {
  readonly latitude: number;
  readonly longitude: number;
}

export interface OracleInventory {
  /** As-of date and name of the version. */
  readonly asOf: string;
  readonly currency: string;
  readonly version: string;
  /** Whether prices were fitted to its market. */
  readonly hasFit: boolean;
  readonly active: readonly FlatListing[];
  readonly sold: readonly FlatListing[];
  /** The active listings of each day. */
  readonly snapshots: ReadonlyMap<string, readonly FlatListing[]>;
  /** Every listing that ever existed, each once, as it was last observed. */
  readonly records: readonly FlatListing[];
  /** All listings of snapshots and sold. */
  readonly all: readonly FlatListing[];
  /** The options, by `optionKey`. */
  readonly options: ReadonlyMap<string, Json>;
  /** The assembly locations of the lake's builds. */
  readonly assemblyLocations: readonly string[];
  /** Every value that the lake has ever had, by attribute. */
  readonly vocabulary: OracleVocabulary;
  readonly zips: ReadonlyMap<string, OraclePoint>;
  /** The newest name of each dealer. */
  readonly dealerNames: ReadonlyMap<string, string | null>;
}

/** Reads the published version of a lake, with the snapshots of some days, or all; listings are in the partition's order. */
export async function readInventory(lake: string, days?: readonly string[]): Promise<OracleInventory> {
  const manifest = (await currentManifest(lake)) ?? assert.fail(`${lake}: nothing is published`);
  return withLakeQueries(lake, (rowsOf) => inventoryIn(rowsOf, lake, manifest, days));
}

async function inventoryIn(
  rowsOf: LakeQuery,
  lake: string,
  manifest: Manifest,
  days: readonly string[] | undefined,
): Promise<OracleInventory> {
  const snapshots = new Map<string, readonly FlatListing[]>();
  for (const day of days ?? Object.keys(manifest.days)) {
    const ofDay = day === manifest.as_of ? "active" : `active_days WHERE snapshot_date = '${day}'`;
    const rows = await rowsOf(`SELECT * FROM ${ofDay} ORDER BY make, model, year, trim, id`);
    snapshots.set(day, flatListingsOf(rows, "active"));
  }
  const sold = flatListingsOf(await rowsOf("SELECT * FROM sold"), "sold").toSorted(byPartitionOrder);
  const missing = await rowsOf("SELECT * FROM missing");
  const ended = await rowsOf("SELECT * FROM ended");
  const active = snapshots.get(manifest.as_of) ?? assert.fail(`${lake} has no snapshot of ${manifest.as_of}`);
  const locations = await rowsOf(
    "SELECT DISTINCT assembly_location FROM builds WHERE assembly_location IS NOT NULL ORDER BY ALL",
  );
  assertInOrder(sold, await idsIn(rowsOf, lake, manifest.tables.sold));
  return {
    asOf: manifest.as_of,
    currency: manifest.currency,
    version: manifest.version,
    hasFit: manifest.tables.price_effects.length > 0,
    active,
    sold,
    snapshots,
    records: [...active, ...flatListingsOf([...missing, ...ended], "active"), ...sold],
    all: [...snapshots.values(), sold].flat(),
    options: optionsOf(await rowsOf("SELECT * FROM options ORDER BY option_key")),
    assemblyLocations: locations.map((row) => textIn(row, "assembly_location")),
    vocabulary: await readVocabulary(rowsOf),
    zips: zipsIn(projectText("data/reference/zip_codes.csv")),
    dealerNames: new Map(
      (await rowsOf("SELECT dealer_id, name FROM dealers ORDER BY dealer_key")).map((row) => [
        textIn(row, "dealer_id"),
        text(row, "name"),
      ]),
    ),
  };
}

/** Returns the coordinates of ZIP codes from rows of code, latitude and longitude. */
function zipsIn(csv: string): ReadonlyMap<string, OraclePoint> {
  const rows = csv.trimEnd().split("\n").slice(1);
  return new Map(
    rows.map((row) => {
      const [code = "", latitude, longitude] = row.split(",");
      return [code, { latitude: Number(latitude), longitude: Number(longitude) }];
    }),
  );
}

/** Returns the newest row of each code that has a name and a price. */
function optionsOf(rows: readonly Row[]): ReadonlyMap<string, Json> {
  const newest = new Map(
    rows.map(({ make, code, name, msrp }) => [
      optionKey(String(make), String(code)),
      { code: String(code), name: name ?? null, msrp: msrp ?? null },
    ]),
  );
  return new Map([...newest].filter(([, { name, msrp }]) => name !== null && msrp !== null));
}

/** Returns the ids of each file, in file order. */
async function idsIn(
  rowsOf: LakeQuery,
  lake: string,
  files: readonly { readonly path: string }[],
): Promise<readonly (readonly string[])[]> {
  const ids: (readonly string[])[] = [];
  for (const { path } of files) {
    const file = join(lake, path).replaceAll("'", "''");
    const rows = await rowsOf(
      `SELECT replace(id::VARCHAR, '-', '') AS id FROM read_parquet('${file}', file_row_number = true) ORDER BY file_row_number`,
    );
    ids.push(rows.map((row) => textIn(row, "id")));
  }
  return ids;
}

/** Fails unless each file has some of the listings, in their order, and all files together have each once. */
function assertInOrder(listings: readonly FlatListing[], files: readonly (readonly string[])[]): void {
  const inOrder = listings.map(({ id }) => id);
  for (const file of files) {
    const ids = new Set(file);
    const expected = inOrder.filter((id) => ids.has(id));
    assert.deepEqual(file, expected, "the partition's own order");
  }
  assert.equal(files.flat().length, listings.length);
}

/** Codes are unique within a make only. */
export function optionKey(make: string | null, code: string): string {
  return JSON.stringify([make, code]);
}

export function flatListingsOf(rows: readonly Row[], status: "active" | "sold"): readonly FlatListing[] {
  return rows.map((row) => listingOf(row, status));
}

function listingOf(found: Row, status: "active" | "sold"): FlatListing {
  const row: Row = { ...mapFields(valuedNames, () => null), ...found, ...derivedOf(found) };
  const id = text(row, "id") ?? assert.fail("a listing without an id");
  const vin = text(row, "vin") ?? assert.fail(`${id} has no VIN`);
  return {
    ...mapFields(textFields, (field) => text(row, field)),
    ...mapFields(numberFields, (field) => number(row, field)),
    ...mapFields(listFields, (field) => list(row, field).map(String)),
    id,
    vin,
    status,
    listed_at: isoTimestamp(text(row, "listed_at")),
    price_changed_at: isoTimestamp(text(row, "price_changed_at")),
    price_history: list(row, "price_history").map((change) => {
      assert.ok(isObject(change), `${id}: ${JSON.stringify(change)} is not a price change`);
      const changedAt = isoTimestamp(String(change.changed_at));
      return { ...change, date: String(changedAt).slice(0, 10), changed_at: changedAt } as Json;
    }),
  };
}

function mapFields<Field extends string, Value>(fields: readonly Field[], read: (field: Field) => Value) {
  return Object.fromEntries(fields.map((field) => [field, read(field)])) as Record<Field, Value>;
}

function text(row: Row, field: string): string | null {
  const value = row[field] ?? null;
  assert.ok(field in row && (value === null || typeof value === "string"), `${field} holds ${JSON.stringify(value)}`);
  return value;
}

function number(row: Row, field: string): number | null {
  const value = row[field] ?? null;
  assert.ok(field in row && (value === null || typeof value === "number"), `${field} holds ${JSON.stringify(value)}`);
  return value;
}

function list(row: Row, field: string): readonly Json[] {
  const value = row[field] ?? [];
  assert.ok(field in row && Array.isArray(value), `${field} holds ${JSON.stringify(value)}`);
  return value;
}

/** Converts `2026-11-19 14:10:00` to `2026-11-19T14:10:00Z`. */
function isoTimestamp(stored: string | null): string | null {
  return stored === null ? null : `${stored.replace(" ", "T")}Z`;
}

/** Order within a file: make, model, year, trim and id, unknown values last. */
function byPartitionOrder(one: FlatListing, other: FlatListing): number {
  return (
    compare(one.make, other.make) ||
    compare(one.model, other.model) ||
    compare(one.year, other.year) ||
    compare(one.trim, other.trim) ||
    compare(one.id, other.id)
  );
}

type Comparable = string | number | null;

/** Ascending; texts by their bytes, null last. */
export function compare(one: Comparable, other: Comparable): number {
  if (one === null || other === null) return Number(one === null) - Number(other === null);
  if (typeof one === "number" || typeof other === "number") return Number(one) - Number(other);
  return Buffer.compare(Buffer.from(one), Buffer.from(other));
}
