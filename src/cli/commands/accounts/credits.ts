/** `carquet credits`: posts credits, confirmations, adjustments and reversals to the ledger. Never posts charges. */
import { Argument, Command } from "commander";
import { getAccount } from "../../../accounts/account.ts";
import { applyChange } from "../../../accounts/administration/changes.ts";
import { monthOf } from "../../../accounts/clock.ts";
import { creditKinds, listEntries } from "../../../accounts/ledger/ledger.ts";
import { formatUsd } from "../../../accounts/money.ts";
import type { Row } from "../../../base/json.ts";
import { integerIn } from "../../../base/json.ts";
import type { SqlDatabase } from "../../../db/sql-database.ts";
import {
  type AccountsFileValues,
  type AccountValues,
  commandAuthor,
  formatTime,
  printResult,
  printRows,
  withAccountsFile,
} from "../../accounts-file.ts";
import { usdParser } from "../../option-parsers.ts";
import type { SettingRows, ValuesOf } from "../../settings.ts";
import { accountCommand, accountsFileCommand } from "./accounts.ts";

const noteSettings = {
  note: { flags: "--note <text>", help: "reason, stored with the entry" },
} as const satisfies SettingRows;

// biome-ignore format: a table is read by its columns
const creditSettings = {
  usd: { flags: "--usd <amount>", isRequired: true, parse: usdParser("positive"), help: "amount in USD" },
  kind: { flags: "--kind <kind>", choices: creditKinds, default: "paid", help: "kind of credit" },
  unconfirmed: { flags: "--unconfirmed", help: "the payment is not confirmed: it can be spent but does not count towards a tier" },
  reference: { flags: "--reference <text>", help: "unique id of the payment; the same one is credited once" },
  ...noteSettings,
} as const satisfies SettingRows;

// biome-ignore format: a table is read by its columns
const adjustmentSettings = {
  usd: { flags: "--usd <amount>", isRequired: true, parse: usdParser("negative"), help: "amount in USD; a negative one lowers the balance" },
  reference: { flags: "--reference <text>", help: "unique id of the cause; the same one is posted once" },
  ...noteSettings,
} as const satisfies SettingRows;

type AdjustmentValues = AccountValues & ValuesOf<typeof adjustmentSettings>;

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

const add = (): Command =>
  accountCommand("add", "add a credit to the balance of an account", creditSettings).action(
    (settings: AccountValues & ValuesOf<typeof creditSettings>) => {
      const { kind, unconfirmed } = settings;
      postAndPrint(settings, "credit_id", (database) =>
        applyChange(
          database,
          "credits add",
          { ...postingOf(settings), kind, isConfirmed: !unconfirmed },
          commandAuthor(),
        ),
      );
    },
  );

const adjust = (): Command =>
  accountCommand(
    "adjust",
    "adjust the balance of an account by a positive or negative amount",
    adjustmentSettings,
  ).action((settings: AdjustmentValues) =>
    postAndPrint(settings, "adjustment_id", (database) =>
      applyChange(database, "credits adjust", postingOf(settings), commandAuthor()),
    ),
  );

const confirm = (): Command =>
  accountsFileCommand("confirm", "confirm the payment of a paid credit")
    .addArgument(new Argument("<credit-id>", "id of the credit"))
    .action((creditId: string, { accounts, json }: AccountsFileValues) => {
      withAccountsFile(accounts, (database) => applyChange(database, "credits confirm", { creditId }, commandAuthor()));
      printResult({ credit_id: creditId, confirmed: true }, `${creditId} is confirmed`, json);
    });

const reverse = (): Command =>
  accountsFileCommand(
    "reverse",
    "reverse a paid credit after a chargeback; the balance may become negative",
    noteSettings,
  )
    .addArgument(new Argument("<credit-id>", "id of the credit"))
    .action((creditId: string, { accounts, json, note }: AccountsFileValues & ValuesOf<typeof noteSettings>) => {
      const input = { creditId, ...(note === undefined ? {} : { note }) };
      const { reversalId: reversal_id } = withAccountsFile(accounts, (database) =>
        applyChange(database, "credits reverse", input, commandAuthor()),
      );
      printResult({ reversal_id }, reversal_id, json);
    });

const list = (): Command =>
  accountCommand("list", "list the entries of an account except charges, oldest first").action(
    ({ accounts, json, account }: AccountValues) => {
      printRows(withAccountsFile(accounts, (database) => listEntries(database, account)).map(toRow), json);
    },
  );

function postingOf({ account, usd, reference, note }: AdjustmentValues) {
  return {
    accountId: account,
    micros: usd,
    ...(reference === undefined ? {} : { reference }),
    ...(note === undefined ? {} : { note }),
  };
}

/** Posts an entry; prints its id, as JSON under the name `idName`, and the new balance. */
function postAndPrint(
  { accounts, account, json }: AdjustmentValues,
  idName: string,
  post: (database: SqlDatabase) => string,
): void {
  const [id, balance] = withAccountsFile(accounts, (database) => {
    const entryId = post(database);
    return [entryId, formatUsd(getAccount(database, account, monthOf(Date.now())).balanceMicros)];
  });
  printResult({ [idName]: id, balance_usd: balance }, `${id}; new balance ${balance} USD`, json);
}

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
