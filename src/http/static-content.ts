/** Static content with an `ETag`, answered with 304 when the client has it. */
import { createHash } from "node:crypto";
import type { Middleware } from "./context.ts";

/** Returns a middleware that serves content of a media type, cacheable for five minutes. */
export function serveContent(content: string | Buffer, mediaType: string): Middleware {
  const etag = createHash("sha256").update(content).digest("base64url").slice(0, 22);
  return async (context) => {
    context.status = 200;
    context.etag = etag;
    context.set("Cache-Control", "public, max-age=300");
    if (matchesEtag(context.get("If-None-Match"), etag)) {
      context.status = 304;
      return;
    }
    context.type = mediaType;
    context.body = content;
  };
}

/** Weak comparison (RFC 9110, section 13.1.2). Unlike `context.fresh`, ignores the request's `Cache-Control`. */
function matchesEtag(ifNoneMatch: string, etag: string): boolean {
  return ifNoneMatch
    .split(",")
    .map((tag) => tag.trim())
    .some((tag) => tag === "*" || tag.replace(/^W\//, "") === `"${etag}"`);
}
