/** The tool `query`: SQL of DuckDB, which over HTTP is a request of operation `runSql`, with its scope, limits and charge. */
import type { CallToolResult, Tool as ToolListing } from "@modelcontextprotocol/server";
import type { Identity } from "../accounts/accounts.ts";
import { isObject } from "../base/json.ts";
import { refuse } from "../contract/errors.ts";
import { firstRows } from "../formats/first-rows.ts";
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

/** More rows, and more characters, than a result holds. */
const readLimits = { rowsMax: 10_000, charactersMax: 150_000 };

/** The result of statements: its NDJSON, a stream or a text, and the number of all its rows. */
interface QueryResult {
  readonly body: unknown;
  readonly rows: number;
  readonly data_version: string;
  readonly as_of: string;
}

/** Returns the first rows of a result as that of a call. */
export async function resultOfQuery(
  { body, rows, ...version }: QueryResult,
  values: Values,
  usage?: CallUsage,
): Promise<CallToolResult> {
  const data = await firstRows(body, readLimits);
  const meta = { ...version, ...(rows > data.length && { rows }) };
  const options = { id: "runSql", isFull: values.detail === "full", usage, link: undefined } as const;
  return resultOfAnswer({ data, meta }, { ...options, itemsTotal: rows });
}

/** On whose behalf statements run, during which request. */
interface QueryCaller {
  readonly context: RequestContext;
  readonly identity: Identity;
  readonly isCharged: boolean;
  readonly sendRequest: SendRequest;
}

/** Runs the statements of a call, as JSON, as a request of operation `runSql`. */
export async function sendQuery(
  statements: string,
  values: Values,
  { context, identity, isCharged, sendRequest }: QueryCaller,
): Promise<CallToolResult> {
  const headers = { "content-type": "application/json" };
  const target = "/v1/sql?format=ndjson";
  const request = { operation: "runSql", method: "POST", target, headers, body: statements } as const;
  return sendRequest(context, identity, request, async (answer) => {
    if (answer.status !== 200) return refusalIn(answer);
    const data_version = answer.header("Carquet-Version");
    const rows = Number(answer.header("X-Total-Count"));
    const result = { body: answer.body, rows, data_version, as_of: data_version.slice(0, 10) };
    const usage = {
      request_id: answer.requestId,
      charged_micros: Number(answer.header("X-Usage-Cost-Micros")),
      usage_class: answer.header("X-Usage-Class"),
    };
    return resultOfQuery(result, values, isCharged ? usage : undefined);
  });
}

/** Returns a refusal with its code and message. */
function refusalIn({ body }: InnerAnswer): CallToolResult {
  const error = isObject(body) && isObject(body.error) ? body.error : {};
  return { content: [{ type: "text", text: `${String(error.code)}: ${String(error.message)}` }], isError: true };
}
