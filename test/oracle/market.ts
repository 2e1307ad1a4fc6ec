/** The listings of a lake as flat rows in memory: all that the oracle knows of the market. */
import assert from "node:assert/strict";
import { isObject, type Json, type Row } from "../../src/base/json.ts";
import { ask } from "../support/lakes.ts";

export const textFields = [
  "make",
  "model",
  "model_code",
  "trim",
  "version",
  "body_type",
  "drivetrain",
  "fuel_type",
  "powertrain_type",
  "transmission",
  "engine",
  "assembly_location",
  "assembly_country",
  "exterior_color",
  "interior_color",
  "base_exterior_color",
  "base_interior_color",
  "availability_status",
  "inventory_type",
  "stock_number",
  "vdp_url",
  "sold_date",
  "dealer_id",
  "dealer_name",
  "dealer_type",
  "city",
  "state",
  "postal_code",
] as const;
export const numberFields = [
  "year",
  "cylinders",
  "doors",
  "seating_capacity",
  "msrp",
  "price",
  "miles",
  "days_on_market",
  "latitude",
  "longitude",
] as const;
export const listFields = ["photo_urls", "features", "options_packages", "keywords"] as const;

export type TextField = (typeof textFields)[number];
export type NumberField = (typeof numberFields)[number];
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
  readonly price_history: readonly Json[];
}

export interface Point {
  readonly latitude: number;
  readonly longitude: number;
}

export interface Market {
  /** The published day. */
  readonly asOf: string;
  readonly active: readonly FlatListing[];
  readonly sold: readonly FlatListing[];
  /** The active listings of each day. */
  readonly snapshots: ReadonlyMap<string, readonly FlatListing[]>;
  /** The options by `optionKey`. */
  readonly options: ReadonlyMap<string, Json>;
  readonly zips: ReadonlyMap<string, Point>;
}

/** Reads the published version of a lake; every list of listings is in the partition's own order. */
export async function readMarket(lake: string, zips: ReadonlyMap<string, Point> = new Map()): Promise<Market> {
  const [active, sold, past, options] = await Promise.all([
    ask(lake, "SELECT * FROM active"),
    ask(lake, "SELECT * FROM sold"),
    ask(lake, "SELECT * FROM snapshots"),
    ask(lake, "SELECT * FROM options"),
  ]);
  const days = [...new Set(past.map((row) => String(row.snapshot_date)))].sort();
  return {
    asOf: days.at(-1) ?? assert.fail(`${lake} has no snapshot`),
    active: listingsOf(active, "active"),
    sold: listingsOf(sold, "sold"),
    snapshots: new Map(
      days.map((day) => {
        const rows = past.filter((row) => row.snapshot_date === day);
        return [day, listingsOf(rows, "active")];
      }),
    ),
    options: new Map(
      options.map(({ make, code, name, msrp }) => [
        optionKey(String(make), String(code)),
        { code: code ?? null, name: name ?? null, msrp: msrp ?? null },
      ]),
    ),
    zips,
  };
}

/** Codes mean something within a make only. */
export function optionKey(make: string | null, code: string): string {
  return JSON.stringify([make, code]);
}

function listingsOf(rows: readonly Row[], status: "active" | "sold"): readonly FlatListing[] {
  return rows.map((row) => listingOf(row, status)).sort(byPlace);
}

function listingOf(row: Row, status: "active" | "sold"): FlatListing {
  const id = text(row, "id") ?? assert.fail("a listing without an id");
  const vin = text(row, "vin") ?? assert.fail(`${id} has no VIN`);
  return {
    ...each(textFields, (field) => text(row, field)),
    ...each(numberFields, (field) => number(row, field)),
    ...each(listFields, (field) => list(row, field).map(String)),
    id,
    vin,
    status,
    listed_at: instant(text(row, "listed_at")),
    price_history: list(row, "price_history").map((change) => {
      assert.ok(isObject(change), `${id}: ${JSON.stringify(change)} is no change of price`);
      return { ...change, changed_at: instant(String(change.changed_at)) } as Json;
    }),
  };
}

function each<Field extends string, Value>(fields: readonly Field[], read: (field: Field) => Value) {
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

/** `2026-11-19 14:10:00` as `2026-11-19T14:10:00Z`. */
function instant(stored: string | null): string | null {
  return stored === null ? null : `${stored.replace(" ", "T")}Z`;
}

/** The partition's own order: make, model, year, trim and id, each unknown last. */
function byPlace(one: FlatListing, other: FlatListing): number {
  return (
    compare(one.make, other.make) ||
    compare(one.model, other.model) ||
    compare(one.year, other.year) ||
    compare(one.trim, other.trim) ||
    compare(one.id, other.id)
  );
}

type Comparable = string | number | null;

/** Ascending, texts by their bytes, null last. */
export function compare(one: Comparable, other: Comparable): number {
  if (one === null || other === null) return Number(one === null) - Number(other === null);
  if (typeof one === "number" || typeof other === "number") return Number(one) - Number(other);
  return Buffer.compare(Buffer.from(one), Buffer.from(other));
}
