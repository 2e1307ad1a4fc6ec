/** The MCP server of one connection or request: lists tools, and calls their operations. */
import {
  type CallToolResult,
  type InputRequiredResult,
  ProtocolError,
  ProtocolErrorCode,
  Server,
  type ServerContext,
  type Tool as ToolListing,
} from "@modelcontextprotocol/server";
import { prices, usageClassOf } from "../accounts/policy/prices.ts";
import { textIn } from "../base/json.ts";
import { projectText } from "../base/project-files.ts";
import { decoderOf } from "../contract/decode.ts";
import { operation } from "../contract/document.ts";
import type { Refusal } from "../contract/errors.ts";
import { Abandoned } from "../db/job.ts";
import type { OperationRequest } from "../operations/caller.ts";
import { confirmPrice, countingRefusals, priceText, requestOfCall } from "./call-request.ts";
import {
  type AgentCharts,
  hasPage,
  serveChartPage,
  showsCharts,
  uiExtension,
  withChart,
  withPage,
} from "./chart-resource.ts";
import type { AnswerBody } from "./compact-text.ts";
import { describeParameters, describingTool } from "./describe-parameters.ts";
import type { Exporter } from "./exports/export-listings.ts";
import { tasksExtension } from "./exports/export-tasks.ts";
import { promptMessage, prompts } from "./prompts.ts";
import { queryTool } from "./query-tool.ts";
import { type CallUsage, explorerLink, resultOfAnswer, resultOfRefusal } from "./tool-results.ts";
import { annotations, inputSchemaOf, outputSchemaOf } from "./tool-schemas.ts";
import type { AnyTool, Tool } from "./tools.ts";

export interface AgentServerOptions {
  readonly tools: readonly AnyTool[];
  /** Whether calls are charged. */
  readonly isCharged: boolean;
  /** Counts a call that ends before its operation is called against the rate limit. Refuses with `rate_limit_exceeded`. */
  readonly countUncalled?: () => Promise<void>;
  /** The origin of the explorer, for links; undefined without one. */
  readonly explorerOrigin?: string | undefined;
  /** Calls an operation. Throws the Refusal of the API, or Abandoned if the call is cancelled. */
  readonly callOperation: (
    request: OperationRequest,
    signal: AbortSignal,
  ) => Promise<{ body: AnswerBody; usage?: CallUsage }>;
  /** Whether the tool `query` is listed. */
  readonly isQueryListed: boolean;
  /** Answers calls of the tool `query`. Throws the Refusal of the API. */
  readonly runQuery: (values: Readonly<Record<string, unknown>>, signal: AbortSignal) => Promise<CallToolResult>;
  /** Draws answers for clients that show them; absent if nothing does. */
  readonly charts?: AgentCharts | undefined;
  /** Answers the tool that exports; absent if it is not among the tools. */
  readonly exporter?: Exporter;
  /** Converts an exception to the refusal that the agent receives. */
  readonly refusalOf: (thrown: unknown) => Refusal;
}

const serverInfo = {
  name: "carquet",
  title: "Carquet",
  version: textIn(JSON.parse(projectText("package.json")), "version"),
};

/** Clients load this and the names of the tools first, and the schemas when they need them. */
const instructions =
  "Vehicle listings of dealers in the United States: search cars for sale, sold, or on sale on a past day; count them; compare prices by " +
  "percentiles; follow prices, supply and sales over time; look up a VIN, a listing or a dealer. Values such as makes, trims and features " +
  "must exist: find_values has their spellings, and an answer says which values match nothing. To count or compare, call count_facets, " +
  "market_statistics, group_listings or trends; read listings with search_listings only to show individual cars. describe_parameters lists the filters that " +
  "schemas leave out. Prices are in US dollars, distances in miles; relative periods end at meta.as_of, the day that the data describes. " +
  "An error says what was expected, a note in an answer what was left out and how to get it.";

/** Lists change with a release only, and are the same for every account that has no SQL. */
const listHint = { ttlMs: 3_600_000, cacheScope: "public" } as const;
const cacheHints = { "tools/list": listHint, "prompts/list": listHint, "server/discover": listHint };

