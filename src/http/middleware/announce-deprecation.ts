/** Says of a deprecated operation, in each of its answers, since when it is and what takes its place (RFC 9745, RFC 8594). */
import { epochMs } from "../../base/day.ts";
import type { Operation } from "../../contract/document.ts";
import type { Step } from "../context.ts";

export function announceDeprecation({ deprecation }: Operation): Step {
  return async (exchange, next) => {
    if (deprecation !== undefined) {
      const { since, successor, sunset } = deprecation;
      exchange.set("Deprecation", `@${epochMs(since) / 1000}`);
      exchange.set("Link", `<${successor}>; rel="successor-version"`);
      if (sunset !== undefined) exchange.set("Sunset", new Date(epochMs(sunset)).toUTCString());
    }
    await next();
  };
}
