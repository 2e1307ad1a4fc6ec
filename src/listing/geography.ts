/** Points on the globe, and great-circle miles between them. What has no coordinates is at no distance, in no radius, in no box. */

/** In degrees. */
export interface Point {
  readonly latitude: number;
  readonly longitude: number;
}

/** In degrees; a west above its east crosses the antimeridian. */
export interface Box {
  readonly west: number;
  readonly south: number;
  readonly east: number;
  readonly north: number;
}

/** The mean radius of the Earth. */
export const earthRadiusMiles = 3958.7613;

const radians = (degrees: number): number => (degrees * Math.PI) / 180;

/** Great-circle miles between two points (haversine). */
export function milesBetween(one: Point, other: Point): number {
  const north = radians(other.latitude - one.latitude);
  const east = radians(other.longitude - one.longitude);
  const chord =
    Math.sin(north / 2) ** 2 +
    Math.cos(radians(one.latitude)) * Math.cos(radians(other.latitude)) * Math.sin(east / 2) ** 2;
  return 2 * earthRadiusMiles * Math.asin(Math.min(1, Math.sqrt(chord)));
}

/** How many degrees of latitude some miles are, and a little more: what lies farther north or south is farther away. */
export const degreesOf = (miles: number): number => (miles / earthRadiusMiles) * (180 / Math.PI) + 1e-6;

/** Whether a point lies in a box, edges included. */
export function isInside({ latitude, longitude }: Point, { west, south, east, north }: Box): boolean {
  if (latitude < south || latitude > north) return false;
  return west > east ? longitude >= west || longitude <= east : longitude >= west && longitude <= east;
}
