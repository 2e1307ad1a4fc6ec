/** Headers of responses that have several formats. */
import { redactKeys } from "../../accounts/keys/api-key.ts";
import type { Operation } from "../../contract/document.ts";
import { decodedName, splitQuery } from "../../contract/query-string.ts";
import { answerFormats, type FormatName } from "../../formats/table-formats.ts";
import type { Pagination } from "../../operations/result.ts";
import type { RequestContext } from "../context.ts";

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
