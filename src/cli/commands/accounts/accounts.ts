/** `carquet accounts`: creates accounts and changes their status, spend cap and limits. */
import { Argument, Command, InvalidArgumentError } from "commander";
import { type Account, effectiveLimits, getAccount, isEmail, listAccounts } from "../../../accounts/account.ts";
import { listAuditRecords } from "../../../accounts/administration/audit-log.ts";
import { applyChange, type ChangeInput, type ChangeName } from "../../../accounts/administration/changes.ts";
import { monthOf } from "../../../accounts/clock.ts";
import { formatUsd } from "../../../accounts/money.ts";
import { type AccountState, billingState } from "../../../accounts/policy/billing-state.ts";
import type { RateLimits } from "../../../accounts/policy/rate-limiter.ts";
import { type Tier, tiers } from "../../../accounts/policy/tiers.ts";
import { linkUrl } from "../../../accounts/sign-in/sign-in-tables.ts";
import type { Json } from "../../../base/json.ts";
import { UserError } from "../../../base/user-error.ts";
import {
  type AccountsFileValues,
  type AccountValues,
  commandAuthor,
  formatTime,
  printResult,
  printRows,
  withAccountsFile,
  withNewAccountsFile,
} from "../../accounts-file.ts";
import { countParser, usdParser } from "../../option-parsers.ts";
import { addSettings, type SettingRows, sharedSettings, type ValuesOf } from "../../settings.ts";

/** Returns a command about the accounts file, with `--accounts`, `--json` and further settings. Its description is the summary as a sentence. */
export const accountsFileCommand = (name: string, summary: string, settings: SettingRows = {}): Command =>
  addSettings(new Command(name), { ...sharedSettings("accounts", "json"), ...settings })
    .summary(summary)
    .description(`${summary[0]?.toUpperCase()}${summary.slice(1)}.`);

/** Returns a command about one account, which `--account` names. */
export const accountCommand = (name: string, summary: string, settings: SettingRows = {}): Command =>
  accountsFileCommand(name, summary, { ...sharedSettings("account"), ...settings });

export const accountsCommand = (): Command =>
  new Command("accounts")
    .description("Create and change accounts. Safe while the service runs; changes take effect within a second.")
    .addCommand(create())
    .addCommand(invite())
    .addCommand(operator())
    .addCommand(list())
    .addCommand(show())
    .addCommand(log())
    .addCommand(status())
    .addCommand(cap())
    .addCommand(lowBalance())
    .addCommand(rateLimit());

/** A link has the URL of the service, which a command does not know. */
const linkSettings = {
  publicUrl: { ...sharedSettings("publicUrl").publicUrl, default: "http://127.0.0.1:8080" },
} as const satisfies SettingRows;

const createSettings = {
  email: { flags: "--email <email>", isRequired: true, parse: emailParser, help: "contact address" },
  tier: { flags: "--tier <n>", default: 1, parse: tierParser, help: "usage tier, 1 to 4" },
  ...linkSettings,
} as const satisfies SettingRows;

const create = (): Command =>
  accountsFileCommand(
    "create",
    "create an account and an invitation to its dashboard; to use the API it also needs a key and credits",
    createSettings,
  ).action((settings: AccountsFileValues & ValuesOf<typeof createSettings>) => {
    const { accounts, json, email, tier } = settings;
    const [account_id, secret] = withNewAccountsFile(accounts, (database) =>
      database.transaction(() => {
        const accountId = applyChange(database, "accounts create", { email, tier }, commandAuthor());
        const link = { accountId, kind: "invitation" } as const;
        return [accountId, applyChange(database, "accounts invite", link, commandAuthor())];
      }),
    );
    const invitation_url = linkUrl(settings.publicUrl, "invitation", secret);
    printResult({ account_id, invitation_url }, account_id, json);
    // On standard error, so that a script can take standard output for the id.
    if (!json) process.stderr.write(`invitation, valid once within 7 days: ${invitation_url}\n`);
  });

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
    ({ accounts, json, account, publicUrl, signIn = false }: AccountValues & ValuesOf<typeof inviteSettings>) => {
      const kind = signIn ? "sign_in" : "invitation";
      const link = { accountId: account, kind } as const;
      const secret = withAccountsFile(accounts, (database) =>
        applyChange(database, "accounts invite", link, commandAuthor()),
      );
      const url = linkUrl(publicUrl, kind, secret);
      printResult({ account_id: account, [`${kind}_url`]: url }, url, json);
    },
  );

const operator = (): Command =>
  accountCommand("operator", "let an account see and change all accounts in the dashboard, or stop that")
    .addArgument(new Argument("<on|off>", "whether the account is an operator").choices(["on", "off"]))
    .action((onOrOff: "on" | "off", settings: AccountValues) => {
      const isOperator = onOrOff === "on";
      const input = { accountId: settings.account, isOperator };
      change(settings, ["accounts operator", input], `is now ${isOperator ? "an" : "no"} operator`);
    });

