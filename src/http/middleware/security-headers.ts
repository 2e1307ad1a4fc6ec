/** Headers that keep a browser from doing anything with an answer but reading it. A page that is to be shown sets its own. */
import type { Middleware } from "../context.ts";

const headers = Object.entries({
  "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
  "Cross-Origin-Resource-Policy": "same-origin",
  "Referrer-Policy": "no-referrer",
  "X-Content-Type-Options": "nosniff",
  "X-Frame-Options": "DENY",
});

const yearSeconds = 31_536_000;

export const setSecurityHeaders: Middleware = async (context, next) => {
  // Koa's own `set` checks each name and value again.
  for (const [name, value] of headers) context.res.setHeader(name, value);
  if (context.secure) context.set("Strict-Transport-Security", `max-age=${yearSeconds}`);
  await next();
};
