/** Content that does not change while the service runs: whoever has it already is told so with a 304. */
import { createHash } from "node:crypto";
import type { Middleware } from "./context.ts";

/** Answers with a content of a type, for example `text/css`; with an `ETag`, and to be kept for five minutes. */
export function serveContent(content: string | Buffer, type: string): Middleware {
  const tag = createHash("sha256").update(content).digest("base64url").slice(0, 22);
  return async (context) => {
    context.status = 200;
    context.etag = tag;
    context.set("Cache-Control", "public, max-age=300");
    if (isKnown(context.get("If-None-Match"), tag)) {
      context.status = 304;
      return;
    }
    context.type = type;
    context.body = content;
  };
}

/** Whether a client's `If-None-Match` names the tag; what else it says of caching does not matter. */
function isKnown(header: string, tag: string): boolean {
  return header.split(",").some((one) => one.trim() === "*" || one.trim().replace(/^W\//, "") === `"${tag}"`);
}
