/** `carquet mcp`: the tools of the agent server over standard input and output, on a local lake without accounts. */
import { serveStdio } from "@modelcontextprotocol/server/stdio";
import { Command } from "commander";
import pino from "pino";
import { exitOnSignals } from "../../base/exits.ts";
import { messageOf } from "../../base/user-error.ts";
import type { Refusal } from "../../contract/errors.ts";
import type { DatabaseOptions } from "../../db/duckdb.ts";
import { refusalOf } from "../../http/middleware/handle-errors.ts";
import { requireManifest } from "../../lake/published-lake.ts";
import { createAgentServer } from "../../mcp/agent-server.ts";
import { callLakeOperation, runQueryTool } from "../../mcp/local/lake-operations.ts";
import { lakeTools } from "../../mcp/tools.ts";
import { CurrentVersion } from "../../serving/current-version.ts";
import { logLevel, openLog } from "../log.ts";
import { addSettings, sharedSettings, type ValuesOf } from "../settings.ts";

const mcpSettings = sharedSettings("lake", "threads", "memoryLimit");

export const mcpCommand = (): Command =>
  addSettings(new Command("mcp"), mcpSettings)
    .description(
      "Serve the tools of the agent server over standard input and output (Model Context Protocol), for an agent on this machine. " +
        "Reads the published version of the lake and switches to each later one. Needs no account and charges nothing. Logs JSON lines " +
        "to standard error. Ends when standard input ends.",
    )
    .action(async ({ lake, ...options }: ValuesOf<typeof mcpSettings>) => {
      exitOnSignals();
      await requireManifest(lake);
      const logger = pino({ level: logLevel() }, openLog(() => undefined).destination);
      const current = await openLake(lake, options, logger);
      serveLake(lake, current, logger);
      process.stdin.once("close", () => process.exit());
    });

const openLake = (lake: string, options: DatabaseOptions, logger: pino.Logger): Promise<CurrentVersion> =>
  CurrentVersion.watch(lake, {
    ...options,
    onOpen: (version) => logger.info({ version }, "version in service"),
    onRebuild: (message) => logger.warn({ error: message }, "serving file not in use"),
    onDamage: (fault) => logger.error({ error: fault }, "damaged file"),
    onFailure: (version, message) => logger.error({ version, error: message }, "version cannot be opened"),
  });

function serveLake(lake: string, current: CurrentVersion, logger: pino.Logger): void {
  const toRefusal = (thrown: unknown): Refusal => {
    const refusal = refusalOf(thrown, "in the log");
    if (refusal.code === "internal_error") logger.error({ err: thrown }, "internal error");
    return refusal;
  };
  serveStdio(
    () =>
      createAgentServer({
        tools: lakeTools,
        isCharged: false,
        refusalOf: toRefusal,
        callOperation: async (request, signal) => ({ body: await callLakeOperation(current, request, signal) }),
        isQueryListed: true,
        runQuery: (values, signal) => runQueryTool({ lake, current }, values, signal),
      }),
    { onerror: (error) => logger.warn({ error: messageOf(error) }, "connection error") },
  );
}
