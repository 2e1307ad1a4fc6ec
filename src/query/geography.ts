/**
 * Where a search starts from, and how far dealers are from there (sections 4.1 and 8.1 of the specification). Distances are
 * great-circle miles. A dealer without coordinates is nowhere: at no distance, in no radius, in no box.
 */
import { bounds } from "../base/bounds.ts";
import type { Row } from "../base/json.ts";
import { refuse } from "../contract/errors.ts";
import { quoted } from "../contract/query-string.ts";
import type { Filters } from "../contract/types.ts";
import { type Box, milesBetween, type Point } from "../listing/geography.ts";
import { pointOfZip } from "./zip-codes.ts";

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

/** Miles from a point to a dealer, to a tenth, as they are served; null where it has no coordinates. */
export function milesTo({ latitude, longitude }: Row, origin: Point): number | null {
  if (typeof latitude !== "number" || typeof longitude !== "number") return null;
  return Math.round(10 * milesBetween(origin, { latitude, longitude })) / 10;
}
