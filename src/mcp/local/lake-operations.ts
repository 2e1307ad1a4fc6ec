/**
 * Operations of a lake without accounts, for an agent on its machine: validated and computed as in the service, neither limited nor charged. The tool
 * `query` runs SQL in a separate process with the limits of operation `runSql`.
 */
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { CallToolResult, Tool as ToolListing } from "@modelcontextprotocol/server";
import type { Row } from "../../base/json.ts";
import { withTimeLimit } from "../../base/time-limit.ts";
import { decodeBody, decoderOf } from "../../contract/decode.ts";
import { refuse } from "../../contract/errors.ts";
import { Abandoned, Job } from "../../db/job.ts";
import { exportMemory } from "../../export/limits.ts";
import { runStatement } from "../../http/exports/writer-process.ts";
import { type CalledId, namedVersion, type OperationRequest } from "../../operations/caller.ts";
import { type Endpoint, endpoints } from "../../operations/endpoints.ts";
import { bodyOf } from "../../operations/result.ts";
import type { CurrentVersion } from "../../serving/current-version.ts";
import type { AnswerBody } from "../compact-text.ts";
import { resultOfAnswer } from "../tool-results.ts";
import { annotations } from "../tool-schemas.ts";

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

async function answer<Id extends CalledId>(
  id: Id,
  { querystring, params = {} }: OperationRequest,
  current: CurrentVersion,
  job: Job,
): Promise<AnswerBody> {
  const endpoint: Endpoint<Id> = endpoints[id];
  const request = decoderOf(id)(querystring, params);
  return current.useNamed(namedVersion(request, undefined), async (version) =>
    bodyOf<Id>(await endpoint(request, version.withJob(job))),
  );
}

/** The most rows of a result, of which the agent sees as many as its result holds. */
const rowsMax = 10_000;

/** How long the statements of a call may run. */
const deadlineMs = 30_000;

export const queryTool: ToolListing = {
  name: "query",
  title: "Query with SQL",
  description:
    "Runs a SQL query of DuckDB for what no other tool answers. Views: active, missing, sold, ended (listings with the field names of " +
    "search_listings, and dealer_*), active_days (those of every day, with snapshot_date), dealers, builds, price_changes " +
    "(listing_id, vin, date, price, price_before, make, model), days. DESCRIBE a view for its columns and what they mean. Aggregate, or use LIMIT; pass values " +
    "as params, named $name in the text.",
  inputSchema: {
    type: "object",
    properties: {
      sql: {
        type: "string",
        description: "For example: SELECT make, median(price) AS price FROM active WHERE state = $state GROUP BY make",
      },
      params: { type: "object", description: "Values of $name: numbers, texts, booleans or null." },
      detail: { type: "string", enum: ["full"], description: "Allows a longer result." },
    },
    required: ["sql"],
  },
  annotations,
};

/** Runs the statements of a call over a lake. Throws the Refusal of operation `runSql`. */
export async function runQueryTool(
  { lake, current }: { readonly lake: string; readonly current: CurrentVersion },
  { detail, ...body }: Readonly<Record<string, unknown>>,
  signal: AbortSignal,
): Promise<CallToolResult> {
  refuseRounded(body.params);
  const statements = decodeBody("runSql", JSON.stringify(body));
  const { data_version, as_of } = await current.use(async ({ meta }) => meta);
  const folder = await mkdtemp(join(tmpdir(), "carquet-query-"));
  const error = refuse("deadline_exceeded", { seconds: deadlineMs / 1000 });
  try {
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
    const task = { ...statements, ...output };
    await withTimeLimit({ ms: deadlineMs, error, signal }, (limited) => runStatement(task, limited));
    const lines = (await readFile(path, "utf8")).split("\n").slice(0, -1);
    const data = lines.map((line): Row => JSON.parse(line));
    const options = { id: "runSql", isFull: detail === "full", usage: undefined, link: undefined } as const;
    return resultOfAnswer({ data, meta: { data_version, as_of } }, options);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Refuses parameters that may have been rounded when the message was parsed: numbers beyond 2^53. */
function refuseRounded(params: unknown): void {
  const rounded = Object.entries(Object(params)).find(
    ([, value]) => Math.abs(Number(value)) > Number.MAX_SAFE_INTEGER && typeof value === "number",
  );
  if (rounded === undefined) return;
  const [name, value] = rounded;
  const details = { value: String(value), allowed: "a number of at most 2^53, or a larger one as a text", hint: "" };
  throw refuse("invalid_parameter_value", { parameter: `params.${name}`, ...details });
}
