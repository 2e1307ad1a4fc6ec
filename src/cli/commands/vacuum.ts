/** `carquet vacuum`: removes days and versions beyond the retention policy, and the files that only they reference. */
import { Command, Option } from "commander";
import { defaultRetention, type VacuumResult, vacuum } from "../../lake/maintenance/vacuum.ts";
import { requireManifest } from "../../lake/published-lake.ts";
import { withWriter } from "../../lake/writer/writer.ts";
import { countParser } from "../option-parsers.ts";
import { lakeOption, metricsFileOption } from "../options.ts";
import { defaultGrace, graceOption, versionsOption } from "../retention-options.ts";
import { ScheduledRun } from "../scheduled.ts";

interface VacuumSettings {
  readonly lake: string;
  readonly daily: number;
  readonly weekly: number;
  readonly versions: number;
  readonly grace: number;
  readonly metricsFile?: string;
}

export const vacuumCommand = (): Command =>
  new Command("vacuum")
    .description(
      "Remove past days by a retention policy (every day is kept for --daily days, then one per week for --weekly days, then one per " +
        "month) and versions older than --versions days, which `carquet ingest --replay-from` then cannot use. Deletes files when the " +
        "versions that reference them have been replaced for --grace minutes. Keeps sold and ended listings.",
    )
    .addOption(lakeOption())
    .addOption(
      new Option("--daily <days>", "number of days to keep in full")
        .default(defaultRetention.dailyDays)
        .argParser(countParser),
    )
    .addOption(
      new Option("--weekly <days>", "number of further days to keep one day per week")
        .default(defaultRetention.weeklyDays)
        .argParser(countParser),
    )
    .addOption(versionsOption())
    .addOption(graceOption())
    .addOption(metricsFileOption())
    .action(({ lake, daily, weekly, versions, grace, metricsFile }: VacuumSettings) => {
      const run = new ScheduledRun("vacuum", metricsFile);
      return run.measure(async () => {
        const retention = { dailyDays: daily, weeklyDays: weekly, versionDays: versions };
        const { days, versions: expired, files } = await vacuumLake(lake, retention, grace);
        run.add({ snapshots_removed: days.length, versions_removed: expired.length, files_removed: files });
      });
    });

/** Vacuums a lake, by default as the command does, and prints what was removed. */
export async function vacuumLake(
  lake: string,
  retention = defaultRetention,
  graceMinutes = defaultGrace,
): Promise<VacuumResult> {
  await requireManifest(lake);
  const removed = await withWriter(lake, {}, (writer) => vacuum(writer, retention, Date.now(), graceMinutes * 60_000));
  process.stdout.write(
    `version ${removed.version}: removed ${removed.days.length} days, ${removed.versions.length} versions and ${removed.files} files\n`,
  );
  return removed;
}
