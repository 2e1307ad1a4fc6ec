/** `carquet tiers`: reviews accounts for promotion to the next usage tier, and decides manual reviews. */
import { Command } from "commander";
import { applyChange } from "../../../accounts/administration/changes.ts";
import { queuedReviews } from "../../../accounts/policy/tier-reviews.ts";
import { type AccountsFileValues, commandAuthor, printRows, withAccountsFile } from "../../accounts-file.ts";
import { accountsFileCommand, changeCommand } from "./change-command.ts";

export const tiersCommand = (): Command =>
  new Command("tiers")
    .description(
      "Review accounts for promotion to the next tier. Promotion to tiers 2 and 3 is automatic; tier 4 needs approval. A running service " +
        "reviews all accounts once per UTC day.",
    )
    .addCommand(reviewAll())
    .addCommand(queue())
    .addCommand(changeCommand("tiers approve"))
    .addCommand(changeCommand("tiers decline"));

const reviewAll = (): Command =>
  accountsFileCommand("review", "review all accounts now and print those that are promoted or queued").action(
    async ({ accounts, json }: AccountsFileValues) => {
      const results = await withAccountsFile(accounts, (database) =>
        applyChange(database, "tiers review", {}, commandAuthor()),
      );
      const rows = results.map(({ accountId, email, from, to, outcome }) => ({
        account_id: accountId,
        email,
        from_tier: from,
        to_tier: to,
        outcome,
      }));
      printRows(rows, json);
    },
  );

const queue = (): Command =>
  accountsFileCommand("queue", "list the reviews that wait for approval").action(
    async ({ accounts, json }: AccountsFileValues) => {
      const rows = (await withAccountsFile(accounts, queuedReviews)).map(
        ({ accountId, email, day, fromTier, toTier }) => ({
          account_id: accountId,
          email,
          queued_on: day,
          from_tier: fromTier,
          to_tier: toTier,
        }),
      );
      printRows(rows, json);
    },
  );
