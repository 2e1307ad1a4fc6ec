/** Commands about the accounts file. That of a change of operators derives from the row of the change. */
import { Argument, Command, InvalidArgumentError } from "commander";
import { type Account, effectiveLimits, getAccount } from "../../../accounts/account.ts";
import type { ChangeField } from "../../../accounts/administration/change-fields.ts";
import {
  applyChange,
  type ChangeInput,
  type ChangeOutcome,
  changes,
  type Declaration,
  type OperatorChangeName,
} from "../../../accounts/administration/changes.ts";
import { monthOf } from "../../../accounts/clock.ts";
import { formatUsd } from "../../../accounts/money.ts";
import { billingState } from "../../../accounts/policy/billing-state.ts";
import type { Row } from "../../../base/json.ts";
import { type AccountsFileValues, commandAuthor, formatTime, withAccountsFile } from "../../accounts-file.ts";
import { printResult } from "../../print.ts";
import { addSettings, type SettingRows, sharedSettings } from "../../settings.ts";

/** Returns a command about the accounts file, with `--accounts`, `--json` and further settings. Its description is the summary as a sentence. */
export const accountsFileCommand = (name: string, summary: string, settings: SettingRows = {}): Command =>
  addSettings(new Command(name), { ...sharedSettings("accounts", "json"), ...settings })
    .summary(summary)
    .description(`${summary[0]?.toUpperCase()}${summary.slice(1)}.`);

/** Returns a command about one account, which `--account` names. */
export const accountCommand = (name: string, summary: string, settings: SettingRows = {}): Command =>
  accountsFileCommand(name, summary, { ...sharedSettings("account"), ...settings });

/** Returns the command of a change without its action: the options and the argument of its fields, and further settings. */
export function declaredCommand(name: OperatorChangeName, settings: SettingRows = {}): Command {
  const { summary, fields }: Declaration = changes[name];
  const options = Object.entries(fields).filter(([, { flags }]) => flags.startsWith("--"));
  const command = accountsFileCommand(verbOf(name), summary, {
    ...Object.fromEntries(options.map(([field, row]) => [field, settingOf(row)])),
    ...settings,
  });
  for (const field of Object.values(fields).filter(({ flags }) => flags.startsWith("<"))) {
    const argument = new Argument(field.flags, field.help);
    if (field.choices !== undefined) argument.choices(field.choices);
    command.addArgument(argument.argParser(parserOf(field)));
  }
  return command;
}

/** Returns the command of a change, which applies it and prints its outcome, or else the account. */
export function changeCommand(name: OperatorChangeName): Command {
  const command = declaredCommand(name);
  const argument = Object.entries<ChangeField>(changes[name].fields).find(([, { flags }]) =>
    flags.startsWith("<"),
  )?.[0];
  return command.action(async () => {
    const { accounts, json, ...input } = Object.assign(
      command.opts<AccountsFileValues & ChangeInput<OperatorChangeName>>(),
      argument === undefined ? {} : { [argument]: command.processedArgs[0] },
    );
    await withAccountsFile(accounts, async (database) => {
      const author = commandAuthor();
      const outcome: ChangeOutcome = await applyChange(database, name, input, author);
      const { accountId, line = `${accountId}: ${verbOf(name)} ${outcome.details}` } = outcome;
      printResult(outcome.json ?? accountRow(await getAccount(database, accountId, monthOf(author.atMs))), line, json);
    });
  });
}

const verbOf = (name: OperatorChangeName): string => name.slice(name.indexOf(" ") + 1);

const settingOf = ({
  flags,
  help,
  isRequired = false,
  choices,
  default: value,
  ...field
}: ChangeField): SettingRows[string] => ({
  flags: `--${flags.slice(2)}`,
  help,
  isRequired,
  ...(choices && { choices }),
  ...(value !== undefined && { default: value, shownDefault: String(value) }),
  ...(field.parse && { parse: parserOf(field) }),
});

const parserOf =
  ({ parse, expected }: Pick<ChangeField, "parse" | "expected">) =>
  (text: string): unknown => {
    const value = parse?.(text);
    if (value === undefined) throw new InvalidArgumentError(`Expected ${expected}.`);
    return value;
  };

/** Returns an account as commands print it. */
export function accountRow(account: Account): Row {
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
