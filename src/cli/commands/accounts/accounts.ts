/** `carquet accounts`: creates accounts and changes their state, spend cap and limits. */
import { Argument, Command, InvalidArgumentError, Option } from "commander";
import {
  type Account,
  type AccountChange,
  changeAccount,
  createAccount,
  effectiveLimits,
  getAccount,
  listAccounts,
} from "../../../accounts/account.ts";
import { monthOf } from "../../../accounts/clock.ts";
import { formatUsd } from "../../../accounts/money.ts";
import { type AccountState, billingState } from "../../../accounts/policy/billing-state.ts";
import { type Tier, tiers } from "../../../accounts/policy/tiers.ts";
import type { Json } from "../../../base/json.ts";
import { UserError } from "../../../base/user-error.ts";
import {
  type AccountsFileSettings,
  formatTime,
  printResult,
  printRows,
  withAccountsFile,
  withNewAccountsFile,
} from "../../accounts-file.ts";
import { countParser, usdParser } from "../../option-parsers.ts";
import { accountsOption, jsonOption, mandatory } from "../../options.ts";

interface AccountSettings extends AccountsFileSettings {
  readonly account: string;
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
    .addCommand(list())
    .addCommand(show())
    .addCommand(state())
    .addCommand(cap())
    .addCommand(lowBalance("low-balance"))
    .addCommand(lowBalance("low"), { hidden: true })
    .addCommand(rateLimit("rate-limit"))
    .addCommand(rateLimit("override"), { hidden: true });

const create = (): Command =>
  accountsFileCommand("create", "create an account; to use the API it also needs a key and credits")
    .addOption(mandatory(new Option("--email <email>", "contact address").argParser(emailParser)))
    .addOption(new Option("--tier <n>", "usage tier, 1 to 4").default(1).argParser(tierParser))
    .action(
      ({ accounts, json, email, tier }: AccountsFileSettings & { readonly email: string; readonly tier: Tier }) => {
        const account_id = withNewAccountsFile(accounts, (database) =>
          createAccount(database, { email, tier, atMs: Date.now() }),
        );
        printResult({ account_id }, account_id, json);
      },
    );

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

const state = (): Command =>
  accountsFileCommand("state", "suspend an account, which refuses its paid requests, or reactivate it")
    .addOption(accountOption())
    .addArgument(new Argument("<state>", "new state").choices(["active", "suspended"]))
    .action((newState: AccountState, settings: AccountSettings) =>
      change(settings, { state: newState }, `is now ${newState}`),
    );

const cap = (): Command =>
  accountsFileCommand("cap", "set the spend cap of an account per UTC calendar month")
    .addOption(accountOption())
    .addArgument(new Argument("<usd>", "amount in USD, or none").argParser(usdOrNoneParser))
    .action((capMicros: number | null, settings: AccountSettings) =>
      change(
        settings,
        { capMicros },
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
      change(settings, { lowBalanceMicros }, `now has a low balance below ${formatUsd(lowBalanceMicros)} USD`),
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
      const { per10s, per60s, none } = settings;
      if (none) return change(settings, { rateLimitOverride: null }, "now has the rate limits of its tier");
      if (per10s === undefined || per60s === undefined)
        throw new UserError("Incomplete rate limits: expected both --per10s and --per60s, or --none.");
      return change(
        settings,
        { rateLimitOverride: { per10s, per60s } },
        `now has rate limits of ${per10s} requests in 10 s and ${per60s} in 60 s`,
      );
    });

/** Changes an account and prints it as JSON, or `<account> <message>`. */
function change({ accounts, account, json }: AccountSettings, changes: AccountChange, message: string): void {
  const row = withAccountsFile(accounts, (database) => {
    changeAccount(database, account, changes);
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
