/** The shapes of the US states and of the District of Columbia, of the US Census Bureau: simplified, in an Albers projection. */
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { geoPath } from "d3-geo";
import { feature } from "topojson-client";
import { presimplify, simplify } from "topojson-simplify";
import type { GeometryCollection, Topology } from "topojson-specification";

/** The size of the map's coordinates, that of the projection in us-atlas. */
export const mapSize = { width: 975, height: 610 } as const;

interface StateShape {
  readonly code: string;
  readonly name: string;
  /** The outline, as the path of an SVG. */
  readonly path: string;
}

/** The codes in the order of the FIPS ids. */
const codes = (
  "AL AK AZ AR CA CO CT DE DC FL GA HI ID IL IN IA KS KY LA ME MD MA MI MN MS MO MT NE NV NH NJ NM NY NC ND OH OK OR PA RI SC SD TN TX " +
  "UT VT VA WA WV WI WY"
).split(" ");

/** Details whose triangles are smaller, in square units of the map, are left out. */
const detailArea = 4;

type States = Topology<{ states: GeometryCollection<{ name: string }> }>;

let shapes: readonly StateShape[] | undefined;

/** Returns the shapes in the order of their FIPS ids; reads them at the first call. */
export function stateShapes(): readonly StateShape[] {
  shapes ??= readShapes();
  return shapes;
}

function readShapes(): readonly StateShape[] {
  const file = createRequire(import.meta.url).resolve("us-atlas/states-albers-10m.json");
  const atlas: States = JSON.parse(readFileSync(file, "utf8"));
  const simplified = simplify(presimplify(atlas), detailArea);
  const draw = geoPath().digits(1);
  const { features } = feature(simplified, simplified.objects.states);
  const ordered = [...features].sort((one, other) => Number(one.id) - Number(other.id));
  return ordered.map((state, index) => ({
    code: codes[index] ?? "",
    name: state.properties.name,
    path: draw(state) ?? "",
  }));
}
