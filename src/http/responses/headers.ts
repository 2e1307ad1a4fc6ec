/** Headers of responses: of pages, of files, and of conditional requests. */
import { redactKeys } from "../../accounts/keys/api-key.ts";
import { type Operation, operation } from "../../contract/document.ts";
import { refuse } from "../../contract/errors.ts";
import { decodedName, quoted, splitQuery } from "../../contract/query-string.ts";
import { answerFormats, type FormatName } from "../../formats/table-formats.ts";
import type { EncodedAnswer } from "../../operations/answer.ts";
import type { EndpointId } from "../../operations/caller.ts";
import { entityTag, hasFormats, preconditionOf } from "../../operations/representation.ts";
import type { Pagination } from "../../operations/result.ts";
import type { Middleware, RequestContext } from "../context.ts";

/** Sets the headers of the answer to a metered operation, but those of its charge. */
export function setAnswerHeaders(context: RequestContext, id: EndpointId, answer: EncodedAnswer): void {
  const { version, asOf, tag, format, content } = answer;
  context.set({ "Carquet-Version": version, ETag: tag, "Cache-Control": "private, no-cache" });
  if (content === undefined) return;
  const definition = operation(id);
  const { pagination } = answer;
  if (format !== "json" && answer.isFormatNamed) setFileName(context, definition, format, asOf);
  if (hasFormats(definition) && pagination !== undefined && "total" in pagination) setPageHeaders(context, pagination);
  // Before the body: Koa looks up a media type when a body is set without one.
  context.set("Content-Type", contentTypeOf(format));
}

/** Sets `X-Total-Count` and the `Link` to the next page; no link if the request has an API key in its query, which would be in it. */
function setPageHeaders(context: RequestContext, { total, next_offset, next_cursor }: Pagination): void {
  context.set("X-Total-Count", String(total));
  if (next_offset === null) return;
  const query = splitQuery(context.querystring);
  const isByCursor = query.some(([name]) => decodedName(name) === "cursor");
  const others = query.filter(([name]) => !["offset", "cursor"].includes(decodedName(name)));
  const next = isByCursor ? `cursor=${next_cursor}` : `offset=${next_offset}`;
  const pairs = [...others.map(([name, raw]) => `${name}=${raw}`), next];
  const target = `${context.path}?${pairs.join("&")}`.replaceAll(/[^!#-;=?-~]/g, escapeByte);
  if (redactKeys(target) !== target) return;
  context.set("Link", `<${target}>; rel="next"`);
}

/** Percent-encodes a character that a link target cannot contain. Node.js decodes the bytes of a URL as Latin-1. */
const escapeByte = (character: string): string => `%${character.charCodeAt(0).toString(16).padStart(2, "0")}`;

/** Sets the name under which a browser saves the response: the last word of the path and the as-of date. */
export function setFileName(context: RequestContext, { path }: Operation, format: FormatName, asOf: string): void {
  const [noun = "data"] = path
    .split("/")
    .filter((part) => /^\w+$/.test(part))
    .slice(-1);
  context.set("Content-Disposition", `attachment; filename="${noun}-${asOf}.${answerFormats[format].extensions[0]}"`);
}

export function contentTypeOf(format: FormatName): string {
  const { mediaType, parameters } = answerFormats[format];
  return parameters === undefined ? mediaType : `${mediaType}; ${parameters}`;
}

/** Sets the `ETag` of the response. Returns true if the response must be a 304. Refuses with `precondition_failed`. */
export function isNotModified(context: RequestContext, tag: string): boolean {
  context.set("ETag", tag);
  const condition = preconditionOf(context.headers, tag);
  if (condition === "failed") throw refuse("precondition_failed", { value: quoted(context.get("If-Match")) });
  return condition === "not modified";
}

/** Returns a middleware that serves content of a media type, cacheable for five minutes. */
export function serveContent(source: string | Buffer, mediaType: string): Middleware {
  const content = Buffer.from(source);
  const tag = entityTag(content);
  return async (context) => {
    context.status = 200;
    context.set("Cache-Control", "public, max-age=300");
    if (isNotModified(context, tag)) {
      context.status = 304;
      return;
    }
    context.type = mediaType;
    context.body = content;
  };
}
