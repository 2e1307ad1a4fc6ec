/** `carquet vacuum`: removes months and versions beyond the retention policy, and the files that only they reference. */
import { Command } from "commander";
import type { DatabaseOptions } from "../../db/duckdb.ts";
import { type VacuumResult, vacuum } from "../../lake/maintenance/vacuum.ts";
import { requireManifest } from "../../lake/published-lake.ts";
import { withWriter } from "../../lake/writer/writer.ts";
import { withServingFiles } from "../../serving/files/build-serving-files.ts";
import { printResult } from "../print.ts";
import { ScheduledRun } from "../scheduled.ts";
import { addSettings, sharedSettings, type ValuesOf } from "../settings.ts";

const vacuumSettings = sharedSettings("lake", "json", "months", "versionDays", "graceMs", "metricsFile");

type VacuumValues = ValuesOf<typeof vacuumSettings>;

export const vacuumCommand = (): Command =>
  addSettings(new Command("vacuum"), vacuumSettings)
    .description(
      "Remove the past before the last --months months, if the option is given, and versions older than --versions days, which `carquet ingest --replay-from` then cannot use. Deletes files when the " +
        "versions that reference them have been replaced for --grace minutes. Keeps sold and ended listings.",
    )
    .action((settings: VacuumValues) => {
      const run = new ScheduledRun("vacuum", settings.metricsFile);
      return run.measure(async () => {
        const { days, versions: expired, files } = await vacuumLake(settings);
        run.add({ snapshots_removed: days.length, versions_removed: expired.length, files_removed: files });
      });
    });

/** Vacuums a lake, and prints the removed days, versions and files. */
export async function vacuumLake(
  { lake, months, versionDays, graceMs, json }: VacuumValues,
  options: DatabaseOptions = {},
): Promise<VacuumResult> {
  await requireManifest(lake);
  const retention = { months, versionDays };
  const removed = await withWriter(lake, options, (writer) =>
    vacuum(writer, retention, Date.now(), graceMs, (manifest) => withServingFiles(writer, manifest, "size")),
  );
  const { version, days, versions, files } = removed;
  const text = `version ${version}: removed ${days.length} days, ${versions.length} versions and ${files} files`;
  printResult({ outcome: "vacuumed", ...removed }, text, json);
  return removed;
}
