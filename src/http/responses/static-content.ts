/** Static content with an `ETag`, answered with 304 when the client has it. */
import type { Middleware } from "../context.ts";
import { entityTag, matchesEntityTag } from "./etag.ts";

/** Returns a middleware that serves content of a media type, cacheable for five minutes. */
export function serveContent(source: string | Buffer, mediaType: string): Middleware {
  const content = Buffer.from(source);
  const tag = entityTag(content);
  return async (context) => {
    context.status = 200;
    context.set("Cache-Control", "public, max-age=300");
    if (matchesEntityTag(context, tag)) {
      context.status = 304;
      return;
    }
    context.type = mediaType;
    context.body = content;
  };
}
