/** `carquet accounts`: who may use the service, and how much of it. */
import { Argument, Command, InvalidArgumentError, Option } from "commander";
import {
  type Account,
  type AccountChange,
  accountAt,
  changeAccount,
  createAccount,
  effectiveLimits,
  listAccounts,
} from "../../../accounts/account.ts";
import { monthOf } from "../../../accounts/clock.ts";
import { usdOf } from "../../../accounts/money.ts";
import { type AccountState, billingState } from "../../../accounts/policy/billing-state.ts";
import { type Tier, tiers } from "../../../accounts/policy/tiers.ts";
import type { Json } from "../../../base/json.ts";
import { UserError } from "../../../base/user-error.ts";
import { printCreated, printRows, timeOf, withAccounts, withNewAccounts } from "../../accounts-file.ts";
import { accountsOption, countParser, jsonOption, usdParser } from "../../options.ts";

interface Given {
  readonly accounts: string;
  readonly json: boolean;
}

interface One extends Given {
  readonly account: string;
}

export const accountOption = (): Option => new Option("--account <id>", "the account").makeOptionMandatory();

/** A command about the accounts file, with the options that all of them have. */
export const withAccountsOption = (name: string, summary: string): Command =>
  new Command(name)
    .summary(summary)
    .description(`${summary[0]?.toUpperCase()}${summary.slice(1)}.`)
    .addOption(accountsOption())
    .addOption(jsonOption());

export const accountsCommand = (): Command =>
  new Command("accounts")
    .description(
      "Makes and changes accounts. All of it is safe while the service runs, which takes it up within a second.",
    )
    .addCommand(create())
    .addCommand(list())
    .addCommand(show())
    .addCommand(state())
    .addCommand(cap())
    .addCommand(low())
    .addCommand(override());

const create = (): Command =>
  withAccountsOption("create", "make an account; it can be used when it has a key and credits")
    .addOption(new Option("--email <email>", "whom to write to").makeOptionMandatory().argParser(email))
    .addOption(new Option("--tier <n>", "its usage tier").default(1).argParser(tier))
    .action(({ accounts, json, email, tier }: Given & { readonly email: string; readonly tier: Tier }) => {
      const account_id = withNewAccounts(accounts, (database) =>
        createAccount(database, { email, tier, atMs: Date.now() }),
      );
      printCreated({ account_id }, account_id, json);
    });

const list = (): Command =>
  withAccountsOption("list", "all accounts, the oldest first").action(({ accounts, json }: Given) => {
    printRows(
      withAccounts(accounts, (database) => listAccounts(database, monthOf(Date.now())).map(told)),
      json,
    );
  });

const show = (): Command =>
  withAccountsOption("show", "one account: billing state, balance, month, limits")
    .addOption(accountOption())
    .action(({ accounts, json, account }: One) => {
      const shown = told(withAccounts(accounts, (database) => accountAt(database, account, monthOf(Date.now()))));
      if (json) process.stdout.write(`${JSON.stringify(shown, null, 2)}\n`);
      else
        for (const [name, value] of Object.entries(shown))
          process.stdout.write(`${name.padEnd(22)}${value ?? "none"}\n`);
    });

const state = (): Command =>
  withAccountsOption("state", "suspend an account, which blocks its paid requests, or make it active again")
    .addOption(accountOption())
    .addArgument(new Argument("<state>", "what it is to be").choices(["active", "suspended"]))
    .action((to: AccountState, settings: One) => change(settings, { state: to }, `is ${to} now`));

const cap = (): Command =>
  withAccountsOption("cap", "set the most that an account is charged in a UTC calendar month")
    .addOption(accountOption())
    .addArgument(new Argument("<usd>", "an amount, or none").argParser(usdOrNone))
    .action((capMicros: number | null, settings: One) =>
      change(
        settings,
        { capMicros },
        capMicros === null ? "has no cap now" : `has a cap of ${usdOf(capMicros)} USD now`,
      ),
    );

const low = (): Command =>
  withAccountsOption("low", "set the balance below which an account's billing state is low_balance; 5 USD unless set")
    .addOption(accountOption())
    .addArgument(new Argument("<usd>", "an amount").argParser(usdParser("zero")))
    .action((lowMicros: number, settings: One) =>
      change(settings, { lowMicros }, `is low below ${usdOf(lowMicros)} USD now`),
    );

interface Override extends One {
  readonly per10s?: number;
  readonly per60s?: number;
  readonly none: boolean;
}

const override = (): Command =>
  withAccountsOption("override", "give an account rate limits of its own, or, with --none, those of its tier again")
    .addOption(accountOption())
    .addOption(new Option("--per10s <n>", "requests in 10 seconds").argParser(countParser))
    .addOption(new Option("--per60s <n>", "requests in 60 seconds").argParser(countParser))
    .addOption(new Option("--none", "the tier's limits").default(false).conflicts(["per10s", "per60s"]))
    .action((settings: Override) => {
      const { per10s, per60s, none } = settings;
      if (none) return change(settings, { override: null }, "has its tier's limits now");
      if (per10s === undefined || per60s === undefined)
        throw new UserError("--per10s and --per60s go together, or --none.");
      return change(
        settings,
        { override: { per10s, per60s } },
        `may make ${per10s} requests in 10 s and ${per60s} in 60 s now`,
      );
    });

function change({ accounts, account, json }: One, changed: AccountChange, line: string): void {
  const shown = withAccounts(accounts, (database) => {
    changeAccount(database, account, changed);
    return told(accountAt(database, account, monthOf(Date.now())));
  });
  printCreated(shown, `${account} ${line}`, json);
}

/** An account as commands tell it. */
function told(account: Account): Readonly<Record<string, Json>> {
  const limits = effectiveLimits(account);
  return {
    account_id: account.accountId,
    email: account.email,
    created_at: timeOf(account.createdAtMs),
    tier: account.tier,
    state: account.state,
    billing_state: billingState(account),
    balance_usd: usdOf(account.balanceMicros),
    low_below_usd: usdOf(account.lowMicros),
    month: account.month,
    spent_usd: usdOf(account.spentMicros),
    cap_usd: account.capMicros === null ? null : usdOf(account.capMicros),
    per_10s: limits.per10s,
    per_60s: limits.per60s,
    is_override: account.override !== null,
  };
}

function email(text: string): string {
  if (/^[^\s@]+@[^\s@]+$/.test(text) && text.length <= 254) return text;
  throw new InvalidArgumentError("allowed is an e-mail address.");
}

function tier(text: string): Tier {
  const found = tiers.find((one) => String(one) === text);
  if (found === undefined) throw new InvalidArgumentError("allowed is 1, 2, 3 or 4.");
  return found;
}

const usdOrNone = (text: string): number | null => (text === "none" ? null : usdParser("zero")(text));
