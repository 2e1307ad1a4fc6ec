/**
 * The tool that exports. A client that supports tasks gets a task, which writes the file and charges for it; any other the link, whose download
 * does so. The link takes an API key, as every request for an export.
 */
import type { CallToolResult, InputRequiredResult, Server, ServerContext } from "@modelcontextprotocol/server";
import { v7 as uuidV7 } from "uuid";
import { operation } from "../../contract/document.ts";
import { priceExport } from "../../http/exports/charged-export.ts";
import type { StartedExports } from "../../http/exports/started-exports.ts";
import type { InternalCaller } from "../../http/internal-calls.ts";
import type { SiteServices } from "../../http/service/service-state.ts";
import { clientOfSignal, queryString } from "../../operations/caller.ts";
import { confirmPrice, countingRefusals, extensionOf, parametersOfCall, priceText } from "../call-request.ts";
import type { Tool } from "../tools.ts";
import { downloadAdvice, linkResult, serveTasks, taskResult, tasksExtension } from "./export-tasks.ts";

type ExportCaller = Pick<InternalCaller, "identity" | "arrivedAtMs" | "signal" | "log">;

export interface Exporter {
  /** Answers a call of the tool. Throws the Refusal of the API. */
  exportListings(
    tool: Tool<"exportListings">,
    values: Readonly<Record<string, unknown>>,
    context: ServerContext,
  ): Promise<CallToolResult | InputRequiredResult>;
  /** Answers requests about the caller's tasks. */
  serveTasks(server: Server): void;
}

/** Returns the exporter of a request. */
export function exporterOf(
  { accounts, exports, exportAdmission, tasks, authorization }: SiteServices & { readonly tasks: StartedExports },
  { log, signal, ...identified }: ExportCaller,
): Exporter {
  const { origin } = new URL(authorization.resourceMetadataUrl);
  return {
    async exportListings(tool, { format, ...values }, context) {
      const countUncalled = (): Promise<void> => accounts.countRequest(identified.identity);
      const { query } = await countingRefusals(countUncalled, () => parametersOfCall(tool, values));
      const search = queryString({ ...query, format: String(format ?? tool.defaults.format) });
      const caller = { ...identified, requestId: uuidV7() };
      const order = { queryString: search, log, caller };
      const uri = `${origin}${operation(tool.id).path}?${search}`;
      const price = await priceExport(exports, exportAdmission, {
        ...order,
        caller: { ...caller, client: clientOfSignal(signal) },
      });
      const { rows, micros } = price;
      if (extensionOf(context, tasksExtension) === undefined)
        return linkResult(`${rows} rows; the download costs ${priceText(micros)}. ${downloadAdvice}`, uri);
      const unpaid = confirmPrice(tool.name, micros, context);
      return unpaid ?? taskResult(tasks.start(order, uri), exports);
    },
    serveTasks: (server) => serveTasks(server, { tasks, exports, accountId: identified.identity.key.accountId }),
  };
}
