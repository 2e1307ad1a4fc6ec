/**
 * Operation `runSql`: runs an analyst's statements in a separate process, charges for their processor time, and sends the result. The result is
 * complete before the first byte is sent. What a process writes lies in the spool until the response ends. Statements that ran and failed are charged
 * too, because a message can quote results; those that could not be planned, and those ended by the service, are not.
 */
import { randomUUID } from "node:crypto";
import { Readable } from "node:stream";
import type { Accounts, Hold } from "../../accounts/accounts.ts";
import { withTimeLimit } from "../../base/time-limit.ts";
import { decodeBody, decoderOf, numberTextsIn } from "../../contract/decode.ts";
import { Refusal, refuse } from "../../contract/errors.ts";
import type { Job } from "../../db/job.ts";
import { jsonItemsOf } from "../../formats/file-writer.ts";
import { type FormatName, pageFormats } from "../../formats/table-formats.ts";
import type { Admission } from "../../operations/admission.ts";
import { charge, idempotentRequestOf } from "../../operations/answer.ts";
import type { Caller } from "../../operations/caller.ts";
import { negotiateFormat } from "../../operations/representation.ts";
import { callerOf, type Middleware, type RequestContext, readBody, setUsageHeaders } from "../context.ts";
import { contentTypeOf } from "../responses/headers.ts";
import { limitResponseTime } from "../service/http-server.ts";
import type { ExportServices } from "./charged-export.ts";
import { openContent, releaseAtEnd, sentOf } from "./respond-with-export.ts";
import type { SpooledExport } from "./spool.ts";
import { runStatement, type StatementTask, type StatementUse, tooManyExports, versionFor } from "./writer-process.ts";

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
    const respond = async (job: Job): Promise<void> => {
      if (services.sqlDeadlineMs === 0)
        throw refuse("not_found", {
          what: "resource",
          id: "/v1/sql (which the operator turns on with --sql-deadline)",
        });
      const body = await job.race(readBody(context, bodyBytesMax));
      const { query } = decode(context.querystring, context.params);
      const format = negotiateFormat(context.headers, pageFormats, query.format);
      const numbers = numberTextsIn(body, "params");
      const request = { ...decodeBody("runSql", body), numbers, format, isRaw: query.csv_raw ?? false };
      await respondTo(request, { context, caller, job, admission }, services);
    };
    await admission.run(caller, "runSql", respond, () => sentOf(context));
  };
}

interface SqlCall {
  readonly context: RequestContext;
  readonly caller: Caller;
  readonly job: Job;
  readonly admission: Admission;
}

type SqlRequest = Pick<StatementTask, "sql" | "params" | "numbers" | "format" | "isRaw">;

async function respondTo(request: SqlRequest, call: SqlCall, services: SqlServices): Promise<void> {
  const { context, caller, job, admission } = call;
  const { accounts, current, deadlineMs, sqlDeadlineMs } = services;
  limitResponseTime(context.res, 2 * sqlDeadlineMs + deadlineMs);
  const { data_version, as_of, files } = await versionFor(current, request.sql);
  context.set({ "Carquet-Version": data_version, "Cache-Control": "private, no-store" });
  const reserved = await holdDeadline(request, caller, services);
  let used: StatementUse = { ms: 0, hasRun: false };
  let micros = 0;
  try {
    const task = { ...request, files, version: data_version };
    const file = await runStatements(task, job, services, (use) => {
      used = use;
    });
    releaseAtEnd(context, file);
    micros = await chargeTime(used, reserved, call, accounts);
    context.set("X-Total-Count", String(file.rows));
    sendResult(context, file, request.format, { data_version, as_of });
  } catch (thrown) {
    const isFailed = thrown instanceof Refusal && thrown.code === "invalid_statement" && used.hasRun;
    if (isFailed) micros = await chargeTime(used, reserved, call, accounts);
    throw thrown;
  } finally {
    reserved.release();
    // The time of an aborted job is counted by its admission.
    if (micros === 0 && !job.signal.aborted) admission.countUncharged(caller, used.ms);
  }
}

/** Holds the price of statements that run until their deadline; nothing if the account has been charged for them. */
async function holdDeadline(
  { sql, params, numbers, format, isRaw }: SqlRequest,
  { identity, idempotencyKey }: Caller,
  { accounts, sqlDeadlineMs }: SqlServices,
): Promise<Hold> {
  const request = { sql, params, numbers: Object.fromEntries(numbers ?? []), format, isRaw };
  const idempotent = idempotentRequestOf(idempotencyKey, "runSql", request);
  return accounts.holdOnce(identity, "sql_statement", idempotent, Math.ceil(sqlDeadlineMs / 1000));
}

/** Charges for each started second of processor time, instead of what was reserved. Returns the charged micros. */
async function chargeTime(
  { ms }: StatementUse,
  reserved: Hold,
  { context, caller }: SqlCall,
  accounts: Accounts,
): Promise<number> {
  reserved.release();
  const units = Math.min(reserved.units, Math.max(1, Math.ceil(ms / 1000)));
  const hold = accounts.hold(caller.identity, reserved.usageClass, reserved.request, units);
  try {
    const usage = await charge(accounts, caller, hold);
    setUsageHeaders(context, usage, accounts);
    return usage.micros;
  } finally {
    hold.release();
  }
}

/** Runs statements once there is a writer for them. Ends the job with `overloaded` if there is none for as long as they may run. */
function runStatements(
  request: SqlRequest & Pick<StatementTask, "version" | "files">,
  job: Job,
  { spool, sqlDeadlineMs, lake, memory, current }: SqlServices,
  onUse: (use: StatementUse) => void,
): Promise<SpooledExport> {
  const kept = { key: `sql ${randomUUID()}`, job, ageMs: 0, bytesMax: resultBytesMax };
  const task = { ...request, lake, memory, rowsMax };
  const waiting = setTimeout(() => job.abort(tooManyExports()), sqlDeadlineMs);
  const file = spool.open(kept, (path, { signal }) => {
    clearTimeout(waiting);
    const error = refuse("deadline_exceeded", { seconds: sqlDeadlineMs / 1000 });
    return withTimeLimit({ ms: sqlDeadlineMs, error, signal }, (limited) =>
      runStatement({ ...task, path }, current, limited, onUse),
    );
  });
  return file.finally(() => clearTimeout(waiting));
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
