/**
 * Cursors: opaque texts that name where the next page of an answer begins, and the version that it is read from, so that pages of one answer are
 * those of one market. A cursor belongs to the parameters of its request.
 */
import { hash } from "node:crypto";
import { isDay } from "../base/day.ts";
import { refuse } from "../contract/errors.ts";
import { quoted } from "../contract/query-string.ts";

/** Parameters that can differ between the pages of an answer. */
const parametersOfPages: ReadonlySet<string> = new Set([
  "cursor",
  "limit",
  "offset",
  "data_version",
  "format",
  "csv_raw",
]);

const shape = /^(?<version>\d{4}-\d\d-\d\d\.\d{1,9}) (?<request>[\w-]{12}) (?<position>.+)$/;

/** A request whose answer has pages. */
export interface PagedRequest {
  readonly query: { readonly cursor?: string | undefined };
  readonly path: object;
}

/** Returns the cursor of a position in the answer to a request. */
export const cursorOf = (version: string, request: PagedRequest, position: string): string =>
  Buffer.from(`${version} ${fingerprintOf(request)} ${position}`).toString("base64url");

/** Returns the version that a request's cursor names; undefined without a cursor. Refuses with `invalid_parameter_value`. */
export const versionOfCursor = (request: PagedRequest): string | undefined => contentOf(request)?.version;

/**
 * Returns the groups that a pattern finds in the position of a cursor, of which `day` must be a day; undefined without a cursor. Refuses with
 * `invalid_parameter_value`.
 */
export function positionOfCursor(request: PagedRequest, pattern: RegExp): Readonly<Record<string, string>> | undefined {
  const content = contentOf(request);
  if (content === undefined) return undefined;
  const groups = pattern.exec(content.position ?? "")?.groups;
  if (groups === undefined || (groups.day !== undefined && !isDay(groups.day))) throw invalid(request);
  return groups;
}

function contentOf(request: PagedRequest): Readonly<Record<string, string>> | undefined {
  const { cursor } = request.query;
  if (cursor === undefined) return undefined;
  const content = shape.exec(Buffer.from(cursor, "base64url").toString())?.groups;
  if (content === undefined || content.request !== fingerprintOf(request)) throw invalid(request);
  return content;
}

const invalid = ({ query: { cursor } }: PagedRequest): Error =>
  refuse("invalid_parameter_value", {
    parameter: "cursor",
    value: quoted(cursor),
    hint: "",
    allowed: "the next_cursor of an answer to a request with the same parameters",
  });

/** Returns a fingerprint of the parameters that all pages of an answer have in common. */
function fingerprintOf({ query, path }: PagedRequest): string {
  const common = Object.entries(query).filter(([name, value]) => !parametersOfPages.has(name) && value !== undefined);
  const sorted = [...Object.entries(path), ...common].sort(([one], [other]) => (one < other ? -1 : 1));
  return hash("sha256", JSON.stringify(sorted), "base64url").slice(0, 12);
}