/** Returns a server that is not connected yet. */
export function createAgentServer(options: AgentServerOptions): Server {
  const { tools, isCharged, refusalOf, isQueryListed, runQuery, exporter, charts } = options;
  const extensions = { ...(exporter && { [tasksExtension]: {} }), ...(charts && { [uiExtension]: {} }) };
  const capabilities = { tools: {}, prompts: {}, ...(charts && { resources: {} }), extensions };
  const server = new Server(serverInfo, { capabilities, instructions, cacheHints });
  exporter?.serveTasks(server);
  if (charts !== undefined) serveChartPage(server, charts);
  const price = isCharged ? ` Costs ${priceText(prices.sql_statement)} per started second of processor time.` : "";
  const query = { ...queryTool, description: `${queryTool.description}${price}` };
  const others = [...(isQueryListed ? [query] : []), describingTool];
  server.setRequestHandler("tools/list", (_, context) => {
    const isPaged = charts !== undefined && showsCharts(context);
    const listed = tools.map((tool) =>
      isPaged ? withPage(listingOf(tool, isCharged), tool) : listingOf(tool, isCharged),
    );
    // A list that differs from that of other clients may only be kept by this one.
    const hint = isPaged || isQueryListed ? { ...listHint, cacheScope: "private" as const } : {};
    return { tools: [...listed, ...others], ...hint };
  });
  server.setRequestHandler("prompts/list", () => ({ prompts: [...prompts] }));
  server.setRequestHandler("prompts/get", ({ params }) => promptMessage(params.name, params.arguments ?? {}));
  server.setRequestHandler("tools/call", async ({ params }, context) => {
    const { name, arguments: values = {} } = params;
    try {
      if (name === describingTool.name) return describeParameters(tools, values);
      if (name === queryTool.name) return await runQuery(values, context.mcpReq.signal);
      const tool = toolNamed(name, tools, others);
      if (tool.id !== "exportListings") return await callTool(tool, values, { ...options, context });
      if (exporter === undefined) throw new TypeError("No exporter: expected one for the tool that exports.");
      return await exporter.exportListings(tool, values, context);
    } catch (thrown) {
      if (thrown instanceof Abandoned || thrown instanceof ProtocolError) throw thrown;
      return resultOfRefusal(refusalOf(thrown));
    }
  });
  return server;
}

function toolNamed(name: string, tools: readonly AnyTool[], others: readonly ToolListing[]): AnyTool {
  const tool = tools.find((known) => known.name === name);
  if (tool !== undefined) return tool;
  const expected = [...tools, ...others].map((known) => known.name).join(", ");
  throw new ProtocolError(
    ProtocolErrorCode.InvalidParams,
    `Unknown tool ${JSON.stringify(name)}: expected one of ${expected}.`,
  );
}

async function callTool(
  tool: Tool,
  values: Readonly<Record<string, unknown>>,
  options: AgentServerOptions & { readonly context: ServerContext },
): Promise<CallToolResult | InputRequiredResult> {
  const { callOperation, countUncalled, explorerOrigin, isCharged, charts, context } = options;
  const { request, micros } = await countingRefusals(countUncalled, () => {
    const request = requestOfCall(tool, values);
    return { request, micros: isCharged ? microsOf(request) : 0 };
  });
  const unpaid = confirmPrice(tool.name, micros, context);
  if (unpaid !== undefined) {
    await countUncalled?.();
    return unpaid;
  }
  const { id } = request;
  const { body, usage } = await callOperation(request, context.mcpReq.signal);
  const link = explorerOrigin === undefined ? undefined : explorerLink(explorerOrigin, request);
  const result = resultOfAnswer(body, { id, isFull: values.detail === "full", usage, link });
  const isDrawn = hasPage(tool) && showsCharts(context);
  return isDrawn ? withChart(result, charts?.draw(body)) : result;
}

/** Returns the price of a call of an operation. Throws the Refusal of an invalid request. */
function microsOf({ id, querystring, params = {} }: OperationRequest): number {
  if (id === "getUsage") return 0;
  const query: object = decoderOf(id)(querystring, params).query;
  return prices[usageClassOf(id, query)];
}

/** Listings by tool: deriving the schemas takes longer than a call. */
const listings = new Map<string, ToolListing>();

/** Returns a tool as clients see it. */
function listingOf(tool: AnyTool, isCharged: boolean): ToolListing {
  const key = `${tool.name} ${isCharged}`;
  const known = listings.get(key);
  if (known !== undefined) return known;
  const { name, title, description } = tool;
  const listing = {
    name,
    title,
    description: isCharged ? `${description} ${priceOf(tool)}` : description,
    inputSchema: inputSchemaOf(tool),
    annotations,
    ...(tool.id === "exportListings" ? {} : { outputSchema: outputSchemaOf(tool) }),
  };
  listings.set(key, listing);
  return listing;
}

/** Returns a sentence about the price of a call. */
function priceOf(tool: AnyTool): string {
  const { id } = tool;
  if (id === "getUsage") return "Free.";
  const unit = id === "exportListings" ? " per started 1,000 rows" : "";
  const variants = [
    ["for sold and past inventory", "snapshot_date", { snapshot_date: "" }],
    ["with dealer_id", "dealer_id", { dealer_id: "" }],
    ["with include", "include", { include: "" }],
  ] as const;
  const usual = prices[usageClassOf(id, {})];
  const others = variants
    .filter(([, parameter]) => operation(id).parameters.some(({ name }) => name === parameter))
    .map(([when, , query]) => [prices[usageClassOf(id, query)], when] as const)
    .filter(([price]) => price !== usual)
    .map(([price, when]) => `, ${priceText(price)} ${when}`);
  const reports = new Set(Object.values(tool.reports).map((report) => prices[usageClassOf(report, {})]));
  const reported = [...reports].map((price) => `, ${priceText(price)} with report`);
  return `Costs ${priceText(usual)}${unit}${others.join("")}${reported.join("")}.`;
}
