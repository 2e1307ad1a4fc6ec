/** US ZIP codes and their coordinates, read from `data/reference/zip_codes.csv` on first use. */
import { projectText } from "../base/project-files.ts";
import type { Point } from "../listing/geography.ts";

let points: ReadonlyMap<string, Point> | undefined;

/** Returns the coordinates of a ZIP code, or of the ZIP code of a ZIP+4 code; undefined if the code is unknown. */
export function pointOfZip(postalCode: string): Point | undefined {
  points ??= new Map(projectText("data/reference/zip_codes.csv").trimEnd().split("\n").slice(1).map(parseLine));
  return points.get(postalCode.slice(0, 5));
}

function parseLine(line: string): [postalCode: string, Point] {
  const [postalCode = "", latitude, longitude] = line.split(",");
  return [postalCode, { latitude: Number(latitude), longitude: Number(longitude) }];
}
