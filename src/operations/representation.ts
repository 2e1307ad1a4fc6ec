/** The representation of an answer: its format, by parameter `format` or the header `Accept`, its entity tag, and the preconditions of its request. */
import { hash } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";
import Negotiator from "negotiator";
import type { Operation } from "../contract/document.ts";
import { refuse } from "../contract/errors.ts";
import { quoted } from "../contract/query-string.ts";
import { answerFormats, type FormatName } from "../formats/table-formats.ts";

/** The headers of a request that choose a representation, or ask whether the client has it already. */
export type Conditions = Pick<IncomingHttpHeaders, "accept" | "if-match" | "if-none-match">;

/** Returns the weak entity tag of a content, or of the input from which it derives. Compressed responses share it. */
export const entityTag = (content: string | Buffer): string => `W/${strongEntityTag(content)}`;

/** Returns the strong entity tag of the input from which a content derives, byte by byte. */
export const strongEntityTag = (content: string | Buffer): string =>
  `"${hash("sha256", content, "base64url").slice(0, 22)}"`;

/**
 * Evaluates the preconditions of a GET or HEAD in the order of RFC 9110. Those about dates are ignored, because no response has a
 * modification date.
 */
export function preconditionOf(
  { "if-match": match = "", "if-none-match": noneMatch = "" }: Conditions,
  tag: string,
): "met" | "not modified" | "failed" {
  if (match !== "" && match !== "*" && (isWeak(tag) || !tagsIn(match).includes(tag))) return "failed";
  const isKnown = noneMatch === "*" || tagsIn(noneMatch).some((known) => opaqueTag(known) === opaqueTag(tag));
  return isKnown ? "not modified" : "met";
}

/** Whether the preconditions of a request decide it for every representation with a weak tag, if the resource exists. */
export const isDecidedByExistence = ({ "if-match": match = "", "if-none-match": noneMatch }: Conditions): boolean =>
  noneMatch === "*" || !["", "*"].includes(match);

const isWeak = (tag: string): boolean => tag.startsWith("W/");
const opaqueTag = (tag: string): string => tag.replace(/^W\//, "");
const tagsIn = (list: string): readonly string[] => list.match(/(?:W\/)?"[^"]*"/g) ?? [];

/** Whether an operation answers in several formats. Others answer in JSON and ignore `Accept`. */
export const hasFormats = ({ parameters }: Operation): boolean => parameters.some(({ name }) => name === "format");

/**
 * Returns the format that a client prefers of those that an operation offers; the first one if it has no preference. Refuses with
 * `not_acceptable`.
 */
export function negotiateFormat<Format extends FormatName>(
  { accept = "" }: Conditions,
  offered: readonly [Format, ...Format[]],
  requested: Format | undefined,
): Format {
  if (requested !== undefined) return requested;
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
