/** `carquet accounts`: creates accounts and changes their status, spend cap and limits. */
import { Command } from "commander";
import { getAccount, listAccounts } from "../../../accounts/account.ts";
import { listAuditRecords } from "../../../accounts/administration/audit-log.ts";
import { applyChange, type ChangeInput } from "../../../accounts/administration/changes.ts";
import { monthOf } from "../../../accounts/clock.ts";
import { linkUrl } from "../../../accounts/sign-in/sign-in-tables.ts";
import {
  type AccountsFileValues,
  type AccountValues,
  commandAuthor,
  formatTime,
  printRows,
  withAccountsFile,
  withNewAccountsFile,
} from "../../accounts-file.ts";
import { integerParser, urlParser } from "../../option-parsers.ts";
import { printResult } from "../../print.ts";
import { type SettingRows, sharedSettings, type ValuesOf } from "../../settings.ts";
import { accountCommand, accountRow, accountsFileCommand, changeCommand, declaredCommand } from "./change-command.ts";

export const accountsCommand = (): Command =>
  new Command("accounts")
    .description("Create and change accounts. Safe while the service runs; changes take effect within a second.")
    .addCommand(create())
    .addCommand(invite())
    .addCommand(changeCommand("accounts operator"))
    .addCommand(list())
    .addCommand(show())
    .addCommand(log())
    .addCommand(changeCommand("accounts status"))
    .addCommand(changeCommand("accounts cap"))
    .addCommand(changeCommand("accounts low-balance"))
    .addCommand(changeCommand("accounts rate-limit"));

/** A link has the URL of the service, which a command does not know: the public one, else that of the port on this machine. */
const linkSettings = {
  publicUrl: { ...sharedSettings("publicUrl").publicUrl, parse: urlParser },
  port: { ...sharedSettings("port").port, help: "port of the service, for links without `--public-url`" },
} as const satisfies SettingRows;

const linkOrigin = (publicUrl: string | undefined, port: number): string => publicUrl ?? `http://127.0.0.1:${port}`;

const create = (): Command =>
  declaredCommand("accounts create", linkSettings).action(
    async ({ accounts, json, publicUrl, port, ...input }: CreateValues) => {
      const { account_id, secret } = await withNewAccountsFile(accounts, (database) =>
        database.transaction(async (database) => {
          const { accountId } = await applyChange(database, "accounts create", input, commandAuthor());
          const link = { accountId, kind: "invitation" } as const;
          const invitation = await applyChange(database, "accounts invite", link, commandAuthor());
          return { account_id: accountId, secret: invitation };
        }),
      );
      const invitation_url = linkUrl(linkOrigin(publicUrl, port), "invitation", secret);
      printResult({ account_id, invitation_url }, account_id, json);
      // On standard error, so that a script can take standard output for the id.
      if (!json) process.stderr.write(`invitation, valid once within 7 days: ${invitation_url}\n`);
    },
  );

type CreateValues = AccountsFileValues & ChangeInput<"accounts create"> & ValuesOf<typeof linkSettings>;

const inviteSettings = {
  ...linkSettings,
  signIn: { flags: "--sign-in", help: "a link that signs in once, within a day, without setting a password" },
} as const satisfies SettingRows;

const invite = (): Command =>
  accountCommand(
    "invite",
    "create a link that sets the password of an account once, or signs in to it; resets a forgotten password",
    inviteSettings,
  ).action(
    async ({
      accounts,
      json,
      account,
      publicUrl,
      port,
      signIn = false,
    }: AccountValues & ValuesOf<typeof inviteSettings>) => {
      const kind = signIn ? "sign_in" : "invitation";
      const link = { accountId: account, kind } as const;
      const secret = await withAccountsFile(accounts, (database) =>
        applyChange(database, "accounts invite", link, commandAuthor()),
      );
      const url = linkUrl(linkOrigin(publicUrl, port), kind, secret);
      printResult({ account_id: account, [`${kind}_url`]: url }, url, json);
    },
  );

const list = (): Command =>
  accountsFileCommand("list", "list all accounts, oldest first").action(
    async ({ accounts, json }: AccountsFileValues) => {
      const found = await withAccountsFile(accounts, (database) => listAccounts(database, monthOf(Date.now())));
      printRows(found.map(accountRow), json);
    },
  );

const show = (): Command =>
  accountCommand("show", "show the status, balance, spending and limits of an account").action(
    async ({ accounts, json, account }: AccountValues) => {
      const row = accountRow(
        await withAccountsFile(accounts, (database) => getAccount(database, account, monthOf(Date.now()))),
      );
      if (json) process.stdout.write(`${JSON.stringify(row, null, 2)}\n`);
      else
        for (const [name, value] of Object.entries(row)) process.stdout.write(`${name.padEnd(22)}${value ?? "none"}\n`);
    },
  );

const logSettings = {
  account: { flags: "--account <id>", help: "only changes of this account" },
  limit: { flags: "--limit <n>", default: 100, parse: integerParser(100_000, 1), help: "number of changes" },
} as const satisfies SettingRows;

const log = (): Command =>
  accountsFileCommand(
    "log",
    "list who changed what, newest first: the audit log of the command line and the web application",
    logSettings,
  ).action(async ({ accounts, json, account, limit }: AccountsFileValues & ValuesOf<typeof logSettings>) => {
    const page = { before: null, limit, ...(account === undefined ? {} : { accountId: account }) };
    const records = await withAccountsFile(accounts, (database) => listAuditRecords(database, page));
    const rows = records.map(({ atMs, actor, action, accountId, details }) => ({
      time: formatTime(atMs),
      actor,
      action,
      account_id: accountId,
      details,
    }));
    printRows(rows, json);
  });
