/** `carquet credits`: posts credits, confirmations, adjustments and reversals to the ledger. Never posts charges. */
import { Argument, Command, Option } from "commander";
import { getAccount } from "../../../accounts/account.ts";
import { makeChange } from "../../../accounts/administration/changes.ts";
import { monthOf } from "../../../accounts/clock.ts";
import { type CreditKind, creditKinds, listEntries } from "../../../accounts/ledger/ledger.ts";
import { formatUsd } from "../../../accounts/money.ts";
import type { Row } from "../../../base/json.ts";
import { integerIn } from "../../../base/json.ts";
import type { SqlDatabase } from "../../../db/sql-database.ts";
import {
  type AccountsFileSettings,
  commandAuthor,
  formatTime,
  printResult,
  printRows,
  withAccountsFile,
} from "../../accounts-file.ts";
import { usdParser } from "../../option-parsers.ts";
import { mandatory } from "../../options.ts";
import { accountOption, accountsFileCommand } from "./accounts.ts";

interface PostingSettings extends AccountsFileSettings {
  readonly account: string;
  readonly usd: number;
  readonly reference?: string;
  readonly note?: string;
}

export const creditsCommand = (): Command =>
  new Command("credits")
    .description(
      "Post credits to the ledger. The ledger is append-only: correct a mistake with an adjustment. Only paid credits that are confirmed " +
        "and not reversed count towards a tier.",
    )
    .addCommand(add())
    .addCommand(confirm())
    .addCommand(adjust())
    .addCommand(reverse())
    .addCommand(list());

const noteOption = (): Option => new Option("--note <text>", "reason, stored with the entry");

const add = (): Command =>
  accountsFileCommand("add", "add a credit to the balance of an account")
    .addOption(accountOption())
    .addOption(mandatory(new Option("--usd <amount>", "amount in USD").argParser(usdParser("positive"))))
    .addOption(new Option("--kind <kind>", "kind of credit").choices(creditKinds).default("paid"))
    .addOption(
      new Option(
        "--unconfirmed",
        "the payment is not confirmed: it can be spent but does not count towards a tier",
      ).default(false),
    )
    .addOption(new Option("--reference <text>", "unique id of the payment; the same one is credited once"))
    .addOption(noteOption())
    .action((settings: PostingSettings & { readonly kind: CreditKind; readonly unconfirmed: boolean }) => {
      const { kind, unconfirmed } = settings;
      postAndPrint(settings, "credit_id", (database) =>
        makeChange(
          database,
          "credits add",
          { ...postingOf(settings), kind, isConfirmed: !unconfirmed },
          commandAuthor(),
        ),
      );
    });

const adjust = (): Command =>
  accountsFileCommand("adjust", "adjust the balance of an account by a positive or negative amount")
    .addOption(accountOption())
    .addOption(
      mandatory(
        new Option("--usd <amount>", "amount in USD; a negative one lowers the balance").argParser(
          usdParser("negative"),
        ),
      ),
    )
    .addOption(new Option("--reference <text>", "unique id of the cause; the same one is posted once"))
    .addOption(noteOption())
    .action((settings: PostingSettings) =>
      postAndPrint(settings, "adjustment_id", (database) =>
        makeChange(database, "credits adjust", postingOf(settings), commandAuthor()),
      ),
    );

const confirm = (): Command =>
  accountsFileCommand("confirm", "confirm the payment of a paid credit")
    .addArgument(new Argument("<credit-id>", "id of the credit"))
    .action((creditId: string, { accounts, json }: AccountsFileSettings) => {
      withAccountsFile(accounts, (database) => makeChange(database, "credits confirm", { creditId }, commandAuthor()));
      printResult({ credit_id: creditId, confirmed: true }, `${creditId} is confirmed`, json);
    });

const reverse = (): Command =>
  accountsFileCommand("reverse", "reverse a paid credit after a chargeback; the balance may become negative")
    .addArgument(new Argument("<credit-id>", "id of the credit"))
    .addOption(noteOption())
    .action((creditId: string, { accounts, json, note }: AccountsFileSettings & { readonly note?: string }) => {
      const input = { creditId, ...(note === undefined ? {} : { note }) };
      const { reversalId: reversal_id } = withAccountsFile(accounts, (database) =>
        makeChange(database, "credits reverse", input, commandAuthor()),
      );
      printResult({ reversal_id }, reversal_id, json);
    });

const list = (): Command =>
  accountsFileCommand("list", "list the entries of an account except charges, oldest first")
    .addOption(accountOption())
    .action(({ accounts, json, account }: AccountsFileSettings & { readonly account: string }) => {
      printRows(withAccountsFile(accounts, (database) => listEntries(database, account)).map(toRow), json);
    });

function postingOf({ account, usd, reference, note }: PostingSettings) {
  return {
    accountId: account,
    micros: usd,
    ...(reference === undefined ? {} : { reference }),
    ...(note === undefined ? {} : { note }),
  };
}

/** Posts an entry; prints its id, as JSON under the name `idName`, and the new balance. */
function postAndPrint(
  { accounts, account, json }: PostingSettings,
  idName: string,
  post: (database: SqlDatabase) => string,
): void {
  const [id, balance] = withAccountsFile(accounts, (database) => {
    const entryId = post(database);
    return [entryId, formatUsd(getAccount(database, account, monthOf(Date.now())).balanceMicros)];
  });
  printResult({ [idName]: id, balance_usd: balance }, `${id}; new balance ${balance} USD`, json);
}

/** The output row of an entry. */
function toRow(row: Row): Row {
  const time = (column: string): string | null => (row[column] === null ? null : formatTime(integerIn(row, column)));
  return {
    entry_id: row.entry_id ?? null,
    kind: row.kind ?? null,
    usd: formatUsd(integerIn(row, "micros")),
    at: time("at_ms"),
    confirmed_at: time("confirmed_at_ms"),
    reversed_at: time("reversed_at_ms"),
    credit_id: row.credit_id ?? null,
    reference: row.reference ?? null,
    note: row.note ?? null,
  };
}
