/** `carquet credits`: posts credits, confirmations, adjustments and reversals to the ledger. Never posts charges. */
import { Command } from "commander";
import { listEntries } from "../../../accounts/ledger/ledger.ts";
import { formatUsd } from "../../../accounts/money.ts";
import { integerIn, type Row } from "../../../base/json.ts";
import { type AccountValues, formatTime, printRows, withAccountsFile } from "../../accounts-file.ts";
import { accountCommand, changeCommand } from "./change-command.ts";

export const creditsCommand = (): Command =>
  new Command("credits")
    .description(
      "Post credits to the ledger. The ledger is append-only: correct a mistake with an adjustment. Only paid credits that are confirmed " +
        "and not reversed count towards a tier.",
    )
    .addCommand(changeCommand("credits add"))
    .addCommand(changeCommand("credits confirm"))
    .addCommand(changeCommand("credits adjust"))
    .addCommand(changeCommand("credits reverse"))
    .addCommand(list());

const list = (): Command =>
  accountCommand("list", "list the entries of an account except charges, oldest first").action(
    async ({ accounts, json, account }: AccountValues) => {
      printRows((await withAccountsFile(accounts, (database) => listEntries(database, account))).map(toRow), json);
    },
  );

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
