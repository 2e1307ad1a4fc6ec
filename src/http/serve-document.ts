/** Operation `getDocument` (section 4.10 of the specification): the document, cacheable. */
import { createHash } from "node:crypto";
import type { Step } from "./exchange.ts";

export function serveDocument(document: object): Step {
  const body = JSON.stringify(document);
  const tag = createHash("sha256").update(body).digest("base64url").slice(0, 22);
  return async (exchange) => {
    exchange.status = 200;
    exchange.etag = tag;
    exchange.set("Cache-Control", "public, max-age=300");
    if (isKnown(exchange.get("If-None-Match"), tag)) {
      exchange.status = 304;
      return;
    }
    exchange.type = "application/json";
    exchange.body = body;
  };
}

/** Whether a client's `If-None-Match` names the tag; what else it says of caching does not matter. */
function isKnown(header: string, tag: string): boolean {
  return header.split(",").some((one) => one.trim() === "*" || one.trim().replace(/^W\//, "") === `"${tag}"`);
}
