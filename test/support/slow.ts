/**
 * A request that takes the engine some hundred milliseconds, even over the sample: all facets of what is none of many things on a past
 * day, which no index answers.
 */
import { vocabulary } from "../../src/contract/document.ts";

const names = Array.from({ length: 300 }, (_, index) => `m${index}`).join(",");

export const slow = `/v1/facets?snapshot_date=2026-11-18&facets=${vocabulary("getFacets", "facets").join(",")}&${[
  "trim",
  "version",
  "engine",
  "transmission",
  "body_type",
  "drivetrain",
]
  .map((attribute) => `exclude_${attribute}=${names}`)
  .join("&")}`;
