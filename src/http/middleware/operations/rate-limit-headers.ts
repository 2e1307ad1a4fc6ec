/** The `X-RateLimit-*` headers. */
import type { Accounts } from "../../../accounts/accounts.ts";
import { identityOf, type Middleware } from "../../context.ts";

/** Sets the rate limit headers on every response to an identified account, errors included. */
export const setRateLimitHeaders =
  (accounts: Accounts): Middleware =>
  async (context, next) => {
    try {
      await next();
    } finally {
      const identity = identityOf(context);
      const { limits, remaining } = accounts.limits(identity);
      if (!context.res.headersSent) {
        context.res
          .setHeader("X-RateLimit-Tier", `tier_${identity.cached.account.tier}`)
          .setHeader("X-RateLimit-Limit-10s", limits.per10s)
          .setHeader("X-RateLimit-Remaining-10s", remaining.per10s)
          .setHeader("X-RateLimit-Limit-60s", limits.per60s)
          .setHeader("X-RateLimit-Remaining-60s", remaining.per60s);
      }
    }
  };
