/**
 * Headers of responses: the format, from parameter `format` or the header `Accept`, entity tags, and the conditional requests that they answer.
 */
import { createHash } from "node:crypto";
import Negotiator from "negotiator";
import { redactKeys } from "../../accounts/keys/api-key.ts";
import type { Operation } from "../../contract/document.ts";
import { refuse } from "../../contract/errors.ts";
import { decodedName, quoted, splitQuery } from "../../contract/query-string.ts";
import { answerFormats, type FormatName } from "../../formats/table-formats.ts";
import type { Pagination } from "../../operations/result.ts";
import type { Middleware, RequestContext } from "../context.ts";

/** Sets `X-Total-Count` and the `Link` to the next page; no link if the request has an API key in its query, which would be in it. */
export function setPageHeaders(context: RequestContext, { total, next_offset, next_cursor }: Pagination): void {
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

/** Returns the weak entity tag of a content, or of the input from which it derives. Compressed responses share it. */
export function entityTag(content: string | Buffer): string {
  return `W/${strongEntityTag(content)}`;
}

/** Returns the strong entity tag of the input from which a content derives, byte by byte. */
export function strongEntityTag(content: string | Buffer): string {
  return `"${createHash("sha256").update(content).digest("base64url").slice(0, 22)}"`;
}

/**
 * Evaluates the preconditions of a GET or HEAD in the order of RFC 9110. Those about dates are ignored, because no response has a
 * modification date.
 */
export function preconditionOf(context: RequestContext, tag: string): "met" | "not modified" | "failed" {
  const match = context.get("If-Match");
  const noneMatch = context.get("If-None-Match");
  if (match !== "" && match !== "*" && (isWeak(tag) || !tagsIn(match).includes(tag))) return "failed";
  const isKnown = noneMatch === "*" || tagsIn(noneMatch).some((known) => opaqueTag(known) === opaqueTag(tag));
  return isKnown ? "not modified" : "met";
}

/** Whether the preconditions of a request decide it for every representation with a weak tag, if the resource exists. */
export const isDecidedByExistence = (context: RequestContext): boolean =>
  context.get("If-None-Match") === "*" || !["", "*"].includes(context.get("If-Match"));

const isWeak = (tag: string): boolean => tag.startsWith("W/");
const opaqueTag = (tag: string): string => tag.replace(/^W\//, "");
const tagsIn = (list: string): readonly string[] => list.match(/(?:W\/)?"[^"]*"/g) ?? [];

/** Sets the `ETag` of the response. Returns true if the response must be a 304. Refuses with `precondition_failed`. */
export function isNotModified(context: RequestContext, tag: string): boolean {
  context.set("ETag", tag);
  const condition = preconditionOf(context, tag);
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

/** Whether an operation answers in several formats. Others answer in JSON and ignore `Accept`. */
export const hasFormats = ({ parameters }: Operation): boolean => parameters.some(({ name }) => name === "format");

/**
 * Returns the format that a client prefers of those that an operation offers; the first one if it has no preference. Refuses with
 * `not_acceptable`.
 */
export function negotiateFormat<Format extends FormatName>(
  context: RequestContext,
  offered: readonly [Format, ...Format[]],
  requested: Format | undefined,
): Format {
  context.vary("Accept");
  if (requested !== undefined) return requested;
  const accept = context.get("Accept");
  if (accept === "" || accept === "*/*") return offered[0];
  const mediaTypes = offered.map((name) => answerFormats[name].mediaType);
  const [preferred] = acceptedTypes(accept, mediaTypes);
  const format = offered.find((name) => answerFormats[name].mediaType === preferred);
  if (format !== undefined) return format;
  throw refuse("not_acceptable", { value: quoted(accept), allowed: mediaTypes.join(", ") });
}

/**
 * Returns the offered media types that a value of `Accept` allows, the preferred one first (RFC 9110). Parameters besides the weight do
 * not distinguish them: `application/json; charset=utf-8` is JSON.
 */
export function acceptedTypes(accept: string, offered: readonly string[]): readonly string[] {
  const headers = accept === "" ? {} : { accept: accept.replaceAll(/;(?!\s*q=)[^;,]*/gi, "") };
  return new Negotiator({ headers }).mediaTypes([...offered]);
}
