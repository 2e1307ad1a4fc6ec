/** Oracle of distances: the origin of a search and the miles to a dealer. */
import assert from "node:assert/strict";
import { decodeValue, numberOf, type Query } from "../random-requests/query.ts";
import type { FlatListing, OraclePoint } from "./inventory.ts";

const earthRadiusMiles = 3958.7613;

/** Returns the origin of a query, or undefined if it has none. */
export function oracleOrigin(query: Query, zips: ReadonlyMap<string, OraclePoint>): OraclePoint | undefined {
  const postalCode = query.get("postal_code");
  if (postalCode !== undefined)
    return zips.get(decodeValue(postalCode)) ?? assert.fail(`unknown ZIP code ${postalCode}`);
  const latitude = numberOf(query, "latitude");
  const longitude = numberOf(query, "longitude");
  return latitude === undefined || longitude === undefined ? undefined : { latitude, longitude };
}

/** Returns great-circle miles from the origin to the dealer; null if either is unknown. */
export function distanceOf({ latitude, longitude }: FlatListing, origin: OraclePoint | undefined): number | null {
  if (origin === undefined || latitude === null || longitude === null) return null;
  return oracleMilesBetween(origin, { latitude, longitude });
}

export function oracleMilesBetween(one: OraclePoint, other: OraclePoint): number {
  const northward = radians(other.latitude - one.latitude);
  const eastward = radians(other.longitude - one.longitude);
  const haversine =
    Math.sin(northward / 2) ** 2 +
    Math.cos(radians(one.latitude)) * Math.cos(radians(other.latitude)) * Math.sin(eastward / 2) ** 2;
  return 2 * earthRadiusMiles * Math.asin(Math.min(1, Math.sqrt(haversine)));
}

function radians(degrees: number): number {
  return (degrees * Math.PI) / 180;
}

/** Returns whether a dealer is in a box west, south, east, north; a west above its east crosses the antimeridian. */
export function isInsideBox({ latitude, longitude }: FlatListing, box: readonly number[]): boolean {
  const [west = Number.NaN, south = Number.NaN, east = Number.NaN, north = Number.NaN] = box;
  if (latitude === null || longitude === null || latitude < south || latitude > north) return false;
  if (west > east) return longitude >= west || longitude <= east;
  return longitude >= west && longitude <= east;
}
