/** Content negotiation: the format of a response, from parameter `format` or the header `Accept`. */
import Negotiator from "negotiator";
import type { Operation } from "../../contract/document.ts";
import { refuse } from "../../contract/errors.ts";
import { quoted } from "../../contract/query-string.ts";
import { answerFormats, type FormatName } from "../../formats/table-formats.ts";
import type { OperationContext } from "../context.ts";

const names = Object.keys(answerFormats) as FormatName[];
const mediaTypes = names.map((name) => answerFormats[name].mediaType);

/** Whether an operation answers in every format. Others answer in JSON, whatever a client accepts. */
export const hasFormats = ({ parameters }: Operation): boolean => parameters.some(({ name }) => name === "format");

/** Returns the format that a client prefers; JSON if it has no preference. Refuses with `not_acceptable`. */
export function negotiateFormat(context: OperationContext, requested: FormatName | undefined): FormatName {
  context.vary("Accept");
  if (requested !== undefined) return requested;
  const accept = context.get("Accept");
  if (accept === "" || accept === "*/*") return "json";
  // Parameters besides the weight do not distinguish the formats: `application/json; charset=utf-8` is JSON.
  const headers = { accept: accept.replaceAll(/;\s*(?!q=)[^;,]*/gi, "") };
  const [preferred] = new Negotiator({ headers }).mediaTypes(mediaTypes);
  const format = names.find((name) => answerFormats[name].mediaType === preferred);
  if (format !== undefined) return format;
  throw refuse("not_acceptable", { value: quoted(accept), allowed: mediaTypes.join(", ") });
}
