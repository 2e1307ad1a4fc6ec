/**
 * Operation `exportListings`: writes the export to the spool, charges for its rows, and sends it. The file is complete before the first
 * byte is sent, so a download that breaks off is shorter than its `Content-Length`.
 */
import { createReadStream, type ReadStream } from "node:fs";
import { Readable } from "node:stream";
import { decoderOf } from "../../contract/decode.ts";
import { operation } from "../../contract/document.ts";
import { refuse } from "../../contract/errors.ts";
import type { Job } from "../../db/job.ts";
import type { ExportQuery } from "../../export/parts.ts";
import { exportFormats } from "../../formats/table-formats.ts";
import type { Admission } from "../../operations/admission.ts";
import { charge } from "../../operations/answer.ts";
import type { Caller } from "../../operations/caller.ts";
import { negotiateFormat } from "../../operations/representation.ts";
import { callerOf, type Middleware, type RequestContext, setUsageHeaders } from "../context.ts";
import { contentTypeOf, isNotModified, setFileName } from "../responses/headers.ts";
import { limitResponseTime } from "../service/http-server.ts";
import { type ExportServices, holdExport, type NamedExport, nameExport, openExport } from "./charged-export.ts";
import type { SpooledExport } from "./spool.ts";

export function respondWithExport(services: ExportServices, admission: Admission): Middleware {
  const decode = decoderOf("exportListings");
  return async (context) => {
    const caller = callerOf(context);
    const respond = async (job: Job): Promise<void> => {
      const { query } = decode(context.querystring, context.params);
      await respondTo(query, context, caller, job, services);
    };
    await admission.run(caller, "exportListings", respond, () => sentOf(context));
  };
}

/** Returns what resolves when the file has been sent; undefined if none is. */
export function sentOf({ body, res }: RequestContext): Promise<unknown> | undefined {
  return body instanceof Readable && !res.closed ? new Promise((sent) => body.once("close", sent)) : undefined;
}

async function respondTo(
  query: ExportQuery,
  context: RequestContext,
  caller: Caller,
  job: Job,
  services: ExportServices,
): Promise<void> {
  const format = negotiateFormat(context.headers, exportFormats, query.format);
  // Writing may take the deadline, and sending as long again.
  limitResponseTime(context.res, 2 * services.deadlineMs);
  const isKnown = (tag: string, version: string): boolean => {
    context.set("Carquet-Version", version);
    return isNotModified(context, tag);
  };
  const named = await job.race(nameExport({ ...query, format }, services, job, isKnown));
  context.set("Cache-Control", "private, no-cache");
  if (named === undefined) {
    context.status = 304;
    return;
  }
  const hold = await holdExport(services, caller, query, named);
  try {
    const file = await openExport(services, { job, queryString: context.querystring }, named);
    releaseAtEnd(context, file);
    const range = requestedRange(context, named.tag, file.bytes);
    setUsageHeaders(context, await charge(services.accounts, caller, hold), services.accounts);
    setFileHeaders(context, named);
    limitResponseTime(context.res, services.deadlineMs);
    sendFile(context, file, range);
  } finally {
    hold.release();
  }
}

/** Releases a file of the spool once the response has ended. */
export function releaseAtEnd({ res }: RequestContext, { release }: SpooledExport): void {
  if (res.closed) release();
  else res.once("close", release);
}

function setFileHeaders(context: RequestContext, { asOf, format, total }: NamedExport): void {
  context.set("Content-Type", contentTypeOf(format));
  setFileName(context, operation("searchListings"), format, asOf);
  context.set("Accept-Ranges", "bytes");
  context.set("X-Total-Count", String(total));
}

/** Opens a file or a part of it as a body. Closes the connection if it cannot be read, so that the response does not look complete; a reader may stop. */
export function openContent(
  { res }: RequestContext,
  path: string,
  part: { readonly start?: number; readonly end?: number } = {},
): ReadStream {
  const content = createReadStream(path, { ...part, highWaterMark: 2 ** 18 });
  content.once("error", ({ name }) => name !== "AbortError" && res.destroy());
  // Koa's pipeline adds several listeners to those of the middleware; Node.js warns of more than ten.
  res.setMaxListeners(20);
  return content;
}

/** Sends a file or a part of it. */
function sendFile(context: RequestContext, { path, bytes }: SpooledExport, range: ByteRange | undefined): void {
  const { first, last } = range ?? { first: 0, last: bytes - 1 };
  if (range !== undefined) {
    context.status = 206;
    context.set("Content-Range", `bytes ${first}-${last}/${bytes}`);
  }
  context.body = openContent(context, path, bytes === 0 ? {} : { start: first, end: last });
  context.length = last + 1 - first;
}

/** A part of a body, both ends included. */
interface ByteRange {
  readonly first: number;
  readonly last: number;
}

/**
 * Returns the part of a body that a GET asks for by `Range` and `If-Range` (RFC 9110); undefined for all of it: without `Range`, with several or malformed
 * ranges, and if `If-Range` names another body. Refuses with `range_not_satisfiable` a range that begins after the end.
 */
function requestedRange(context: RequestContext, tag: string, bytes: number): ByteRange | undefined {
  const ifRange = context.get("If-Range");
  if (context.method !== "GET" || (ifRange !== "" && ifRange !== tag)) return undefined;
  const [matched, first = "", last = ""] = /^bytes=\s*(\d{0,15})-(\d{0,15})\s*$/i.exec(context.get("Range")) ?? [];
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
