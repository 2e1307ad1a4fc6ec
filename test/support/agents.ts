/** Agents: the MCP SDK's client, connected over HTTP or to `carquet mcp`, and its results. */
import assert from "node:assert/strict";
import { type ClientOptions, Client as McpClient, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { isObject } from "../../src/base/json.ts";
import { programPath, projectPath } from "../../src/base/project-files.ts";
import { onScopeEnd, type Scope } from "./scope.ts";

/** The result of a tool call. */
export interface ToolAnswer {
  readonly text: string;
  readonly isError: boolean;
  /** The structured content. */
  readonly body: Record<string, unknown>;
  /** The `carquet/usage` of `_meta`. */
  readonly usage: Record<string, unknown> | undefined;
  /** The size of the whole result. */
  readonly characters: number;
}

export interface Agent {
  readonly client: McpClient;
  call(name: string, args?: Record<string, unknown>, signal?: AbortSignal): Promise<ToolAnswer>;
}

/** The protocols of 2025, and that of 2026 where the server offers it. */
export type Era = "legacy" | "auto";

/** How a client behaves; one without capabilities of the protocol of 2026 by default. */
export interface AgentOptions {
  readonly era?: Era;
  readonly capabilities?: ClientOptions["capabilities"];
  /** Answers the questions of the server to the user. */
  readonly answer?: (message: string) => "accept" | "decline" | "cancel";
}

/** Connects over HTTP. */
export async function connectAgent(
  scope: Scope,
  url: string,
  headers: Record<string, string>,
  options: AgentOptions = {},
): Promise<Agent> {
  return connect(scope, new StreamableHTTPClientTransport(new URL("/mcp", url), { requestInit: { headers } }), options);
}

/** Starts `carquet mcp` on a lake and connects to it. */
export async function spawnAgent(scope: Scope, lake: string, options: AgentOptions = {}): Promise<Agent> {
  const args = [programPath, "mcp", "--lake", lake];
  return connect(
    scope,
    new StdioClientTransport({ command: process.execPath, args, cwd: projectPath("."), stderr: "ignore" }),
    options,
  );
}

async function connect(
  scope: Scope,
  transport: StdioClientTransport | StreamableHTTPClientTransport,
  { era: mode = "auto", capabilities = {}, answer }: AgentOptions,
): Promise<Agent> {
  const client = new McpClient({ name: "test", version: "1" }, { versionNegotiation: { mode }, capabilities });
  if (answer !== undefined)
    client.setRequestHandler("elicitation/create", ({ params }) => ({ action: answer(params.message) }));
  await client.connect(transport);
  onScopeEnd(scope, () => client.close());
  return {
    client,
    async call(name, args = {}, signal) {
      const result = await client.callTool({ name, arguments: args }, signal === undefined ? {} : { signal });
      const [content] = result.content;
      assert.ok(content?.type === "text");
      const { structuredContent: body = {}, isError = false, _meta: meta } = result;
      const usage = meta?.["carquet/usage"];
      assert.ok(isObject(body));
      const characters = JSON.stringify({ content: result.content, structuredContent: body, _meta: usage }).length;
      return { text: content.text, isError, body, usage: isObject(usage) ? usage : undefined, characters };
    },
  };
}
