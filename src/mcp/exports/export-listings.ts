/**
 * The tool that exports. A client that supports tasks gets a task, which writes the file and charges for it; any other the link, whose download
 * does so. The link takes an API key, as every request for an export.
 */
import type { CallToolResult, InputRequiredResult, Server, ServerContext } from "@modelcontextprotocol/server";
import { v7 as uuidV7 } from "uuid";
import { operation } from "../../contract/document.ts";
import type { Refusal } from "../../contract/errors.ts";
import { Abandoned } from "../../db/job.ts";
import { type ExportOrder, priceExport, spoolExport } from "../../http/exports/charged-export.ts";
import type { InternalCaller } from "../../http/internal-calls.ts";
import type { SiteServices } from "../../http/service/service-state.ts";
import { queryString } from "../../operations/caller.ts";
import { confirmPrice, countingRefusals, extensionOf, parametersOfCall, priceText } from "../call-request.ts";
import { resultOfRefusal, usageKey } from "../tool-results.ts";
import type { Tool } from "../tools.ts";
import { type ExportTasks, tasksExtension } from "./export-tasks.ts";

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
  { accounts, exports, exportAdmission, tasks, authorization }: SiteServices & { readonly tasks: ExportTasks },
  { log, ...caller }: ExportCaller,
  refusalOf: (thrown: unknown) => Refusal,
): Exporter {
  const { accountId } = caller.identity.key;
  const { origin } = new URL(authorization.resourceMetadataUrl);
  const write = async (order: ExportOrder, uri: string): Promise<CallToolResult> => {
    try {
      const { rows, bytes, micros, usageClass } = await spoolExport(exports, exportAdmission, order);
      const text = `Wrote ${rows} rows in ${bytes} bytes. ${downloadAdvice}`;
      const usage = { request_id: order.caller.requestId, charged_micros: micros, usage_class: usageClass };
      return { ...linkResult(text, uri), _meta: { [usageKey]: usage } };
    } catch (thrown) {
      if (thrown instanceof Abandoned) throw thrown;
      return resultOfRefusal(refusalOf(thrown));
    }
  };
  return {
    async exportListings(tool, { format = tool.defaults.format, ...values }, context) {
      const countUncalled = (): void => accounts.countRequest(caller.identity);
      const { query } = countingRefusals(countUncalled, () => parametersOfCall(tool, values));
      const search = queryString({ ...query, format: String(format) });
      const orderOf = (signal: AbortSignal): ExportOrder => ({
        queryString: search,
        log,
        caller: { ...caller, requestId: uuidV7(), signal },
      });
      const uri = `${origin}${operation(tool.id).path}?${search}`;
      const { rows, micros } = await priceExport(exports, exportAdmission, orderOf(caller.signal));
      if (extensionOf(context, tasksExtension) === undefined)
        return linkResult(`${rows} rows; the download costs ${priceText(micros)}. ${downloadAdvice}`, uri);
      const unpaid = confirmPrice(tool.name, micros, context);
      return unpaid ?? tasks.start(accountId, (signal) => write(orderOf(signal), uri));
    },
    serveTasks: (server) => tasks.serve(server, accountId),
  };
}

const downloadAdvice =
  "Download the link with the header `Authorization: Bearer <API key>`; within 24 hours, more downloads of the same data are free.";

const linkResult = (text: string, uri: string): CallToolResult => ({
  content: [
    { type: "text", text },
    { type: "resource_link", uri, name: "export", title: "Download the export" },
  ],
});
