/** Sets `Deprecation` (RFC 9745), `Link` and `Sunset` (RFC 8594) on every response of a deprecated operation. */
import { epochMs } from "../../../base/iso-time.ts";
import type { Operation } from "../../../contract/document.ts";
import type { Middleware } from "../../context.ts";

export function setDeprecationHeaders({ deprecation }: Operation): Middleware {
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
