/** Entity tags, the conditional requests that they answer, and static content, which is served with one. */
import { createHash } from "node:crypto";
import fresh from "fresh";
import type { Middleware, RequestContext } from "../context.ts";

/** Returns the weak entity tag of a content, or of the input from which it derives. Compressed responses share it. */
export function entityTag(content: string | Buffer): string {
  return `W/${strongEntityTag(content)}`;
}

/** Returns the strong entity tag of the input from which a content derives, byte by byte. */
export function strongEntityTag(content: string | Buffer): string {
  return `"${createHash("sha256").update(content).digest("base64url").slice(0, 22)}"`;
}

/** Sets the `ETag` of the response. Returns true if the client has it; the response must then be a 304. */
export function matchesEntityTag(context: RequestContext, tag: string): boolean {
  context.set("ETag", tag);
  // Koa's `context.fresh` also reads Cache-Control, which `fetch` sets to no-cache when its caller sets If-None-Match.
  return fresh({ "if-none-match": context.get("If-None-Match") }, { etag: tag });
}

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
