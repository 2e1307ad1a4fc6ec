/** The MCP server of one connection or request: lists tools, and calls their operations. */
import { ProtocolError, ProtocolErrorCode, Server, type Tool as ToolListing } from "@modelcontextprotocol/server";
import { prices, usageClassOf } from "../accounts/policy/prices.ts";
import { textIn } from "../base/json.ts";
import { projectText } from "../base/project-files.ts";
import { separatorOf } from "../contract/decode.ts";
import { operation } from "../contract/document.ts";
import type { Refusal } from "../contract/errors.ts";
import { Abandoned } from "../db/job.ts";
import { type OperationRequest, operationRequest } from "../operations/operation-request.ts";
import type { AnswerBody } from "./compact-text.ts";
import { type CallUsage, resultOfAnswer, resultOfRefusal } from "./tool-results.ts";
import { inputSchemaOf, outputSchemaOf } from "./tool-schemas.ts";
import type { Tool } from "./tools.ts";

export interface AgentServerOptions {
  readonly tools: readonly Tool[];
  /** Whether calls are charged. */
  readonly isCharged: boolean;
  /** Calls an operation. Throws the Refusal of the API, or Abandoned if the call is cancelled. */
  readonly callOperation: (
    request: OperationRequest,
    signal: AbortSignal,
  ) => Promise<{ body: AnswerBody; usage?: CallUsage }>;
  /** Converts an exception to the refusal that the agent receives. */
  readonly refusalOf: (thrown: unknown) => Refusal;
}

const serverInfo = {
  name: "carquet",
  title: "Carquet",
  version: textIn(JSON.parse(projectText("package.json")), "version"),
};

const instructions = `Vehicle listings of dealers in the United States: for sale now, on sale on a past day, and sold.
- Values such as makes, trims and features must exist: look them up with find_values. An answer's meta.unmatched names values that do not.
- Count and compare with count_facets, market_statistics and trends; read listings with search_listings only to show individual vehicles.
- Prices are in whole US dollars, distances in miles. Relative periods end at meta.as_of, the day that the data describes.
- An error says what was expected. A note in an answer says what was left out and how to get it.`;

/** Tools only read. */
const annotations = { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false };

/** Returns a server that is not connected yet. */
export function createAgentServer({ tools, isCharged, callOperation, refusalOf }: AgentServerOptions): Server {
  const server = new Server(serverInfo, { capabilities: { tools: {} }, instructions });
  server.setRequestHandler("tools/list", () => ({ tools: tools.map((tool) => listingOf(tool, isCharged)) }));
  server.setRequestHandler("tools/call", async ({ params }, { mcpReq }) => {
    const tool = tools.find(({ name }) => name === params.name);
    if (tool === undefined) {
      const expected = tools.map(({ name }) => name).join(", ");
      throw new ProtocolError(
        ProtocolErrorCode.InvalidParams,
        `Unknown tool ${JSON.stringify(params.name)}: expected one of ${expected}.`,
      );
    }
    try {
      const { body, usage } = await callOperation(requestOfCall(tool, params.arguments ?? {}), mcpReq.signal);
      return resultOfAnswer(tool.id, body, usage);
    } catch (thrown) {
      if (thrown instanceof Abandoned) throw thrown;
      return resultOfRefusal(refusalOf(thrown));
    }
  });
  return server;
}

/** Listings by tool: deriving the schemas takes longer than a call. */
const listings = new Map<string, ToolListing>();

/** Returns a tool as clients see it. */
function listingOf(tool: Tool, isCharged: boolean): ToolListing {
  const key = `${tool.name} ${isCharged}`;
  const known = listings.get(key);
  if (known !== undefined) return known;
  const { name, title, description } = tool;
  const listing = {
    ...{ name, title, description: isCharged ? `${description} ${priceOf(tool)}` : description },
    ...{ inputSchema: inputSchemaOf(tool), outputSchema: outputSchemaOf(tool), annotations: { title, ...annotations } },
  };
  listings.set(key, listing);
  return listing;
}

const usd = (micros: number): string => `$${(micros / 1_000_000).toFixed(3)}`;

/** Returns a sentence about the price of a call. */
function priceOf({ id, parameters }: Tool): string {
  if (id === "getUsage") return "Free.";
  const variants = [
    ["for sold and past inventory", "snapshot_date", { snapshot_date: "" }],
    ["with dealer_id", "dealer_id", { dealer_id: "" }],
    ["with include", "include", { include: "" }],
  ] as const;
  const usual = prices[usageClassOf(id, {})];
  const others = variants
    .filter(([, parameter]) => parameters.includes(parameter))
    .map(([when, , query]) => [prices[usageClassOf(id, query)], when] as const)
    .filter(([price]) => price !== usual)
    .map(([price, when]) => `, ${usd(price)} ${when}`);
  return `Costs ${usd(usual)}${others.join("")}.`;
}

/** Parameters of the transport, which tools do not have. */
const transportParameters = new Set(["format", "csv_raw"]);

/**
 * Returns the request of an operation that a call of its tool stands for; the operation decodes and refuses the arguments as it does those of a URL.
 * Arguments that are null or an empty list count as omitted.
 */
function requestOfCall({ id, defaults }: Tool, values: Readonly<Record<string, unknown>>): OperationRequest {
  const { parameters } = operation(id);
  const query: Record<string, string> = {};
  const params: Record<string, string> = {};
  const isOmitted = (value: unknown): boolean =>
    value === null || value === undefined || (Array.isArray(value) && value.length === 0);
  const given = Object.entries(values).filter(([name, value]) => !isOmitted(value) && !transportParameters.has(name));
  for (const [name, value] of Object.entries({ ...defaults, ...Object.fromEntries(given) })) {
    const parameter = parameters.find((known) => known.name === name);
    const separator = parameter === undefined ? "," : separatorOf(parameter);
    const text = Array.isArray(value) ? value.map(textOf).join(separator) : textOf(value);
    (parameter?.in === "path" ? params : query)[name] = text;
  }
  return operationRequest(id, query, params);
}

/** An object is no value of any parameter; its JSON text appears in the refusal. */
const textOf = (value: unknown): string => (typeof value === "string" ? value : JSON.stringify(value));
