/** Says of a deprecated operation, in each of its answers, since when it is and what takes its place (RFC 9745, RFC 8594). */
import { epochMs } from "../../base/day.ts";
import type { Operation } from "../../contract/document.ts";
import type { Middleware } from "../context.ts";

export function announceDeprecation({ deprecation }: Operation): Middleware {
  return async (context, next) => {
    if (deprecation !== undefined) {
      const { since, successor, sunset } = deprecation;
      context.set("Deprecation", `@${epochMs(since) / 1000}`);
      context.set("Link", `<${successor}>; rel="successor-version"`);
      if (sunset !== undefined) context.set("Sunset", new Date(epochMs(sunset)).toUTCString());
    }
    await next();
  };
}
