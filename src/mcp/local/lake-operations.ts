/**
 * Operations of a lake without accounts, for an agent on its machine: validated and computed as in the service, neither limited nor charged. The tool
 * `query` runs SQL in a separate process with the limits of operation `runSql`.
 */
import { createReadStream } from "node:fs";
import { join } from "node:path";
import type { CallToolResult } from "@modelcontextprotocol/server";
import { withTemporaryFolder } from "../../base/files.ts";
import { withTimeLimit } from "../../base/time-limit.ts";
import { decodeBody, decoderOf } from "../../contract/decode.ts";
import { refuse } from "../../contract/errors.ts";
import { Abandoned, Job } from "../../db/job.ts";
import { exportMemory } from "../../export/limits.ts";
import { runStatement, versionFor } from "../../http/exports/writer-process.ts";
import { type EndpointId, namedVersion, type OperationRequest } from "../../operations/caller.ts";
import { type Endpoint, endpoints } from "../../operations/endpoints.ts";
import { bodyOf, jsonOf } from "../../operations/result.ts";
import type { CurrentVersion } from "../../serving/current-version.ts";
import type { AnswerBody } from "../compact-text.ts";
import { resultOfQuery, statementsOf } from "../query-tool.ts";

/** Calls an operation of the version in service. Throws the Refusal of the API, or Abandoned if the signal aborts. */
export async function callLakeOperation(
  current: CurrentVersion,
  request: OperationRequest,
  signal: AbortSignal,
): Promise<AnswerBody> {
  const { id } = request;
  if (id === "getUsage") throw refuse("not_found", { what: "account of this lake with operation", id });
  const job = new Job("");
  const onAbort = (): void => job.abort(new Abandoned("The call was cancelled."));
  if (signal.aborted) onAbort();
  signal.addEventListener("abort", onAbort, { once: true });
  try {
    return await job.race(answer(id, request, current, job));
  } finally {
    signal.removeEventListener("abort", onAbort);
  }
}

async function answer<Id extends EndpointId>(
  id: Id,
  { querystring, params = {} }: OperationRequest,
  current: CurrentVersion,
  job: Job,
): Promise<AnswerBody> {
  const endpoint: Endpoint<Id> = endpoints[id];
  const request = decoderOf(id)(querystring, params);
  return current.useNamed(
    namedVersion(request, undefined),
    async (version) => bodyOf<Id>(jsonOf(await endpoint(request, version.withJob(job)))) as AnswerBody,
  );
}

/** The most rows of a result, of which the agent sees as many as its result holds. */
const rowsMax = 10_000;

/** How long the statements of a call may run. */
const deadlineMs = 30_000;

/** Runs the statements of a call over a lake. Throws the Refusal of operation `runSql`. */
export async function runQueryTool(
  { lake, current }: { readonly lake: string; readonly current: CurrentVersion },
  values: Readonly<Record<string, unknown>>,
  signal: AbortSignal,
): Promise<CallToolResult> {
  const statements = decodeBody("runSql", statementsOf(values));
  const { data_version, as_of, files } = await versionFor(current, statements.sql);
  const error = refuse("deadline_exceeded", { seconds: deadlineMs / 1000 });
  return withTemporaryFolder("carquet-query-", async (folder) => {
    const path = join(folder, "result");
    const output = {
      lake,
      version: data_version,
      format: "json",
      isRaw: true,
      path,
      rowsMax,
      memory: exportMemory,
    } as const;
    const task = { ...statements, ...output, files };
    const limits = { ms: deadlineMs, error, signal };
    const { rows } = await withTimeLimit(limits, (limited) => runStatement(task, current, limited));
    return await resultOfQuery({ body: createReadStream(path), rows, data_version, as_of }, values);
  });
}
