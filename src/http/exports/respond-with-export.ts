/**
 * Operation `exportListings`: writes the export to the spool, charges for its rows, and sends it. The file is complete before the first
 * byte is sent, so a download that breaks off is shorter than its `Content-Length`.
 *
 * An account is charged once in 24 hours for an export of one entity tag: for the first response, whole or a part. The tag is the
 * idempotency key of the charge.
 */
import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { dirname } from "node:path";
import { Readable } from "node:stream";
import type { Accounts, Hold } from "../../accounts/accounts.ts";
import { exportUnits, usageClassOf } from "../../accounts/policy/prices.ts";
import { projectText } from "../../base/project-files.ts";
import { decoderOf } from "../../contract/decode.ts";
import { document, operation } from "../../contract/document.ts";
import { refuse } from "../../contract/errors.ts";
import { engineVersion } from "../../db/duckdb.ts";
import { Abandoned, type Job } from "../../db/job.ts";
import { countRows, type ExportQuery, partsOf } from "../../export/parts.ts";
import { writeExport } from "../../export/write-export.ts";
import { exportFormats, type TableFormat } from "../../formats/table-formats.ts";
import type { Admission } from "../../operations/admission.ts";
import { charge } from "../../operations/answer.ts";
import { type Caller, requireScope } from "../../operations/caller.ts";
import { keyTextOf } from "../../operations/result-cache.ts";
import type { CurrentVersion } from "../../serving/current-version.ts";
import { callerOf, requireConnected, setUsageHeaders } from "../calls.ts";
import type { Middleware, RequestContext } from "../context.ts";
import { entityTag, matchesEntityTag, strongEntityTag } from "../responses/etag.ts";
import { contentTypeOf, setFileName } from "../responses/headers.ts";
import { negotiateFormat } from "../responses/negotiate.ts";
import { limitResponseTime } from "../service/http-server.ts";
import { type ExportSize, runExport, type WriteEvents } from "./export-process.ts";
import type { Spool, SpooledExport } from "./spool.ts";

export interface ExportServices {
  readonly lake: string;
  readonly current: CurrentVersion;
  readonly accounts: Accounts;
  readonly spool: Spool;
  readonly memory: string;
  /** An export of up to this many rows is written by the service itself, in a tenth of the time that a process takes. */
  readonly quickRowsMax: number;
  /** How long an export may take to be written, and then to be sent. */
  readonly deadlineMs: number;
}

/** Distinguishes releases whose exports of the same request can differ in a byte. */
const releaseTag = entityTag(`${projectText("package.json")} ${JSON.stringify(document)} ${engineVersion}`);

interface NamedExport {
  readonly query: ExportQuery;
  readonly tag: string;
  readonly version: string;
  readonly asOf: string;
  readonly format: TableFormat;
  readonly total: number;
}

interface ExportCall {
  readonly context: RequestContext;
  readonly caller: Caller;
  readonly job: Job;
}

export function respondWithExport(services: ExportServices, admission: Admission): Middleware {
  const decode = decoderOf("exportListings");
  return async (context) => {
    const caller = callerOf(context);
    requireScope(caller, "exportListings");
    const respond = async (job: Job): Promise<void> => {
      const { query } = decode(context.querystring, context.params);
      await respondTo(query, { context, caller, job }, services);
    };
    await admission.run(caller, respond, () => sentOf(context));
  };
}

/** Returns what resolves when the file has been sent; undefined if none is. */
export function sentOf({ body, res }: RequestContext): Promise<unknown> | undefined {
  return body instanceof Readable && !res.closed ? new Promise((sent) => body.once("close", sent)) : undefined;
}

async function respondTo(query: ExportQuery, call: ExportCall, services: ExportServices): Promise<void> {
  const { context, caller, job } = call;
  const format = negotiateFormat(context, exportFormats, query.format);
  // Writing may take the deadline, and sending as long again.
  limitResponseTime(context.res, 2 * services.deadlineMs);
  const named = await job.race(nameExport(query, format, services, call));
  context.set("Cache-Control", "private, no-cache");
  if (named === undefined) {
    context.status = 304;
    return;
  }
  const hold = await holdExport(services, caller, query, named);
  try {
    const file = await openFile(services, call, named, (rows) => chargeUnfinished(services, call, { hold, rows }));
    const range = requestedRange(context, named.tag, file.bytes);
    requireConnected(context);
    setUsageHeaders(context, await charge(services.accounts, caller, hold));
    setFileHeaders(context, named);
    limitResponseTime(context.res, services.deadlineMs);
    sendFile(context, file, range);
  } finally {
    hold.release();
  }
}