const list = (): Command =>
  accountsFileCommand("list", "list all accounts, oldest first").action(({ accounts, json }: AccountsFileValues) => {
    printRows(
      withAccountsFile(accounts, (database) => listAccounts(database, monthOf(Date.now())).map(toRow)),
      json,
    );
  });

const show = (): Command =>
  accountCommand("show", "show the status, balance, spending and limits of an account").action(
    ({ accounts, json, account }: AccountValues) => {
      const row = toRow(withAccountsFile(accounts, (database) => getAccount(database, account, monthOf(Date.now()))));
      if (json) process.stdout.write(`${JSON.stringify(row, null, 2)}\n`);
      else
        for (const [name, value] of Object.entries(row)) process.stdout.write(`${name.padEnd(22)}${value ?? "none"}\n`);
    },
  );

const logSettings = {
  account: { flags: "--account <id>", help: "only changes of this account" },
  limit: { flags: "--limit <n>", default: 100, parse: countParser, help: "number of changes" },
} as const satisfies SettingRows;

const log = (): Command =>
  accountsFileCommand(
    "log",
    "list who changed what, newest first: the audit log of the command line and the dashboard",
    logSettings,
  ).action(({ accounts, json, account, limit }: AccountsFileValues & ValuesOf<typeof logSettings>) => {
    const page = { before: null, limit, ...(account === undefined ? {} : { accountId: account }) };
    const records = withAccountsFile(accounts, (database) => listAuditRecords(database, page));
    const rows = records.map(({ atMs, actor, action, accountId, details }) => ({
      ...{ time: formatTime(atMs), actor, action, account_id: accountId, details },
    }));
    printRows(rows, json);
  });

const status = (): Command =>
  accountCommand("status", "suspend an account, which refuses its paid requests, or reactivate it")
    .addArgument(new Argument("<status>", "new status").choices(["active", "suspended"]))
    .action((state: AccountState, settings: AccountValues) =>
      change(settings, ["accounts status", { accountId: settings.account, state }], `is now ${state}`),
    );

const cap = (): Command =>
  accountCommand("cap", "set the spend cap of an account per UTC calendar month")
    .addArgument(new Argument("<usd>", "amount in USD, or none").argParser(usdOrNoneParser))
    .action((capMicros: number | null, settings: AccountValues) =>
      change(
        settings,
        ["accounts cap", { accountId: settings.account, capMicros }],
        capMicros === null ? "now has no spend cap" : `now has a spend cap of ${formatUsd(capMicros)} USD`,
      ),
    );

const lowBalance = (): Command =>
  accountCommand("low-balance", "set the balance below which the status of an account is low_balance (default: 5 USD)")
    .addArgument(new Argument("<usd>", "amount in USD").argParser(usdParser("zero")))
    .action((lowBalanceMicros: number, settings: AccountValues) =>
      change(
        settings,
        ["accounts low-balance", { accountId: settings.account, lowBalanceMicros }],
        `now has a low balance below ${formatUsd(lowBalanceMicros)} USD`,
      ),
    );

const rateLimitSettings = {
  per10s: { flags: "--per10s <n>", parse: countParser, help: "requests in 10 seconds; needs --per60s" },
  per60s: { flags: "--per60s <n>", parse: countParser, help: "requests in 60 seconds; needs --per10s" },
  none: { flags: "--none", conflicts: ["per10s", "per60s"], help: "restore the limits of the tier" },
} as const satisfies SettingRows;

const rateLimit = (): Command =>
  accountCommand(
    "rate-limit",
    "override the rate limits of an account's tier, or restore them with --none",
    rateLimitSettings,
  ).action((settings: AccountValues & ValuesOf<typeof rateLimitSettings>) => {
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
  { accounts, account, json }: AccountValues,
  [name, input]: readonly [Name, ChangeInput<Name>],
  message: string,
): void {
  const row = withAccountsFile(accounts, (database) => {
    applyChange(database, name, input, commandAuthor());
    return toRow(getAccount(database, account, monthOf(Date.now())));
  });
  printResult(row, `${account} ${message}`, json);
}

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
  if (isEmail(text)) return text;
  throw new InvalidArgumentError("Expected an email address.");
}

function tierParser(text: string): Tier {
  const tier = tiers.find((known) => String(known) === text);
  if (tier === undefined) throw new InvalidArgumentError("Expected 1, 2, 3 or 4.");
  return tier;
}

const usdOrNoneParser = (text: string): number | null => (text === "none" ? null : usdParser("zero")(text));
