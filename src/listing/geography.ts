/** Points, bounding boxes and great-circle distances in miles. */
import { numberLiteral, type Sql, sql } from "../db/sql.ts";

export interface Point {
  readonly latitude: number;
  readonly longitude: number;
}

/** A bounding box, in degrees. If `west` is greater than `east`, the box crosses the antimeridian. */
export interface Box {
  readonly west: number;
  readonly south: number;
  readonly east: number;
  readonly north: number;
}

const earthRadiusMiles = 3958.7613;

const radians = (degrees: number): number => (degrees * Math.PI) / 180;

/** Returns the great-circle distance between two points in miles (haversine formula). */
export function milesBetween(start: Point, end: Point): number {
  const latitudeDelta = radians(end.latitude - start.latitude);
  const longitudeDelta = radians(end.longitude - start.longitude);
  const haversine =
    Math.sin(latitudeDelta / 2) ** 2 +
    Math.cos(radians(start.latitude)) * Math.cos(radians(end.latitude)) * Math.sin(longitudeDelta / 2) ** 2;
  return 2 * earthRadiusMiles * Math.asin(Math.min(1, Math.sqrt(haversine)));
}

/** Returns `milesBetween` a point and that of columns `latitude` and `longitude`; null if they are. */
export function milesFrom(start: Point): Sql {
  const latitude = numberLiteral(start.latitude);
  const longitude = numberLiteral(start.longitude);
  return sql`2 * ${numberLiteral(earthRadiusMiles)} * asin(least(1, sqrt(pow(sin(radians(latitude - ${latitude}) / 2), 2)
    + cos(radians(${latitude})) * cos(radians(latitude)) * pow(sin(radians(longitude - ${longitude}) / 2), 2))))`;
}

/** Converts miles to degrees of latitude, rounded up slightly: points farther apart in latitude are farther apart in miles. */
export const degreesOf = (miles: number): number => (miles / earthRadiusMiles) * (180 / Math.PI) + 1e-6;

/** Returns whether a point lies in a box, edges included. Longitudes 180 and -180 are one meridian. */
export function isInside({ latitude, longitude }: Point, { west, south, east, north }: Box): boolean {
  if (latitude < south || latitude > north) return false;
  const longitudes = Math.abs(longitude) === 180 ? [-180, 180] : [longitude];
  return longitudes.some((degrees) =>
    west > east ? degrees >= west || degrees <= east : degrees >= west && degrees <= east,
  );
}
