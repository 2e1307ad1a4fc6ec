/** Agents: the MCP SDK's client, connected over HTTP or to `carquet mcp`, and its results. */
import assert from "node:assert/strict";
import { Client as McpClient, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
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

/** Connects over HTTP. */
export async function connectAgent(
  scope: Scope,
  url: string,
  headers: Record<string, string>,
  era: Era = "auto",
): Promise<Agent> {
  return connect(scope, new StreamableHTTPClientTransport(new URL("/mcp", url), { requestInit: { headers } }), era);
}

/** Starts `carquet mcp` on a lake and connects to it. */
export async function spawnAgent(scope: Scope, lake: string, era: Era = "auto"): Promise<Agent> {
  const args = [programPath, "mcp", "--lake", lake];
  return connect(
    scope,
    new StdioClientTransport({ command: process.execPath, args, cwd: projectPath("."), stderr: "ignore" }),
    era,
  );
}

async function connect(
  scope: Scope,
  transport: StdioClientTransport | StreamableHTTPClientTransport,
  mode: Era,
): Promise<Agent> {
  const client = new McpClient({ name: "test", version: "1" }, { versionNegotiation: { mode } });
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
