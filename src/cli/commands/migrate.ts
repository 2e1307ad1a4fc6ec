/** `carquet migrate`: brings a lake and an accounts file of an older release to the formats of this one. */
import { existsSync } from "node:fs";
import { Command } from "commander";
import { migrateAccounts } from "../../accounts/file/backup.ts";
import type { Json } from "../../base/json.ts";
import { UserError } from "../../base/user-error.ts";
import { migrateLake } from "../../lake/maintenance/migrate.ts";
import { currentVersion } from "../../lake/manifest.ts";
import { withWriter } from "../../lake/writer/writer.ts";
import {
  accountsOption,
  type EngineSettings,
  engineOptions,
  jsonOption,
  lakeOption,
  memoryOption,
  threadsOption,
} from "../options.ts";
import { createProgress } from "../progress.ts";

interface MigrateSettings extends EngineSettings {
  readonly lake: string;
  readonly accounts: string;
  readonly json: boolean;
}

/** What was done to a lake or an accounts file: as a line, and as JSON. */
interface Report {
  readonly line: string;
  readonly json: Readonly<Record<string, Json>>;
}

export const migrateCommand = (): Command =>
  new Command("migrate")
    .summary("upgrade a lake and an accounts file of an older release")
    .description(
      "Migrates what --lake and --accounts name; without either, the default lake and accounts file if they exist. The lake's older files " +
        "are rewritten and published as a new version of the same day; carquet reads them without that, but Spark does not. The accounts " +
        "file is migrated in one transaction, after a copy has been written beside it as FILE.version-N; stop the service first. " +
        "A kill at any moment loses nothing, and a second run changes nothing.",
    )
    .addOption(lakeOption())
    .addOption(accountsOption())
    .addOption(jsonOption())
    .addOption(threadsOption())
    .addOption(memoryOption())
    .action(async (settings: MigrateSettings, command: Command) => {
      const wanted = await wantedOf(settings, (option) => command.getOptionValueSource(option) === "cli");
      const reports = {
        ...(wanted.accounts ? { accounts: reportOnAccounts(settings.accounts) } : {}),
        ...(wanted.lake ? { lake: await reportOnLake(settings) } : {}),
      };
      const json = Object.fromEntries(Object.entries(reports).map(([of, report]) => [of, report.json] as const));
      const lines = Object.values(reports).map(({ line }) => line);
      process.stdout.write(settings.json ? `${JSON.stringify(json)}\n` : `${lines.join("\n")}\n`);
    });

/** Which of the two to migrate: what was named on the command line, else what exists. */
async function wantedOf(
  { lake, accounts }: MigrateSettings,
  isNamed: (option: "lake" | "accounts") => boolean,
): Promise<Readonly<Record<"lake" | "accounts", boolean>>> {
  if (isNamed("lake") || isNamed("accounts")) return { lake: isNamed("lake"), accounts: isNamed("accounts") };
  const found = { lake: (await currentVersion(lake)) !== undefined, accounts: existsSync(accounts) };
  if (!found.lake && !found.accounts)
    throw new UserError(`nothing to migrate: no lake at ${lake}, no accounts file at ${accounts}.`);
  return found;
}

function reportOnAccounts(path: string): Report {
  const { from, to, backup = null } = migrateAccounts(path);
  const what =
    backup === null ? `has version ${to} already` : `migrated from version ${from} to ${to}; ${backup} is a copy`;
  return { line: `${path}: ${what}.`, json: { file: path, from, to, backup } };
}

async function reportOnLake(settings: MigrateSettings): Promise<Report> {
  const { lake } = settings;
  if ((await currentVersion(lake)) === undefined) throw new UserError(`${lake}: nothing has been published yet.`);
  const shown = createProgress();
  const done = await withWriter(lake, engineOptions(settings), (writer) =>
    migrateLake(writer, (path, index, count) => shown.step(lake, index, count, path)),
  );
  shown.end();
  const { version, fromFormat, toFormat, rewritten, recorded } = done;
  const what =
    fromFormat === toFormat && rewritten + recorded === 0
      ? `version ${version} has format ${toFormat} already`
      : `migrated from format ${fromFormat} to ${toFormat}: ${rewritten} files rewritten, ${recorded} needed no change; published as version ${version}; run carquet index to search it by an index`;
  return { line: `${lake}: ${what}.`, json: { lake, version, fromFormat, toFormat, rewritten, recorded } };
}
