/** Headers of all responses: security of all, deprecation and rate limits of those to operations. */
import type { Accounts } from "../../accounts/accounts.ts";
import { epochMs } from "../../base/iso-time.ts";
import type { Operation } from "../../contract/document.ts";
import { identityOf, type Middleware } from "../context.ts";

/** The security headers of every response. */
export const securityHeaders = {
  "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
  "Cross-Origin-Resource-Policy": "same-origin",
  "Referrer-Policy": "no-referrer",
  "X-Content-Type-Options": "nosniff",
  "X-Frame-Options": "DENY",
};

const headers = Object.entries(securityHeaders);

const yearSeconds = 31_536_000;

/** `serveDocs` replaces the Content-Security-Policy for its page. */
export const setSecurityHeaders: Middleware = async (context, next) => {
  // `res.setHeader`, because Koa's `set` validates each name and value again.
  for (const [name, value] of headers) context.res.setHeader(name, value);
  if (context.secure) context.set("Strict-Transport-Security", `max-age=${yearSeconds}`);
  await next();
};

/** Sets `Deprecation` (RFC 9745), `Link` and `Sunset` (RFC 8594) on every response of a deprecated operation. */
export const setDeprecationHeaders =
  ({ since, successor, sunset }: NonNullable<Operation["deprecation"]>): Middleware =>
  async (context, next) => {
    context.set("Deprecation", `@${epochMs(since) / 1000}`);
    context.set("Link", `<${successor}>; rel="successor-version"`);
    if (sunset !== undefined) context.set("Sunset", new Date(epochMs(sunset)).toUTCString());
    await next();
  };

/** Sets the `X-RateLimit-*` headers on every response to an identified account, errors included. */
export const setRateLimitHeaders =
  (accounts: Accounts): Middleware =>
  async (context, next) => {
    try {
      await next();
    } finally {
      const identity = identityOf(context);
      const { limits, remaining } = accounts.limits(identity);
      if (!context.res.headersSent && !accounts.isOpen) {
        context.res
          .setHeader("X-RateLimit-Tier", `tier_${identity.cached.account.tier}`)
          .setHeader("X-RateLimit-Limit-10s", limits.per10s)
          .setHeader("X-RateLimit-Remaining-10s", remaining.per10s)
          .setHeader("X-RateLimit-Limit-60s", limits.per60s)
          .setHeader("X-RateLimit-Remaining-60s", remaining.per60s);
      }
    }
  };
