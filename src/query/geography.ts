/**
 * Where a search starts from, and how far dealers are from there (sections 4.1 and 8.1 of the specification). Distances are
 * great-circle miles. A dealer without coordinates is nowhere: at no distance, in no radius, in no box.
 */
import { bounds } from "../base/bounds.ts";
import type { Row } from "../base/json.ts";
import { type Sql, sql } from "../base/sql.ts";
import { refuse } from "../contract/errors.ts";
import { quoted } from "../contract/query-string.ts";
import type { Filters } from "../contract/types.ts";
import { type Point, pointOfZip } from "./zip-codes.ts";

/** In degrees; a west above its east crosses the antimeridian. */
export interface Box {
  readonly west: number;
  readonly south: number;
  readonly east: number;
  readonly north: number;
}

const earthRadiusMiles = 3958.7613;

type Geography = Pick<Filters, "latitude" | "longitude" | "postal_code" | "radius" | "bbox">;

/** The origin of a request, which is a ZIP code or a point; undefined where it names none. Refuses both, half, and no ZIP code. */
export function originOf({ latitude, longitude, postal_code }: Geography): Point | undefined {
  if (postal_code !== undefined && (latitude !== undefined || longitude !== undefined)) {
    const point = latitude === undefined ? "longitude" : "latitude";
    const reason = "there is one origin, a ZIP code or a point";
    throw refuse("incompatible_parameters", { parameters: `postal_code and ${point}`, reason });
  }
  if (postal_code !== undefined) {
    const point = pointOfZip(postal_code);
    if (point === undefined) throw refuse("unknown_postal_code", { value: quoted(postal_code) });
    return point;
  }
  if (latitude === undefined && longitude === undefined) return undefined;
  if (latitude === undefined) throw missing("latitude", "longitude");
  if (longitude === undefined) throw missing("longitude", "latitude");
  return { latitude, longitude };
}

const missing = (parameter: "latitude" | "longitude", other: string): Error =>
  refuse("missing_parameter", { parameter, allowed: `degrees, and goes with ${other}` });

/** The origin that a parameter or a value needs; refuses a request without one. */
export function neededOrigin(geography: Geography, needs: string): Point {
  const origin = originOf(geography);
  if (origin !== undefined) return origin;
  const allowed = `a US ZIP code; ${needs} needs it, or latitude and longitude, as its origin`;
  throw refuse("missing_parameter", { parameter: "postal_code", allowed });
}

/** A box that is one: not together with a radius, its south not above its north, its diagonal not too long. */
export function boxOf([west = 0, south = 0, east = 0, north = 0]: readonly number[], { radius }: Geography): Box {
  if (radius !== undefined) {
    const reason = "both say which dealers are near enough";
    throw refuse("incompatible_parameters", { parameters: "bbox and radius", reason });
  }
  const value = quoted([west, south, east, north].join(","));
  const notAllowed = (allowed: string): Error =>
    refuse("invalid_parameter_value", { parameter: "bbox", value, allowed, hint: "" });
  if (Math.max(Math.abs(south), Math.abs(north)) > 90) {
    throw notAllowed("west,south,east,north with latitudes from -90 to 90");
  }
  if (south > north) throw notAllowed("west,south,east,north with the south not above the north");
  const box = { west, south, east, north };
  const diagonalMiles = diagonalOf(box);
  if (diagonalMiles > bounds.boxDiagonalMilesMax) {
    throw notAllowed(
      `a box with a diagonal of at most ${bounds.boxDiagonalMilesMax} miles; this one has ${Math.ceil(diagonalMiles)}`,
    );
  }
  return box;
}

/** From corner to corner. A box wider than half the globe counts as that wide: beyond, its corners come closer again. */
function diagonalOf({ west, south, east, north }: Box): number {
  const width = west > east ? east - west + 360 : east - west;
  return milesBetween({ latitude: south, longitude: 0 }, { latitude: north, longitude: Math.min(width, 180) });
}

const radians = (degrees: number): number => (degrees * Math.PI) / 180;

function milesBetween(one: Point, other: Point): number {
  const [north, east] = [other.latitude - one.latitude, other.longitude - one.longitude].map(radians);
  const chord =
    Math.sin((north ?? 0) / 2) ** 2 +
    Math.cos(radians(one.latitude)) * Math.cos(radians(other.latitude)) * Math.sin((east ?? 0) / 2) ** 2;
  return 2 * earthRadiusMiles * Math.asin(Math.min(1, Math.sqrt(chord)));
}

/** Miles from a point to a dealer, to a tenth, as they are served; null where it has no coordinates. */
export function milesTo({ latitude, longitude }: Row, origin: Point): number | null {
  if (typeof latitude !== "number" || typeof longitude !== "number") return null;
  return Math.round(10 * milesBetween(origin, { latitude, longitude })) / 10;
}

/** Great-circle miles from a point to what has `latitude` and `longitude` in degrees; null where either is unknown. */
export const milesFrom = ({ latitude, longitude }: Point): Sql => sql`
  CASE WHEN latitude IS NOT NULL AND longitude IS NOT NULL THEN 2 * ${earthRadiusMiles} * asin(least(1, sqrt(
    pow(sin(radians(latitude - ${latitude}) / 2), 2)
    + cos(radians(${latitude})) * cos(radians(latitude)) * pow(sin(radians(longitude - ${longitude}) / 2), 2)))) END`;

/**
 * Whether what has `latitude` and `longitude` is within some miles of a point. What lies too far north or south cannot be, and is
 * not measured.
 */
export function isWithin(origin: Point, radiusMiles: number): Sql {
  const degrees = (radiusMiles / earthRadiusMiles) * (180 / Math.PI) + 1e-6;
  return sql`latitude BETWEEN ${origin.latitude - degrees} AND ${origin.latitude + degrees} AND ${milesFrom(origin)} <= ${radiusMiles}`;
}

/** Whether what has `latitude` and `longitude` lies in a box, edges included. */
export function isInside({ west, south, east, north }: Box): Sql {
  const between = sql`latitude BETWEEN ${south} AND ${north}`;
  return west > east
    ? sql`${between} AND (longitude >= ${west} OR longitude <= ${east})`
    : sql`${between} AND longitude BETWEEN ${west} AND ${east}`;
}
