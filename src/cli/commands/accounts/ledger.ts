/** `carquet ledger`: copies of the accounts file, and whether it is sound. */
import { Argument, Command, Option } from "commander";
import { backUp, restore } from "../../../accounts/file/backup.ts";
import { type AuditResult, audit } from "../../../accounts/ledger/audit.ts";
import { UserError } from "../../../base/user-error.ts";
import { printCreated, withAccounts } from "../../accounts-file.ts";
import { withAccountsOption } from "./accounts.ts";

interface Given {
  readonly accounts: string;
  readonly json: boolean;
}

export const ledgerCommand = (): Command =>
  new Command("ledger")
    .description("Copies the accounts file, puts a copy in its place, and audits it; the service may be running.")
    .addCommand(backup())
    .addCommand(restoration())
    .addCommand(verification());

const backup = (): Command =>
  withAccountsOption("backup", "copy the accounts file as it is at one moment, and audit the copy")
    .addArgument(new Argument("<file>", "where to; nothing may be there"))
    .action((file: string, { accounts, json }: Given) => tell(file, backUp(accounts, file), json));

const restoration = (): Command =>
  withAccountsOption("restore", "put a copy in the place of the accounts file; what was there is kept beside it")
    .addArgument(new Argument("<file>", "the copy"))
    .addOption(
      new Option("--discard", "let go what the copy does not have: entries, revocations, changes").default(false),
    )
    .action(async (file: string, { accounts, json, discard }: Given & { readonly discard: boolean }) => {
      const stamp = new Date().toISOString().replaceAll(/[-:]|\.\d+/g, "");
      const { audit: found, before } = await restore(accounts, file, { stamp, discard });
      if (before !== undefined) process.stderr.write(`what was there is now ${before}\n`);
      tell(accounts, found, json);
    });

const verification = (): Command =>
  withAccountsOption(
    "verify",
    "sum the entries again and compare balances, months and days of usage; check the file",
  ).action(({ accounts, json }: Given) => tell(accounts, withAccounts(accounts, audit), json));

/** Prints what an audit found; fails when that is anything. */
function tell(path: string, { faults, accounts, entries, charges }: AuditResult, isJson: boolean): void {
  for (const fault of faults) process.stdout.write(`${fault}\n`);
  if (faults.length > 0) throw new UserError(`${path}: it has ${faults.length} faults.`);
  const line = `${path}: ${accounts} accounts, ${entries} entries, ${charges} of them charges; all sums agree.`;
  printCreated({ file: path, accounts, entries, charges, faults: 0 }, line, isJson);
}
