/**
 * Headers of all responses: security, deprecation, rate limits, and CORS. Pages of the configured origins may call the API and the agent server, with an
 * API key and without cookies; preflight requests are answered before a key is read, and cost nothing.
 */
import cors from "@koa/cors";
import type { Accounts } from "../../accounts/accounts.ts";
import { epochMs } from "../../base/day.ts";
import { type Operation, operations, resolve } from "../../contract/document.ts";
import type { ResponseObject } from "../../contract/operations.ts";
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
export const setSecurityHeaders: Middleware = (context, next) => {
  // `res.setHeader`, because Koa's `set` validates each name and value again.
  for (const [name, value] of headers) context.res.setHeader(name, value);
  if (context.secure) context.set("Strict-Transport-Security", `max-age=${yearSeconds}`);
  return next();
};

/** Sets `Deprecation` (RFC 9745), `Link` and `Sunset` (RFC 8594) on every response of a deprecated operation. */
export const setDeprecationHeaders =
  ({ since, successor, sunset }: NonNullable<Operation["deprecation"]>): Middleware =>
  (context, next) => {
    context.set("Deprecation", `@${epochMs(since) / 1000}`);
    context.set("Link", `<${successor}>; rel="successor-version"`);
    if (sunset !== undefined) context.set("Sunset", new Date(epochMs(sunset)).toUTCString());
    return next();
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

/** The paths of the API and of the agent server. */
const openPaths = /^\/(v1\/.*|mcp)$/;

/** The paths that need no API key: `*` does not open them. */
const keylessPaths: ReadonlySet<string> = new Set(
  [...operations.values()].filter(({ scope }) => scope === undefined).map(({ path }) => path),
);

/** The methods of the operations; those of GET have HEAD too. */
const allowedMethods = [...new Set(["HEAD", ...[...operations.values()].map(({ method }) => method.toUpperCase())])];

/** How long a browser may keep the answer to a preflight request: as long as Chromium does at most. */
const preflightSeconds = 7200;

/** Returns the names of the headers that pages can read: those of all responses of the document, and the session of an agent. */
function exposedHeaders(): readonly string[] {
  const responses = [...operations.values()].flatMap((operation) => Object.values(operation.responses));
  const names = responses.flatMap((response) => Object.keys(resolve<ResponseObject>(response).headers ?? {}));
  return [...new Set([...names, "Mcp-Session-Id"])];
}

/** Returns a middleware for a service whose settings name origins; `*` stands for any, on paths that need an API key. */
export function allowOrigins(origins: readonly string[]): Middleware {
  const isAny = origins.includes("*");
  const handle = cors({
    origin: ({ path, headers }) => {
      if (isAny && !keylessPaths.has(path)) return "*";
      return origins.find((origin) => origin === headers.origin && origin !== "*") ?? "";
    },
    allowMethods: allowedMethods,
    exposeHeaders: exposedHeaders(),
    maxAge: preflightSeconds,
    keepHeadersOnError: false,
  });
  return (context, next) => (openPaths.test(context.path) ? handle(context, next) : next());
}
