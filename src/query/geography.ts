/**
 * Geography parameters of a request: the origin, the bounding box, and distances to dealers, in great-circle miles. A dealer without coordinates has no
 * distance and matches no radius or box.
 */
import type { Row } from "../base/json.ts";
import { projectText } from "../base/project-files.ts";
import { refuse } from "../contract/errors.ts";
import { quoted } from "../contract/query-string.ts";
import type { Filters } from "../contract/types.ts";
import { type Box, milesBetween, type Point } from "../listing/geography.ts";

/** The longest diagonal of a `bbox`. */
const diagonalMilesMax = 1000;

type GeographyParameters = Pick<Filters, "latitude" | "longitude" | "postal_code" | "radius" | "bbox">;

/**
 * Returns the origin of a request: its point, or the point of its ZIP code; undefined if it has neither. Refuses a request with both, with
 * only one coordinate, or with an unknown ZIP code.
 */
export function originOf({ latitude, longitude, postal_code }: GeographyParameters): Point | undefined {
  if (postal_code !== undefined && (latitude !== undefined || longitude !== undefined)) {
    const coordinate = latitude === undefined ? "longitude" : "latitude";
    const reason = "the origin is either a ZIP code or a point";
    throw refuse("incompatible_parameters", { parameters: `postal_code and ${coordinate}`, reason });
  }
  if (postal_code !== undefined) {
    const point = pointOfZip(postal_code);
    if (point === undefined) throw refuse("unknown_postal_code", { value: quoted(postal_code) });
    return point;
  }
  if (latitude === undefined && longitude === undefined) return undefined;
  if (latitude === undefined) throw missingCoordinate("latitude", "longitude");
  if (longitude === undefined) throw missingCoordinate("longitude", "latitude");
  return { latitude, longitude };
}

const missingCoordinate = (parameter: "latitude" | "longitude", other: string): Error =>
  refuse("missing_parameter", { parameter, allowed: `degrees, together with ${other}` });

/** Returns the origin of a request, which `parameter` (for example `radius`) requires. Refuses a request without an origin. */
export function requireOrigin(geography: GeographyParameters, parameter: string): Point {
  const origin = originOf(geography);
  if (origin !== undefined) return origin;
  const allowed = `a US ZIP code (${parameter} requires an origin: postal_code, or latitude and longitude)`;
  throw refuse("missing_parameter", { parameter: "postal_code", allowed });
}

/**
 * Returns the box of parameter `bbox`: west, south, east and north, in degrees. Refuses a box that is combined with `radius`, that has its
 * south above its north, or whose diagonal exceeds `diagonalMilesMax`.
 */
export function boxOf([west = 0, south = 0, east = 0, north = 0]: readonly number[], query: GeographyParameters): Box {
  if (query.radius !== undefined) {
    const reason = "each of them selects dealers by location";
    throw refuse("incompatible_parameters", { parameters: "bbox and radius", reason });
  }
  const value = quoted([west, south, east, north].join(","));
  const invalid = (allowed: string): Error =>
    refuse("invalid_parameter_value", { parameter: "bbox", value, allowed, hint: "" });
  if (Math.max(Math.abs(south), Math.abs(north)) > 90) {
    throw invalid("west,south,east,north with latitudes from -90 to 90");
  }
  if (south > north) throw invalid("west,south,east,north with south at most north");
  const box = { west, south, east, north };
  const diagonalMiles = diagonalOf(box);
  if (diagonalMiles > diagonalMilesMax) {
    throw invalid(`a box with a diagonal of at most ${diagonalMilesMax} miles, not ${Math.ceil(diagonalMiles)}`);
  }
  return box;
}

/** Returns a box's diagonal in miles. The width is capped at 180 degrees: the corners of a wider box are closer together. */
function diagonalOf({ west, south, east, north }: Box): number {
  const width = west > east ? east - west + 360 : east - west;
  return milesBetween({ latitude: south, longitude: 0 }, { latitude: north, longitude: Math.min(width, 180) });
}

/** Returns the distance from an origin to a dealer in miles, rounded to 0.1; null if the dealer has no coordinates. */
export function distanceMiles({ latitude, longitude }: Row, origin: Point): number | null {
  if (typeof latitude !== "number" || typeof longitude !== "number") return null;
  return Math.round(10 * milesBetween(origin, { latitude, longitude })) / 10;
}

/** Returns the coordinates of a ZIP code, or of the ZIP code of a ZIP+4 code; undefined if the code is unknown. */
export const pointOfZip = (postalCode: string): Point | undefined => zipCodes().get(postalCode.slice(0, 5));

export interface ZipCode extends Point {
  readonly code: string;
  readonly city: string;
  readonly state: string;
  /** 0 if it is unknown, for which the file has an empty cell. */
  readonly population: number;
}

let codes: ReadonlyMap<string, ZipCode> | undefined;

/** Returns all ZIP codes by their five digits. The file is read by the first call. */
export function zipCodes(): ReadonlyMap<string, ZipCode> {
  codes ??= new Map(projectText("data/reference/zip_codes.csv").trimEnd().split("\n").slice(1).map(parseLine));
  return codes;
}

function parseLine(line: string): [code: string, zip: ZipCode] {
  const [code = "", latitude, longitude, city = "", state = "", population] = line.split(",");
  const north = Number(latitude);
  const east = Number(longitude);
  const residents = Number(population);
  return [code, { code, city, state, latitude: north, longitude: east, population: residents }];
}
