/** US ZIP codes and the points that stand for them, from `data/reference/zip_codes.csv`. */
import { projectText } from "../base/project-files.ts";
import type { Point } from "../listing/geography.ts";

let points: ReadonlyMap<string, Point> | undefined;

/** The point of a ZIP code, in degrees; undefined where there is no such code. */
export function pointOfZip(postalCode: string): Point | undefined {
  points ??= new Map(projectText("data/reference/zip_codes.csv").trimEnd().split("\n").slice(1).map(pointOf));
  return points.get(postalCode);
}

function pointOf(line: string): [postalCode: string, Point] {
  const [postalCode = "", latitude, longitude] = line.split(",");
  return [postalCode, { latitude: Number(latitude), longitude: Number(longitude) }];
}
