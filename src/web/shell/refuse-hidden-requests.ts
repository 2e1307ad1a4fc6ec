/**
 * Refuses GET requests for pages that a browser would not show to its visitor, before they are charged or use a one-time link: prefetches,
 * and what pages of other sites and ports embed. HEAD is refused as in the API.
 */
import { refuse } from "../../contract/errors.ts";
import { allowedMethods } from "../../http/allowed-methods.ts";
import type { Middleware, RequestContext } from "../../http/context.ts";

export const refuseHiddenRequests: Middleware = async (context, next) => {
  const { method } = context;
  if (method === "HEAD") throw refuse("method_not_allowed", { method, allowed: allowedMethods(context).join(" or ") });
  if (method !== "GET" || isShown(context)) return next();
  context.status = 403;
  context.set("Cache-Control", "no-store");
  context.body = "Refused: pages are neither prefetched nor embedded by other sites. Open this address in a window.\n";
};

/** Returns true unless the browser says, by Fetch Metadata, that it would not show the page in a window. Older browsers do not say. */
function isShown(context: RequestContext): boolean {
  if (context.get("Sec-Purpose").startsWith("prefetch")) return false;
  if (["", "same-origin", "none"].includes(context.get("Sec-Fetch-Site"))) return true;
  return context.get("Sec-Fetch-Mode") === "navigate" && context.get("Sec-Fetch-Dest") === "document";
}
