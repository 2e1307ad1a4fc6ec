/** The metric `carquet_build_info`: the versions of the release, Node.js and the engine. */
import { textIn } from "../base/json.ts";
import { projectText } from "../base/project-files.ts";
import { engineVersion } from "./duckdb.ts";

export const buildMetric = {
  name: "carquet_build_info",
  help: "1, labelled with the versions of Carquet, Node.js and DuckDB.",
  labelNames: ["version", "node", "duckdb"],
} as const;

export const buildLabels = (): Readonly<Record<(typeof buildMetric.labelNames)[number], string>> => ({
  version: textIn(JSON.parse(projectText("package.json")), "version"),
  node: process.version,
  duckdb: engineVersion,
});
