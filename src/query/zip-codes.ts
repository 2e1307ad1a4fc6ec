/** US ZIP codes, from `data/reference/zip_codes.csv`. */
import { projectText } from "../base/project-files.ts";
import type { Point } from "../listing/geography.ts";

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
