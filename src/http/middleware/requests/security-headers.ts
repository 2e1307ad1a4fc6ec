/** Sets security headers on every response. `serveDocs` replaces the Content-Security-Policy for its page. */
import type { Middleware } from "../../context.ts";

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

export const setSecurityHeaders: Middleware = async (context, next) => {
  // `res.setHeader`, because Koa's `set` validates each name and value again.
  for (const [name, value] of headers) context.res.setHeader(name, value);
  if (context.secure) context.set("Strict-Transport-Security", `max-age=${yearSeconds}`);
  await next();
};
