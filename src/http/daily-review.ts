/** The automatic tier review of each UTC day, while the service runs. The ledger knows which days have had theirs. */
import type { Logger } from "pino";
import type { Accounts } from "../accounts/accounts.ts";
import { bounds } from "../base/bounds.ts";
import { messageOf } from "../base/user-error.ts";

/** Starts with today's review; gives what stops it. */
export function reviewDaily(accounts: Accounts, logger: Logger): () => Promise<void> {
  let reviewing = Promise.resolve();
  const review = (): void => {
    reviewing = accounts.review().then(
      (reviewed) => {
        for (const { accountId, from, to, outcome } of reviewed)
          logger.info({ account: accountId, from, to, outcome }, "tier review");
      },
      (thrown: unknown) => logger.warn({ message: messageOf(thrown) }, "tier review put off"),
    );
  };
  review();
  const timer = setInterval(review, bounds.reviewPollMs);
  return () => {
    clearInterval(timer);
    return reviewing;
  };
}
