/** Static content with an `ETag`, answered with 304 when the client has it. The `ETag` is weak, because compressed responses share it. */
import { createHash } from "node:crypto";
import fresh from "fresh";
import type { Middleware } from "./context.ts";

/** Returns a middleware that serves content of a media type, cacheable for five minutes. */
export function serveContent(source: string | Buffer, mediaType: string): Middleware {
  const content = Buffer.from(source);
  const etag = createHash("sha256").update(content).digest("base64url").slice(0, 22);
  return async (context) => {
    context.status = 200;
    context.etag = `W/"${etag}"`;
    context.set("Cache-Control", "public, max-age=300");
    // Koa's `context.fresh` also reads Cache-Control, which `fetch` sets to no-cache when its caller sets If-None-Match.
    if (fresh({ "if-none-match": context.get("If-None-Match") }, { etag: context.response.get("ETag") })) {
      context.status = 304;
      return;
    }
    context.type = mediaType;
    context.body = content;
  };
}
