/** Content negotiation: the format of a response, from parameter `format` or the header `Accept`. */
import Negotiator from "negotiator";
import type { Operation } from "../../contract/document.ts";
import { refuse } from "../../contract/errors.ts";
import { quoted } from "../../contract/query-string.ts";
import { answerFormats, type FormatName } from "../../formats/table-formats.ts";
import type { RequestContext } from "../context.ts";

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
  // Parameters besides the weight do not distinguish the formats: `application/json; charset=utf-8` is JSON.
  const headers = { accept: accept.replaceAll(/;(?!\s*q=)[^;,]*/gi, "") };
  const [preferred] = new Negotiator({ headers }).mediaTypes(mediaTypes);
  const format = offered.find((name) => answerFormats[name].mediaType === preferred);
  if (format !== undefined) return format;
  throw refuse("not_acceptable", { value: quoted(accept), allowed: mediaTypes.join(", ") });
}
