/**
 * Charts of answers as an MCP App (extension `io.modelcontextprotocol/ui`): one page, which shows the chart that the service has drawn into the `_meta`
 * of a result. The page loads nothing and sends nothing but messages to its host.
 */
import {
  type CallToolResult,
  ResourceNotFoundError,
  type Server,
  type ServerContext,
  type Tool as ToolListing,
} from "@modelcontextprotocol/server";
import { extensionOf } from "./call-request.ts";
import type { AnswerBody } from "./compact-text.ts";
import type { AnyTool } from "./tools.ts";

/** Draws answers. */
export interface AgentCharts {
  /** The page, an HTML document. */
  readonly page: string;
  /** Returns the chart of an answer as HTML; undefined if it has none. */
  draw(body: AnswerBody): string | undefined;
}

export const uiExtension = "io.modelcontextprotocol/ui";
const mimeType = "text/html;profile=mcp-app";
const uri = "ui://carquet/chart";

/** The operations whose answers have charts. */
const charted: ReadonlySet<string> = new Set(["getFacets", "getTrends"]);

/** Returns whether the client shows pages. */
export function showsCharts(context: ServerContext): boolean {
  const mimeTypes = extensionOf(context, uiExtension)?.mimeTypes;
  return Array.isArray(mimeTypes) && mimeTypes.includes(mimeType);
}

/** Returns whether the page shows the results of a tool. */
export const hasPage = ({ id }: AnyTool): boolean => charted.has(id);

/** Returns a tool with the page that shows its results. */
export const withPage = (listing: ToolListing, tool: AnyTool): ToolListing =>
  hasPage(tool) ? { ...listing, _meta: { ui: { resourceUri: uri } } } : listing;

/** Returns the result of a call with the chart of its answer, for the page only. */
export function withChart(result: CallToolResult, chart: string | undefined): CallToolResult {
  return chart === undefined ? result : { ...result, _meta: { ...result._meta, "carquet/chart": chart } };
}

/** Lists the page, and answers with it. */
export function serveChartPage(server: Server, { page }: AgentCharts): void {
  const resource = { uri, name: "chart", title: "Chart of an answer", mimeType };
  server.setRequestHandler("resources/list", () => ({ resources: [resource] }));
  server.setRequestHandler("resources/read", ({ params }) => {
    if (params.uri !== uri) throw new ResourceNotFoundError(params.uri);
    return { contents: [{ uri, mimeType, text: page, _meta: { ui: { csp: {}, prefersBorder: true } } }] };
  });
}