/** Returns what identifies an export, and its number of rows; undefined if the client has it already. */
function nameExport(
  query: ExportQuery,
  format: TableFormat,
  { current }: ExportServices,
  { context, job }: ExportCall,
): Promise<NamedExport | undefined> {
  return current.use(async (open) => {
    const parts = partsOf(query, open.withJob(job));
    const { as_of: asOf, version } = open.manifest;
    context.set("X-Data-Version", version);
    const { format: _, ...request } = query;
    const key = keyTextOf({ version, operation: "exportListings", request });
    const tag = strongEntityTag(`${releaseTag} ${format} ${key}`);
    if (matchesEntityTag(context, tag)) return undefined;
    return { query, tag, version, asOf, format, total: await countRows(parts) };
  });
}

/** Returns the file of an export until the response ends. Throws if its number of rows differs from the counted and charged one. */
async function openFile(
  services: ExportServices,
  { context, job }: ExportCall,
  named: NamedExport,
  onUnfinished: (rows: number) => void,
): Promise<SpooledExport> {
  const { querystring: queryString, res } = context;
  const { tag, version, format, total } = named;
  const isQuick = total <= services.quickRowsMax;
  const file = await services.spool.open({ key: tag, job, isQuick, onUnfinished }, async (path, events) => {
    const written = isQuick ? await writeHere(services, named, path, events) : undefined;
    return written ?? runExport({ ...services, version, queryString, format, path }, events);
  });
  if (res.closed) file.release();
  else res.once("close", file.release);
  if (file.rows !== total) throw new Error(`Export of ${file.rows} rows: expected the ${total} counted rows.`);
  return file;
}

/** Writes an export by the version in service; returns undefined if that is another one by now. */
const writeHere = (
  { current }: ExportServices,
  { query, version, format }: NamedExport,
  path: string,
  { job, onRows: onBegin }: WriteEvents & { readonly job: Job },
): Promise<ExportSize | undefined> =>
  current.use(async (open) =>
    open.manifest.version === version
      ? writeExport(query, open.withJob(job), { format, folder: dirname(path), onBegin })
      : undefined,
  );

/** Holds the price of an export; nothing if the account has been charged for it. A client's own idempotency keys have no spaces. */
function holdExport(
  { accounts }: ExportServices,
  { identity }: Caller,
  query: ExportQuery,
  { tag, total }: NamedExport,
): Promise<Hold> {
  const sha256 = createHash("sha256").update(tag).digest("hex");
  const usageClass = usageClassOf("exportListings", query);
  return accounts.holdOnce(identity, usageClass, { idempotencyKey: `export ${tag}`, sha256 }, exportUnits(total));
}

/** An export whose client disconnected while it was written. */
interface UnfinishedExport {
  readonly hold: Hold;
  readonly rows: number;
}

/** Charges for the rows of an export that were written or being written when its client disconnected. Its deadline costs nothing. */
function chargeUnfinished(
  { accounts }: ExportServices,
  { caller, job, context }: ExportCall,
  { hold, rows }: UnfinishedExport,
): void {
  if (!(job.signal.reason instanceof Abandoned) || rows === 0 || hold.micros === 0) return;
  hold.release();
  const { identity, requestId } = caller;
  const charged = async (): Promise<number> =>
    accounts.charge(identity, accounts.hold(identity, hold.usageClass, undefined, exportUnits(rows)), requestId);
  charged().catch((thrown: unknown) => context.state.log.error({ err: thrown }, "unfinished export not charged"));
}

function setFileHeaders(context: RequestContext, { asOf, format, total }: NamedExport): void {
  context.set("Content-Type", contentTypeOf(format));
  setFileName(context, operation("searchListings"), format, asOf);
  context.set("Accept-Ranges", "bytes");
  context.set("X-Total-Count", String(total));
}

/** Sends a file or a part of it. Closes the connection if it cannot be read, so that the response does not look complete. */
function sendFile(context: RequestContext, { path, bytes }: SpooledExport, range: ByteRange | undefined): void {
  const { first, last } = range ?? { first: 0, last: bytes - 1 };
  if (range !== undefined) {
    context.status = 206;
    context.set("Content-Range", `bytes ${first}-${last}/${bytes}`);
  }
  const content = createReadStream(path, {
    ...(bytes === 0 ? {} : { start: first, end: last }),
    highWaterMark: 2 ** 18,
  });
  content.once("error", () => context.res.destroy());
  // Koa's pipeline adds several listeners to those of the middleware; Node.js warns of more than ten.
  context.res.setMaxListeners(20);
  context.body = content;
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
