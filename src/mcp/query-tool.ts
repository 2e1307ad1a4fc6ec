/** The tool `query`: SQL of DuckDB, which over HTTP is a request of operation `runSql`, with its scope, limits and charge. */
import { createInterface } from "node:readline";
import { Readable } from "node:stream";
import type { CallToolResult, Tool as ToolListing } from "@modelcontextprotocol/server";
import type { Identity } from "../accounts/accounts.ts";
import { isObject, type Row } from "../base/json.ts";
import { refuse } from "../contract/errors.ts";
import type { RequestContext } from "../http/context.ts";
import type { InnerAnswer, SendRequest } from "../http/inner-requests.ts";
import { type CallUsage, resultOfAnswer } from "./tool-results.ts";
import { annotations } from "./tool-schemas.ts";

type Values = Readonly<Record<string, unknown>>;

export const queryTool: ToolListing = {
  name: "query",
  title: "Query with SQL",
  description:
    "Runs a SQL query of DuckDB for what no other tool answers. Views: active, missing, sold, ended (fields of search_listings), active_days " +
    "(with snapshot_date), dealers, builds, price_changes, days. DESCRIBE a view for what its columns mean. Aggregate, or use LIMIT.",
  inputSchema: {
    type: "object",
    properties: {
      sql: {
        type: "string",
        description: "Such as: SELECT make, median(price) FROM active WHERE state = $state GROUP BY make",
      },
      params: { type: "object", description: "Values of $name." },
      detail: { type: "string", enum: ["full"] },
    },
    required: ["sql"],
  },
  annotations,
};

/** Returns the statements of a call as JSON of the body of operation `runSql`. Refuses parameters that may have been rounded when the message was parsed: numbers from 2^53 on. */
export function statementsOf({ detail: _, ...body }: Values): string {
  const rounded = Object.entries(Object(body.params)).find(
    ([, value]) => Math.abs(Number(value)) > Number.MAX_SAFE_INTEGER && typeof value === "number",
  );
  if (rounded === undefined) return JSON.stringify(body);
  const [name, value] = rounded;
  const details = { value: String(value), allowed: "a number below 2^53, or a larger one as a text", hint: "" };
  throw refuse("invalid_parameter_value", { parameter: `params.${name}`, ...details });
}

/** Returns the rows of a result as that of a call. */
export function resultOfQuery(data: readonly Row[], meta: Row, values: Values, usage?: CallUsage): CallToolResult {
  return resultOfAnswer({ data, meta }, { id: "runSql", isFull: values.detail === "full", usage, link: undefined });
}

/** On whose behalf statements run, during which request. */
interface QueryCaller {
  readonly context: RequestContext;
  readonly identity: Identity;
  readonly isCharged: boolean;
  readonly sendRequest: SendRequest;
}

/** Runs the statements of a call as a request of operation `runSql`. */
export async function sendQuery(
  values: Values,
  { context, identity, isCharged, sendRequest }: QueryCaller,
): Promise<CallToolResult> {
  const headers = { "content-type": "application/json" };
  const target = "/v1/sql?format=ndjson";
  const request = { operation: "runSql", method: "POST", target, headers, body: statementsOf(values) } as const;
  return sendRequest(context, identity, request, async (answer) => {
    if (answer.status !== 200) return refusalIn(answer);
    const data_version = answer.header("Carquet-Version");
    const data = await firstRows(answer.body);
    const rows = Number(answer.header("X-Total-Count"));
    const meta = { data_version, as_of: data_version.slice(0, 10), ...(rows > data.length && { rows }) };
    const usage = {
      request_id: answer.header("X-Request-Id"),
      charged_micros: Number(answer.header("X-Usage-Cost-Micros")),
      usage_class: answer.header("X-Usage-Class"),
    };
    return resultOfQuery(data, meta, values, isCharged ? usage : undefined);
  });
}

/** Returns a refusal with its code and message. */
function refusalIn({ body }: InnerAnswer): CallToolResult {
  const error = isObject(body) && isObject(body.error) ? body.error : {};
  return { content: [{ type: "text", text: `${String(error.code)}: ${String(error.message)}` }], isError: true };
}

/** More rows than a result holds. */
const rowsMax = 10_000;

/** Returns the first rows of lines of JSON. */
async function firstRows(body: unknown): Promise<readonly Row[]> {
  const rows: Row[] = [];
  const input = body instanceof Readable ? body : Readable.from([String(body ?? "")]);
  for await (const line of createInterface({ input })) {
    rows.push(JSON.parse(line));
    if (rows.length === rowsMax) break;
  }
  input.destroy();
  return rows;
}
