/** `carquet tiers`: reviews of usage tiers. */
import { Command } from "commander";
import { dayOf } from "../../../accounts/clock.ts";
import { decideReview, queuedReviews, reviewAccounts } from "../../../accounts/policy/tier-reviews.ts";
import { printCreated, printRows, withAccounts } from "../../accounts-file.ts";
import { accountOption, withAccountsOption } from "./accounts.ts";

interface Given {
  readonly accounts: string;
  readonly json: boolean;
}

export const tiersCommand = (): Command =>
  new Command("tiers")
    .description(
      "Reviews accounts for a higher tier: from 1 to 2 and from 2 to 3 by itself, from 3 to 4 when somebody approves. A running service " +
        "reviews all accounts once in a UTC day.",
    )
    .addCommand(reviewAll())
    .addCommand(queue())
    .addCommand(decide("approve", "approved", "let an account rise to the tier that its review is for"))
    .addCommand(decide("decline", "declined", "leave an account in its tier; it is reviewed again after 30 days"));

const reviewAll = (): Command =>
  withAccountsOption("review", "review all accounts now, and print those that rise or are queued").action(
    ({ accounts, json }: Given) => {
      const reviewed = withAccounts(accounts, (database) => reviewAccounts(database, dayOf(Date.now())));
      const rows = reviewed.map(({ accountId, email, from, to, outcome }) => ({
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
  withAccountsOption("queue", "the reviews that wait for a decision").action(({ accounts, json }: Given) => {
    const rows = withAccounts(accounts, queuedReviews).map(({ accountId, email, day, from, to }) => ({
      account_id: accountId,
      email,
      queued_on: day,
      from_tier: from,
      to_tier: to,
    }));
    printRows(rows, json);
  });

const decide = (name: string, outcome: "approved" | "declined", summary: string): Command =>
  withAccountsOption(name, summary)
    .addOption(accountOption())
    .action(({ accounts, json, account }: Given & { readonly account: string }) => {
      const { from, to } = withAccounts(accounts, (database) =>
        decideReview(database, account, outcome, dayOf(Date.now())),
      );
      const tier = outcome === "approved" ? to : from;
      printCreated({ account_id: account, outcome, tier }, `${account} is in tier ${tier}`, json);
    });
