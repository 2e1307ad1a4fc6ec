/** `carquet vacuum`: removes months and versions beyond the retention policy, and the files that only they reference. */
import { Command, Option } from "commander";
import { defaultRetention, type VacuumResult, vacuum } from "../../lake/maintenance/vacuum.ts";
import { requireManifest } from "../../lake/published-lake.ts";
import { withWriter } from "../../lake/writer/writer.ts";
import { integerParser } from "../option-parsers.ts";
import { lakeOption, metricsFileOption } from "../options.ts";
import { defaultGrace, graceOption, versionsOption } from "../retention-options.ts";
import { ScheduledRun } from "../scheduled.ts";

interface VacuumSettings {
  readonly lake: string;
  readonly months?: number;
  readonly versions: number;
  readonly grace: number;
  readonly metricsFile?: string;
}

export const vacuumCommand = (): Command =>
  new Command("vacuum")
    .description(
      "Remove the past before the last --months months, if the option is given, and versions older than --versions days, which `carquet ingest --replay-from` then cannot use. Deletes files when the " +
        "versions that reference them have been replaced for --grace minutes. Keeps sold and ended listings.",
    )
    .addOption(lakeOption())
    .addOption(
      new Option("--months <n>", "months of history to keep, the current one included (default: all)").argParser(
        integerParser(1200, 1),
      ),
    )
    // Earlier releases thinned out full copies of days.
    .addOption(new Option("--daily <days>").hideHelp())
    .addOption(new Option("--weekly <days>").hideHelp())
    .addOption(versionsOption())
    .addOption(graceOption())
    .addOption(metricsFileOption())
    .action(({ lake, months, versions, grace, metricsFile }: VacuumSettings) => {
      const run = new ScheduledRun("vacuum", metricsFile);
      return run.measure(async () => {
        const retention = { months, versionDays: versions };
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
