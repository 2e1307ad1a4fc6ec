/** `carquet migrate`: upgrades a lake and an accounts file from an older release to the formats of this release. */
import { existsSync } from "node:fs";
import { Command } from "commander";
import { migrateAccounts } from "../../accounts/file/backup.ts";
import { migratePostgresAccounts } from "../../accounts/postgres/postgres-accounts.ts";
import type { Json } from "../../base/json.ts";
import { UserError } from "../../base/user-error.ts";
import { isPostgresUrl, withoutPassword } from "../../db/postgres.ts";
import { migrateLake } from "../../lake/maintenance/migrate.ts";
import { currentVersion } from "../../lake/manifest.ts";
import { requireManifest } from "../../lake/published-lake.ts";
import { withWriter } from "../../lake/writer/writer.ts";
import { createProgress } from "../progress.ts";
import { addSettings, sharedSettings, type ValuesOf } from "../settings.ts";

const migrateSettings = sharedSettings("lake", "accounts", "json", "threads", "memoryLimit");

type MigrateValues = ValuesOf<typeof migrateSettings>;

interface MigrationReport {
  readonly line: string;
  readonly json: Readonly<Record<string, Json>>;
}

export const migrateCommand = (): Command =>
  addSettings(new Command("migrate"), migrateSettings)
    .summary("upgrade a lake and an accounts file from an older release")
    .description(
      "Upgrade the lake of --lake and the accounts file of --accounts; without either option, the default ones that exist. Lake files of " +
        "an older format are rewritten and published as a new version of the same day; carquet reads the older format too, Spark does " +
        "not. The accounts file is migrated in one transaction after a backup to FILE.version-N; stop the service first. Safe to " +
        "interrupt and to repeat. Accounts in PostgreSQL are migrated in one transaction too, beside running replicas if the release before can use " +
        "the result; back them up with PostgreSQL's own tools first.",
    )
    .action(async (settings: MigrateValues, command: Command) => {
      const targets = await chooseTargets(settings, (option) => command.getOptionValueSource(option) === "cli");
      const reports = {
        ...(targets.accounts ? { accounts: migrateAccountsAt(settings.accounts) } : {}),
        ...(targets.lake ? { lake: await migrateLakeFiles(settings) } : {}),
      };
      const json = Object.fromEntries(
        Object.entries(reports).map(([target, report]) => [target, report.json] as const),
      );
      const lines = Object.values(reports).map(({ line }) => line);
      process.stdout.write(settings.json ? `${JSON.stringify(json)}\n` : `${lines.join("\n")}\n`);
    });

/** Chooses what to migrate: the options on the command line, else what exists. Throws a UserError if neither exists. */
async function chooseTargets(
  { lake, accounts }: MigrateValues,
  isNamed: (option: "lake" | "accounts") => boolean,
): Promise<Readonly<Record<"lake" | "accounts", boolean>>> {
  if (isNamed("lake") || isNamed("accounts")) return { lake: isNamed("lake"), accounts: isNamed("accounts") };
  const found = {
    lake: (await currentVersion(lake)) !== undefined,
    accounts: isPostgresUrl(accounts) || existsSync(accounts),
  };
  if (!found.lake && !found.accounts)
    throw new UserError(`Nothing to migrate: expected a lake at ${lake} or an accounts file at ${accounts}.`);
  return found;
}

function migrateAccountsAt(location: string): MigrationReport {
  const migrate = isPostgresUrl(location) ? migratePostgresAccounts : migrateAccounts;
  const { from, to, backup = null } = migrate(location);
  const saved = backup === null ? "" : `; backup: ${backup}`;
  const result = from === to ? `already has version ${to}` : `migrated from version ${from} to ${to}${saved}`;
  const file = withoutPassword(location);
  return { line: `${file}: ${result}.`, json: { file, from, to, backup } };
}

async function migrateLakeFiles(settings: MigrateValues): Promise<MigrationReport> {
  const { lake } = settings;
  await requireManifest(lake);
  const progress = createProgress();
  const migrated = await withWriter(lake, settings, (writer) =>
    migrateLake(writer, (path, index, count) => progress.step(lake, index, count, path)),
  );
  progress.end();
  const { version, fromFormat, toFormat, rewritten, recorded } = migrated;
  const isUnchanged = fromFormat === toFormat && rewritten + recorded === 0;
  const index = rewritten === 0 ? "" : ". Run carquet index to build its search index";
  const result = isUnchanged
    ? `nothing changed: version ${version} already has format ${toFormat}`
    : `migrated from format ${fromFormat} to ${toFormat}: ${rewritten} files rewritten, ${recorded} unchanged; published as version ${version}${index}`;
  return { line: `${lake}: ${result}.`, json: { lake, version, fromFormat, toFormat, rewritten, recorded } };
}
