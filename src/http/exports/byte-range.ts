/** Byte ranges of a response (RFC 9110): the headers `Range` and `If-Range`. */
import { refuse } from "../../contract/errors.ts";
import type { RequestContext } from "../context.ts";

/** A part of a body, both ends included. */
export interface ByteRange {
  readonly first: number;
  readonly last: number;
}

/**
 * Returns the part of a body that a request asks for; undefined for all of it: without `Range`, with several or malformed ranges, and if
 * `If-Range` names another body. Refuses with `range_not_satisfiable` a range that begins after the end.
 */
export function requestedRange(context: RequestContext, tag: string, bytes: number): ByteRange | undefined {
  const ifRange = context.get("If-Range");
  if (ifRange !== "" && ifRange !== tag) return undefined;
  const [matched, first = "", last = ""] = /^bytes=\s*(\d{0,15})-(\d{0,15})\s*$/.exec(context.get("Range")) ?? [];
  if (matched === undefined || (first === "" && last === "")) return undefined;
  if (first !== "" && last !== "" && Number(first) > Number(last)) return undefined;
  const range =
    first === ""
      ? { first: Math.max(0, bytes - Number(last)), last: bytes - 1 }
      : { first: Number(first), last: last === "" ? bytes - 1 : Math.min(Number(last), bytes - 1) };
  if (range.first > range.last) {
    context.set("Content-Range", `bytes */${bytes}`);
    throw refuse("range_not_satisfiable", { bytes });
  }
  return range;
}
