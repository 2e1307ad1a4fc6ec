/** `carquet accounts`: creates accounts and changes their state, spend cap and limits. */
import { Argument, Command, InvalidArgumentError, Option } from "commander";
import { type Account, effectiveLimits, getAccount, listAccounts } from "../../../accounts/account.ts";
import { listAuditRecords } from "../../../accounts/administration/audit-log.ts";
import { type ChangeInput, type ChangeName, makeChange } from "../../../accounts/administration/changes.ts";
import { monthOf } from "../../../accounts/clock.ts";
import { formatUsd } from "../../../accounts/money.ts";
import { type AccountState, billingState } from "../../../accounts/policy/billing-state.ts";
import type { RateLimits } from "../../../accounts/policy/rate-limiter.ts";
import { type Tier, tiers } from "../../../accounts/policy/tiers.ts";
import { linkUrl } from "../../../accounts/sign-in/one-time-links.ts";
import type { Json } from "../../../base/json.ts";
import { UserError } from "../../../base/user-error.ts";
import {
  type AccountsFileSettings,
  commandAuthor,
  formatTime,
  printResult,
  printRows,
  withAccountsFile,
  withNewAccountsFile,
} from "../../accounts-file.ts";
import { countParser, usdParser } from "../../option-parsers.ts";
import { accountsOption, jsonOption, mandatory, publicUrlOption } from "../../options.ts";

interface AccountSettings extends AccountsFileSettings {
  readonly account: string;
}

interface LogSettings extends AccountsFileSettings {
  readonly account?: string;
  readonly limit: number;
}

export const accountOption = (): Option => mandatory(new Option("--account <id>", "account id"));

/** A command about the accounts file, with `--accounts` and `--json`. Its description is the summary as a sentence. */
export const accountsFileCommand = (name: string, summary: string): Command =>
  new Command(name)
    .summary(summary)
    .description(`${summary[0]?.toUpperCase()}${summary.slice(1)}.`)
    .addOption(accountsOption())
    .addOption(jsonOption());

export const accountsCommand = (): Command =>
  new Command("accounts")
    .description("Create and change accounts. Safe while the service runs; changes take effect within a second.")
    .addCommand(create())
    .addCommand(invite())
    .addCommand(operator())
    .addCommand(list())
    .addCommand(show())
    .addCommand(log())
    .addCommand(state())
    .addCommand(cap())
    .addCommand(lowBalance("low-balance"))
    .addCommand(lowBalance("low"), { hidden: true })
    .addCommand(rateLimit("rate-limit"))
    .addCommand(rateLimit("override"), { hidden: true });

interface InvitationSettings extends AccountsFileSettings {
  readonly publicUrl: string;
}

/** The option that sets the address of a link; a command does not know that of the service. */
const linkUrlOption = (): Option => publicUrlOption().default("http://127.0.0.1:8080");

const create = (): Command =>
  accountsFileCommand(
    "create",
    "create an account and an invitation to its dashboard; to use the API it also needs a key and credits",
  )
    .addOption(mandatory(new Option("--email <email>", "contact address").argParser(emailParser)))
    .addOption(new Option("--tier <n>", "usage tier, 1 to 4").default(1).argParser(tierParser))
    .addOption(linkUrlOption())
    .action((settings: InvitationSettings & { readonly email: string; readonly tier: Tier }) => {
      const { accounts, json, email, tier } = settings;
      const [account_id, secret] = withNewAccountsFile(accounts, (database) =>
        database.transaction(() => {
          const accountId = makeChange(database, "accounts create", { email, tier }, commandAuthor());
          const link = { accountId, kind: "invitation" } as const;
          return [accountId, makeChange(database, "accounts invite", link, commandAuthor())];
        }),
      );
      const invitation_url = linkUrl(settings.publicUrl, "invitation", secret);
      printResult({ account_id, invitation_url }, account_id, json);
      // On standard error, so that a script can take standard output for the id.
      if (!json) process.stderr.write(`invitation, valid once within 7 days: ${invitation_url}\n`);
    });

const invite = (): Command =>
  accountsFileCommand("invite", "create a link that sets the password of an account once; resets a forgotten password")
    .addOption(accountOption())
    .addOption(linkUrlOption())
    .action(({ accounts, json, account, publicUrl }: AccountSettings & InvitationSettings) => {
      const link = { accountId: account, kind: "invitation" } as const;
      const secret = withAccountsFile(accounts, (database) =>
        makeChange(database, "accounts invite", link, commandAuthor()),
      );
      const invitation_url = linkUrl(publicUrl, "invitation", secret);
      printResult({ account_id: account, invitation_url }, invitation_url, json);
    });

const operator = (): Command =>
  accountsFileCommand("operator", "let an account see and change all accounts in the dashboard, or stop that")
    .addOption(accountOption())
    .addArgument(new Argument("<on|off>", "whether the account is an operator").choices(["on", "off"]))
    .action((onOrOff: "on" | "off", settings: AccountSettings) => {
      const isOperator = onOrOff === "on";
      const input = { accountId: settings.account, isOperator };
      change(settings, ["accounts operator", input], `is now ${isOperator ? "an" : "no"} operator`);
    });

const list = (): Command =>
  accountsFileCommand("list", "list all accounts, oldest first").action(({ accounts, json }: AccountsFileSettings) => {
    printRows(
      withAccountsFile(accounts, (database) => listAccounts(database, monthOf(Date.now())).map(toRow)),
      json,
    );
  });

