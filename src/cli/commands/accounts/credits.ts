/** `carquet credits`: what is added to balances, and taken from them, beside charges. */
import { Argument, Command, Option } from "commander";
import { accountAt } from "../../../accounts/account.ts";
import { monthOf } from "../../../accounts/clock.ts";
import {
  addCredit,
  adjustBalance,
  type CreditKind,
  confirmCredit,
  creditKinds,
  listEntries,
  reverseCredit,
} from "../../../accounts/ledger/ledger.ts";
import { usdOf } from "../../../accounts/money.ts";
import type { Row } from "../../../base/json.ts";
import { integerIn } from "../../../base/json.ts";
import type { SqliteDatabase } from "../../../db/sqlite.ts";
import { printCreated, printRows, timeOf, withAccounts } from "../../accounts-file.ts";
import { usdParser } from "../../options.ts";
import { accountOption, withAccountsOption } from "./accounts.ts";

interface Given {
  readonly accounts: string;
  readonly json: boolean;
}

interface Posting extends Given {
  readonly account: string;
  readonly usd: number;
  readonly reference?: string;
  readonly note?: string;
}

export const creditsCommand = (): Command =>
  new Command("credits")
    .description(
      "Posts to the ledger. Nothing posted is ever changed: what was wrong is corrected by another entry. Only paid credits that are " +
        "confirmed, and that no chargeback took back, count towards a tier.",
    )
    .addCommand(add())
    .addCommand(confirm())
    .addCommand(adjustment())
    .addCommand(reverse())
    .addCommand(list());

const noteOption = (): Option => new Option("--note <text>", "why");

const add = (): Command =>
  withAccountsOption("add", "add a credit to an account's balance")
    .addOption(accountOption())
    .addOption(new Option("--usd <amount>", "how much").makeOptionMandatory().argParser(usdParser("positive")))
    .addOption(new Option("--kind <kind>", "who pays for it").choices(creditKinds).default("paid"))
    .addOption(
      new Option("--unconfirmed", "it can be spent, and counts towards a tier only when it has been confirmed").default(
        false,
      ),
    )
    .addOption(new Option("--reference <text>", "names the payment, which is then credited once"))
    .addOption(noteOption())
    .action((settings: Posting & { readonly kind: CreditKind; readonly unconfirmed: boolean }) => {
      const { kind, unconfirmed } = settings;
      posted(settings, "credit_id", (database) =>
        addCredit(database, { ...postingOf(settings), kind, isConfirmed: !unconfirmed }),
      );
    });

const adjustment = (): Command =>
  withAccountsOption("adjust", "correct an account's balance, up or down")
    .addOption(accountOption())
    .addOption(
      new Option("--usd <amount>", "how much; below zero takes away")
        .makeOptionMandatory()
        .argParser(usdParser("negative")),
    )
    .addOption(new Option("--reference <text>", "names its cause, which is then posted once"))
    .addOption(noteOption())
    .action((settings: Posting) =>
      posted(settings, "adjustment_id", (database) => adjustBalance(database, postingOf(settings))),
    );

const confirm = (): Command =>
  withAccountsOption("confirm", "say that a paid credit has been paid")
    .addArgument(new Argument("<credit-id>"))
    .action((creditId: string, { accounts, json }: Given) => {
      withAccounts(accounts, (database) => confirmCredit(database, creditId, Date.now()));
      printCreated({ credit_id: creditId, confirmed: true }, `${creditId} is confirmed`, json);
    });

const reverse = (): Command =>
  withAccountsOption("reverse", "take a paid credit back after a chargeback; the balance may go below zero")
    .addArgument(new Argument("<credit-id>"))
    .addOption(noteOption())
    .action((creditId: string, { accounts, json, note }: Given & { readonly note?: string }) => {
      const reversal_id = withAccounts(accounts, (database) => reverseCredit(database, creditId, Date.now(), note));
      printCreated({ reversal_id }, reversal_id, json);
    });

const list = (): Command =>
  withAccountsOption("list", "what has been posted to an account beside charges, the oldest first")
    .addOption(accountOption())
    .action(({ accounts, json, account }: Given & { readonly account: string }) => {
      printRows(withAccounts(accounts, (database) => listEntries(database, account)).map(told), json);
    });

function postingOf({ account, usd, reference, note }: Posting) {
  return {
    accountId: account,
    micros: usd,
    atMs: Date.now(),
    ...(reference === undefined ? {} : { reference }),
    ...(note === undefined ? {} : { note }),
  };
}

/** Posts, and prints the entry's id with the balance after it. */
function posted(
  { accounts, account, json }: Posting,
  idName: string,
  post: (database: SqliteDatabase) => string,
): void {
  const [id, balance] = withAccounts(accounts, (database) => {
    const made = post(database);
    return [made, usdOf(accountAt(database, account, monthOf(Date.now())).balanceMicros)];
  });
  printCreated({ [idName]: id, balance_usd: balance }, `${id}; the balance is ${balance} USD`, json);
}

function told(row: Row): Row {
  const time = (column: string): string | null => (row[column] === null ? null : timeOf(integerIn(row, column)));
  return {
    entry_id: row.entry_id ?? null,
    kind: row.kind ?? null,
    usd: usdOf(integerIn(row, "micros")),
    at: time("at_ms"),
    confirmed_at: time("confirmed_at_ms"),
    reversed_at: time("reversed_at_ms"),
    credit_id: row.credit_id ?? null,
    reference: row.reference ?? null,
    note: row.note ?? null,
  };
}
