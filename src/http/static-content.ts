/** Content that does not change while the service runs: whoever has it already is told so with a 304. */
import { createHash } from "node:crypto";
import fresh from "fresh";
import type { Middleware } from "./context.ts";

/** Answers with a content of a type, for example `text/css`; with an `ETag`, and to be kept for five minutes. */
export function serveContent(content: string | Buffer, type: string): Middleware {
  const tag = createHash("sha256").update(content).digest("base64url").slice(0, 22);
  return async (context) => {
    context.status = 200;
    context.etag = tag;
    context.set("Cache-Control", "public, max-age=300");
    // Koa's `context.fresh` also reads Cache-Control, where `fetch` sends no-cache whenever its caller sets If-None-Match.
    if (fresh({ "if-none-match": context.get("If-None-Match") }, { etag: context.response.get("ETag") })) {
      context.status = 304;
      return;
    }
    context.type = type;
    context.body = content;
  };
}