const show = (): Command =>
  accountsFileCommand("show", "show the billing state, balance, spending and limits of an account")
    .addOption(accountOption())
    .action(({ accounts, json, account }: AccountSettings) => {
      const row = toRow(withAccountsFile(accounts, (database) => getAccount(database, account, monthOf(Date.now()))));
      if (json) process.stdout.write(`${JSON.stringify(row, null, 2)}\n`);
      else
        for (const [name, value] of Object.entries(row)) process.stdout.write(`${name.padEnd(22)}${value ?? "none"}\n`);
    });

const log = (): Command =>
  accountsFileCommand("log", "list who changed what, newest first: the audit log of the command line and the dashboard")
    .addOption(new Option("--account <id>", "only changes of this account"))
    .addOption(new Option("--limit <n>", "number of changes").argParser(countParser).default(100))
    .action(({ accounts, json, account, limit }: LogSettings) => {
      const page = { before: null, limit, ...(account === undefined ? {} : { accountId: account }) };
      const records = withAccountsFile(accounts, (database) => listAuditRecords(database, page));
      const rows = records.map(({ atMs, actor, action, accountId, details }) => ({
        ...{ time: formatTime(atMs), actor, action, account_id: accountId, details },
      }));
      printRows(rows, json);
    });

const state = (): Command =>
  accountsFileCommand("state", "suspend an account, which refuses its paid requests, or reactivate it")
    .addOption(accountOption())
    .addArgument(new Argument("<state>", "new state").choices(["active", "suspended"]))
    .action((newState: AccountState, settings: AccountSettings) =>
      change(settings, ["accounts state", { accountId: settings.account, state: newState }], `is now ${newState}`),
    );

const cap = (): Command =>
  accountsFileCommand("cap", "set the spend cap of an account per UTC calendar month")
    .addOption(accountOption())
    .addArgument(new Argument("<usd>", "amount in USD, or none").argParser(usdOrNoneParser))
    .action((capMicros: number | null, settings: AccountSettings) =>
      change(
        settings,
        ["accounts cap", { accountId: settings.account, capMicros }],
        capMicros === null ? "now has no spend cap" : `now has a spend cap of ${formatUsd(capMicros)} USD`,
      ),
    );

const lowBalance = (name: string): Command =>
  accountsFileCommand(
    name,
    "set the balance below which the billing state of an account is low_balance (default: 5 USD)",
  )
    .addOption(accountOption())
    .addArgument(new Argument("<usd>", "amount in USD").argParser(usdParser("zero")))
    .action((lowBalanceMicros: number, settings: AccountSettings) =>
      change(
        settings,
        ["accounts low-balance", { accountId: settings.account, lowBalanceMicros }],
        `now has a low balance below ${formatUsd(lowBalanceMicros)} USD`,
      ),
    );

interface RateLimitSettings extends AccountSettings {
  readonly per10s?: number;
  readonly per60s?: number;
  readonly none: boolean;
}

const rateLimit = (name: string): Command =>
  accountsFileCommand(name, "override the rate limits of an account's tier, or restore them with --none")
    .addOption(accountOption())
    .addOption(new Option("--per10s <n>", "requests in 10 seconds; needs --per60s").argParser(countParser))
    .addOption(new Option("--per60s <n>", "requests in 60 seconds; needs --per10s").argParser(countParser))
    .addOption(new Option("--none", "restore the limits of the tier").default(false).conflicts(["per10s", "per60s"]))
    .action((settings: RateLimitSettings) => {
      const { account: accountId, per10s, per60s, none } = settings;
      const changeTo = (rateLimitOverride: RateLimits | null, message: string): void =>
        change(settings, ["accounts rate-limit", { accountId, rateLimitOverride }], message);
      if (none) return changeTo(null, "now has the rate limits of its tier");
      if (per10s === undefined || per60s === undefined)
        throw new UserError("Incomplete rate limits: expected both --per10s and --per60s, or --none.");
      return changeTo({ per10s, per60s }, `now has rate limits of ${per10s} requests in 10 s and ${per60s} in 60 s`);
    });

/** Changes an account and prints it as JSON, or `<account> <message>`. */
function change<Name extends ChangeName>(
  { accounts, account, json }: AccountSettings,
  [name, input]: readonly [Name, ChangeInput<Name>],
  message: string,
): void {
  const row = withAccountsFile(accounts, (database) => {
    makeChange(database, name, input, commandAuthor());
    return toRow(getAccount(database, account, monthOf(Date.now())));
  });
  printResult(row, `${account} ${message}`, json);
}

/** The output row of an account. */
function toRow(account: Account): Readonly<Record<string, Json>> {
  const limits = effectiveLimits(account);
  return {
    account_id: account.accountId,
    email: account.email,
    created_at: formatTime(account.createdAtMs),
    tier: account.tier,
    state: account.state,
    billing_state: billingState(account),
    balance_usd: formatUsd(account.balanceMicros),
    low_below_usd: formatUsd(account.lowBalanceMicros),
    month: account.month,
    spent_usd: formatUsd(account.spentMicros),
    cap_usd: account.capMicros === null ? null : formatUsd(account.capMicros),
    per_10s: limits.per10s,
    per_60s: limits.per60s,
    is_override: account.rateLimitOverride !== null,
    is_operator: account.isOperator,
  };
}

function emailParser(text: string): string {
  if (/^[^\s@]+@[^\s@]+$/.test(text) && text.length <= 254) return text;
  throw new InvalidArgumentError("Expected an email address.");
}

function tierParser(text: string): Tier {
  const tier = tiers.find((known) => String(known) === text);
  if (tier === undefined) throw new InvalidArgumentError("Expected 1, 2, 3 or 4.");
  return tier;
}

const usdOrNoneParser = (text: string): number | null => (text === "none" ? null : usdParser("zero")(text));
