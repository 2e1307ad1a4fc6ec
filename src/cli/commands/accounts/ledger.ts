/** `carquet ledger`: backs up, restores, copies and audits accounts. */
import { Argument, Command } from "commander";
import type { AuditResult } from "../../../accounts/ledger/audit.ts";
import { backUp, restore } from "../../../accounts/storage/backup.ts";
import { copyAccounts } from "../../../accounts/storage/copy-accounts.ts";
import { UserError } from "../../../base/user-error.ts";
import { isPostgresUrl, withoutPassword } from "../../../db/postgres.ts";
import { type AccountsFileValues, auditExisting, orUnusable } from "../../accounts-file.ts";
import { accountsParser, pathParser } from "../../option-parsers.ts";
import { printResult } from "../../print.ts";
import { addSettings, type SettingRows, sharedSettings, type ValuesOf } from "../../settings.ts";
import { accountsFileCommand } from "./change-command.ts";

export const ledgerCommand = (): Command =>
  new Command("ledger")
    .description("Back up, restore, copy and audit accounts. All but copy are safe while the service runs.")
    .addCommand(backup())
    .addCommand(restoreBackup())
    .addCommand(copy())
    .addCommand(verify());

const backup = (): Command =>
  accountsFileCommand("backup", "copy the accounts file in a consistent state and audit the copy")
    .addArgument(new Argument("<file>", "path of the backup; the file must not exist").argParser(pathParser))
    .action(async (file: string, { accounts, json }: AccountsFileValues) =>
      printAudit(file, await orUnusable(`${accounts} or ${file}`, backUp(accounts, file)), json),
    );

const restoreSettings = {
  discard: { flags: "--discard", help: "discard entries, revocations and changes that the backup lacks" },
} as const satisfies SettingRows;

const restoreBackup = (): Command =>
  accountsFileCommand(
    "restore",
    "restore the accounts file from a backup; saves the current file under another name",
    restoreSettings,
  )
    .addArgument(new Argument("<file>", "path of the backup").argParser(pathParser))
    .action(
      async (file: string, { accounts, json, discard }: AccountsFileValues & ValuesOf<typeof restoreSettings>) => {
        const stamp = new Date().toISOString().replaceAll(/[-:]|\.\d+/g, "");
        const { audit: restored, previousFile } = await orUnusable(
          `${accounts} or ${file}`,
          restore(accounts, file, { stamp, discard }),
        );
        if (previousFile !== undefined) process.stderr.write(`previous file saved as ${previousFile}\n`);
        printAudit(accounts, restored, json);
      },
    );

const copySettings = sharedSettings("json");

const copy = (): Command =>
  addSettings(new Command("copy"), copySettings)
    .summary("copy accounts from a file to PostgreSQL or back")
    .description(
      "Copy all accounts from a SQLite file to a PostgreSQL database, or back. Audits both, and compares counts and sums of all tables. " +
        "Stop the services of the original first: charges during the copy are not in it.",
    )
    .addArgument(new Argument("<from>", "accounts file, or URL of a PostgreSQL database").argParser(accountsParser))
    .addArgument(
      new Argument("<to>", "new accounts file, or URL of a database without accounts").argParser(accountsParser),
    )
    .action(async (from: string, to: string, { json }: ValuesOf<typeof copySettings>) =>
      printAudit(to, await orUnusable(isPostgresUrl(from) ? from : to, copyAccounts(from, to)), json),
    );

const verify = (): Command =>
  accountsFileCommand(
    "verify",
    "compare balances and daily usage with the sums of the entries; check the file for damage",
  ).action(async ({ accounts, json }: AccountsFileValues) => printAudit(accounts, await auditExisting(accounts), json));

/** Prints the result of an audit. Throws a UserError if it has faults. */
function printAudit(path: string, { faults, accounts, entries, charges }: AuditResult, isJson: boolean): void {
  for (const fault of faults) process.stdout.write(`${fault}\n`);
  if (faults.length > 0) throw new UserError(`${withoutPassword(path)} has ${faults.length} faults.`);
  const location = withoutPassword(path);
  const line = `${location}: no faults in ${accounts} accounts and ${entries} entries (charges: ${charges}).`;
  printResult({ file: location, accounts, entries, charges, faults: 0 }, line, isJson);
}
