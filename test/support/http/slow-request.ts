/**
 * A request that keeps the engine busy for some hundred milliseconds even on the sample: all facets under long
 * exclusions, on sold listings, which no index answers.
 */
import { vocabulary } from "../../../src/contract/document.ts";

const names = Array.from({ length: 100 }, (_, index) => `m${index}`).join(",");

export const slowRequest = `/v1/facets?inventory_status=sold&facets=${vocabulary("getFacets", "facets").join(",")}&${[
  "trim",
  "version",
  "engine",
  "transmission",
  "body_type",
  "drivetrain",
  "make",
  "model",
  "exterior_color",
  "interior_color",
  "features",
  "options_packages",
]
  .map((attribute) => `exclude_${attribute}=${names}`)
  .join("&")}`;
