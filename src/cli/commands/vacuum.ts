/** `carquet vacuum`: keeps the lake as large as the retention policy says. */
import { Command, Option } from "commander";
import { UserError } from "../../base/user-error.ts";
import { defaultRetention, vacuum } from "../../lake/maintenance/vacuum.ts";
import { currentManifest } from "../../lake/manifest.ts";
import { withWriter } from "../../lake/writer/writer.ts";
import { countParser, lakeOption } from "../options.ts";

interface VacuumSettings {
  readonly lake: string;
  readonly daily: number;
  readonly weekly: number;
  readonly versions: number;
  readonly grace: number;
}

export const vacuumCommand = (): Command =>
  new Command("vacuum")
    .description(
      "Lets past days go by a policy (every day for --daily days, then one a week for --weekly days, then one a month), and versions " +
        "older than --versions days, to which --replay-from can then not go back. Files are removed when the versions that need them " +
        "have been out of service for --grace minutes. Sold and ended listings stay.",
    )
    .addOption(lakeOption())
    .addOption(
      new Option("--daily <days>", "keep every day for so long")
        .default(defaultRetention.dailyDays)
        .argParser(countParser),
    )
    .addOption(
      new Option("--weekly <days>", "then one day a week for so long")
        .default(defaultRetention.weeklyDays)
        .argParser(countParser),
    )
    .addOption(
      new Option("--versions <days>", "keep versions of so many days")
        .default(defaultRetention.versionDays)
        .argParser(countParser),
    )
    .addOption(
      new Option("--grace <minutes>", "how long a version must have been out of service")
        .default(60)
        .argParser(countParser),
    )
    .action(async ({ lake, daily, weekly, versions, grace }: VacuumSettings) => {
      if ((await currentManifest(lake)) === undefined) throw new UserError(`${lake}: nothing has been published yet.`);
      const retention = { dailyDays: daily, weeklyDays: weekly, versionDays: versions };
      const done = await withWriter(lake, {}, (writer) => vacuum(writer, retention, Date.now(), grace * 60_000));
      process.stdout.write(
        `version ${done.version}: ${done.days.length} days let go, ${done.versions.length} versions and ${done.files} files removed\n`,
      );
    });
