/** `carquet vacuum`: removes months and versions beyond the retention policy, and the files that only they reference. */
import { Command } from "commander";
import { type VacuumResult, vacuum } from "../../lake/maintenance/vacuum.ts";
import { requireManifest } from "../../lake/published-lake.ts";
import { withWriter } from "../../lake/writer/writer.ts";
import { integerParser } from "../option-parsers.ts";
import { ScheduledRun } from "../scheduled.ts";
import { addSettings, type SettingRows, sharedSettings, type ValuesOf } from "../settings.ts";

// biome-ignore format: a table is read by its columns
const vacuumSettings = {
  ...sharedSettings("lake"),
  months: { flags: "--months <n>", parse: integerParser(1200, 1), help: "months of history to keep, the current one included (default: all)" },
  ...sharedSettings("versionDays", "graceMs", "metricsFile"),
} as const satisfies SettingRows;

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

/** Vacuums a lake, by default as the command does, and prints the removed days, versions and files. */
export async function vacuumLake({
  lake,
  months,
  versionDays = vacuumSettings.versionDays.default,
  graceMs = vacuumSettings.graceMs.default,
}: Pick<VacuumValues, "lake"> & Partial<VacuumValues>): Promise<VacuumResult> {
  await requireManifest(lake);
  const retention = { months, versionDays };
  const removed = await withWriter(lake, {}, (writer) => vacuum(writer, retention, Date.now(), graceMs));
  process.stdout.write(
    `version ${removed.version}: removed ${removed.days.length} days, ${removed.versions.length} versions and ${removed.files} files\n`,
  );
  return removed;
}
