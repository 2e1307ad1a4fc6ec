/**
 * Operation `runSql`: runs an analyst's statements in a separate process, charges for the time, and sends the result. The result is complete
 * before the first byte is sent. What a process writes lies in the spool until the response ends.
 */
import { Readable } from "node:stream";
import type { Accounts, Hold } from "../../accounts/accounts.ts";
import { withTimeLimit } from "../../base/time-limit.ts";
import { decodeBody, decoderOf, numberTextsIn } from "../../contract/decode.ts";
import { refuse } from "../../contract/errors.ts";
import type { Job } from "../../db/job.ts";
import { jsonItemsOf } from "../../formats/file-writer.ts";
import { type FormatName, pageFormats } from "../../formats/table-formats.ts";
import type { Admission } from "../../operations/admission.ts";
import { charge } from "../../operations/answer.ts";
import { type Caller, requireScope } from "../../operations/caller.ts";
import {
  callerOf,
  type Middleware,
  type RequestContext,
  readBody,
  requireConnected,
  setUsageHeaders,
} from "../context.ts";
import { contentTypeOf, negotiateFormat } from "../responses/headers.ts";
import { limitResponseTime } from "../service/http-server.ts";
import type { ExportServices } from "./charged-export.ts";
import { openContent, releaseAtEnd, sentOf } from "./respond-with-export.ts";
import type { SpooledExport } from "./spool.ts";
import { runStatement, type StatementTask } from "./writer-process.ts";

export interface SqlServices extends ExportServices {
  /** How long statements may run; 0 if the operation is off. */
  readonly sqlDeadlineMs: number;
}

/** The size of a request's body. */
const bodyBytesMax = 65_536;

/** The most rows of a result. */
const rowsMax = 1_000_000;

/** The disk space of a result and of the intermediate results of its statements. */
const resultBytesMax = 2 * 2 ** 30;

export function respondWithSql(services: SqlServices, admission: Admission): Middleware {
  const decode = decoderOf("runSql");
  return async (context) => {
    const caller = callerOf(context);
    requireScope(caller, "runSql");
    if (services.sqlDeadlineMs === 0)
      throw refuse("not_found", { what: "resource", id: "/v1/sql (which the operator turns on with --sql-deadline)" });
    const body = await readBody(context, bodyBytesMax);
    if (body === undefined) throw refuse("body_too_large", { limit: bodyBytesMax });
    const respond = async (job: Job): Promise<void> => {
      const { query } = decode(context.querystring, context.params);
      const format = negotiateFormat(context, pageFormats, query.format);
      const numbers = numberTextsIn(body, "params");
      const request = { ...decodeBody("runSql", body), numbers, format, isRaw: query.csv_raw ?? false };
      await respondTo(request, { context, caller, job }, services);
    };
    await admission.run(caller, respond, () => sentOf(context));
  };
}

interface SqlCall {
  readonly context: RequestContext;
  readonly caller: Caller;
  readonly job: Job;
}

type SqlRequest = Pick<StatementTask, "sql" | "params" | "numbers" | "format" | "isRaw">;

async function respondTo(request: SqlRequest, call: SqlCall, services: SqlServices): Promise<void> {
  const { context, caller } = call;
  const { accounts, current, deadlineMs, sqlDeadlineMs } = services;
  limitResponseTime(context.res, 2 * deadlineMs + sqlDeadlineMs);
  const { data_version, as_of } = await current.use(async ({ meta }) => meta);
  context.set({ "Carquet-Version": data_version, "Cache-Control": "private, no-store" });
  const reserved = holdSeconds(accounts, caller, Math.ceil(sqlDeadlineMs / 1000));
  try {
    const { file, seconds } = await runTimed({ ...request, version: data_version }, call, services);
    requireConnected(context);
    reserved.release();
    const hold = holdSeconds(accounts, caller, seconds);
    setUsageHeaders(context, await charge(accounts, caller, hold).finally(() => hold.release()), accounts);
    context.set("X-Total-Count", String(file.rows));
    sendResult(context, file, request.format, { data_version, as_of });
  } finally {
    reserved.release();
  }
}

const holdSeconds = (accounts: Accounts, { identity }: Caller, seconds: number): Hold =>
  accounts.hold(identity, "sql_statement", undefined, seconds);

/** Runs statements once there is a writer for them; returns the started seconds, too. Those that fail count against the rate limits by their time. */
async function runTimed(
  request: SqlRequest & Pick<StatementTask, "version">,
  { context, caller, job }: SqlCall,
  { spool, sqlDeadlineMs, accounts, lake, memory }: SqlServices,
): Promise<{ readonly file: SpooledExport; readonly seconds: number }> {
  let startedAtMs: number | undefined;
  const usedSeconds = (): number => (startedAtMs === undefined ? 0 : (performance.now() - startedAtMs) / 1000);
  const kept = { key: `sql ${caller.requestId}`, job, ageMs: 0, bytesMax: resultBytesMax, onUnfinished: () => {} };
  try {
    const file = await spool.open(kept, async (path, { signal }) => {
      startedAtMs = performance.now();
      const task = { ...request, lake, memory, path, rowsMax };
      const error = refuse("deadline_exceeded", { seconds: sqlDeadlineMs / 1000 });
      return withTimeLimit({ ms: sqlDeadlineMs, error, signal }, (limited) => runStatement(task, limited));
    });
    releaseAtEnd(context, file);
    return { file, seconds: Math.ceil(usedSeconds()) };
  } catch (thrown) {
    // The time of an aborted job is counted by its admission.
    if (!job.signal.aborted) accounts.countUncharged(caller.identity, Math.floor(usedSeconds()));
    throw thrown;
  }
}

/** Sends a result. JSON names the version. */
function sendResult(context: RequestContext, { path, bytes }: SpooledExport, format: FormatName, meta: object): void {
  const content = openContent(context, path);
  context.set("Content-Type", contentTypeOf(format));
  if (format !== "json") {
    context.body = content;
    context.length = bytes;
    return;
  }
  const start = '{"data":[';
  const end = `],"meta":${JSON.stringify(meta)}}`;
  context.body = Readable.from(jsonArray(content, start, end), { objectMode: false });
  context.length = start.length + Math.max(0, bytes - 1) + end.length;
}

/** Yields the lines of NDJSON as the items of an array, between `start` and `end`. */
async function* jsonArray(lines: AsyncIterable<Buffer>, start: string, end: string): AsyncGenerator<Buffer> {
  yield Buffer.from(start);
  yield* jsonItemsOf(lines, "", ",");
  yield Buffer.from(end);
}
