/**
 * Daily tier reviews, and the purge of expired rows of the accounts file. Polls the ledger, which reviews each UTC day once, while the service
 * runs.
 */
import type { Logger } from "pino";
import type { Accounts } from "../../accounts/accounts.ts";
import { messageOf } from "../../base/user-error.ts";

/** How often the service checks whether a review is due. */
const reviewPollMs = 60_000;

/** Starts the polling with an immediate review. Returns a function that stops it and resolves when no review is running. */
export function startDailyReviews(accounts: Accounts, logger: Logger): () => Promise<void> {
  let running = Promise.resolve();
  const review = (): void => {
    running = accounts
      .review()
      .then((results) => {
        for (const { accountId, from, to, outcome } of results)
          logger.info({ account: accountId, from, to, outcome }, "tier review");
        return accounts.purgeExpired();
      })
      .catch((thrown: unknown) => logger.warn({ message: messageOf(thrown) }, "tier review failed; retrying later"));
  };
  review();
  const timer = setInterval(review, reviewPollMs);
  return () => {
    clearInterval(timer);
    return running;
  };
}
