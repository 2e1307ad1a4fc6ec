/** Rate limits (section 8.2 of the specification): counted per account, and told in every answer to one. */
import type { Accounts } from "../../accounts/accounts.ts";
import { identityOf, type Middleware } from "../context.ts";

export const limitRate =
  (accounts: Accounts): Middleware =>
  async (context, next) => {
    accounts.countRequest(identityOf(context));
    await next();
  };

/** Tells an identified account its limits and what is left of them, whatever else it is answered. */
export const announceLimits =
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
