/** `carquet iceberg`: rewrites the Apache Iceberg metadata and the catalog of the published version, for the location from which other engines read its files. */
import { Command } from "commander";
import { requireManifest } from "../../lake/published-lake.ts";
import { rewritePaths } from "../../lake/writer/version-folder.ts";
import { withWriter } from "../../lake/writer/writer.ts";
import { locationParser } from "../option-parsers.ts";
import { printResult } from "../print.ts";
import { addSettings, type SettingRows, sharedSettings, type ValuesOf } from "../settings.ts";

// biome-ignore format: a table is read by its columns
const icebergSettings = {
  ...sharedSettings("lake"),
  location: { flags: "--location <uri>", parse: locationParser,
    help: "URI of the lake's folder where other engines read it, such as s3://bucket/lake (default: the one given before, else the folder's path)" },
  ...sharedSettings("json"),
} as const satisfies SettingRows;

export const icebergCommand = (): Command =>
  addSettings(new Command("iceberg"), icebergSettings)
    .description(
      "Rewrite the Apache Iceberg metadata of the tables, and catalog.duckdb. Each publish writes them too, with absolute paths of the lake's folder: run this " +
        "after a lake has been moved or copied, or with --location before it is copied to an object store. Later publishes keep the location.",
    )
    .action(async ({ lake, location, json }: ValuesOf<typeof icebergSettings>) => {
      await requireManifest(lake);
      const report = await withWriter(lake, {}, () => rewritePaths(lake, location));
      printResult(report, `version ${report.version} at ${report.location}`, json);
    });
