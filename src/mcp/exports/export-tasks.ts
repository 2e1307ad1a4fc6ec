/**
 * Exports in progress as tasks (extension `io.modelcontextprotocol/tasks` of 2026-07-28): a client polls `tasks/get` for the result, and ends the
 * work by `tasks/cancel`.
 */
import {
  type CallToolResult,
  MissingRequiredClientCapabilityError,
  ProtocolError,
  ProtocolErrorCode,
  type Server,
  type ServerContext,
  type StandardSchemaV1,
} from "@modelcontextprotocol/server";
import { isObject } from "../../base/json.ts";
import type { StartedExport, StartedExports } from "../../http/exports/started-exports.ts";
import { extensionOf } from "../call-request.ts";
import { resultOfRefusal, usageKey } from "../tool-results.ts";

export const tasksExtension = "io.modelcontextprotocol/tasks";

export const downloadAdvice =
  "Download the link with the header `Authorization: Bearer <API key>`; within 24 hours, more downloads of the same data are free.";

/** Returns a result of a text, and a link to the file of an export. */
export const linkResult = (text: string, uri: string): CallToolResult => ({
  content: [
    { type: "text", text },
    { type: "resource_link", uri, name: "export", title: "Download the export" },
  ],
});

/** Returns the result of the task of an export; undefined unless it was written, or has failed. */
function resultOfExport({ requestId: request_id, uri, written, refusal }: StartedExport): CallToolResult | undefined {
  if (refusal !== undefined) return resultOfRefusal(refusal);
  if (written === undefined) return undefined;
  const { rows, bytes, micros: charged_micros, usageClass: usage_class } = written;
  const text = `Wrote ${rows} rows in ${bytes} bytes. ${downloadAdvice}`;
  return { ...linkResult(text, uri), _meta: { [usageKey]: { request_id, charged_micros, usage_class } } };
}

interface TaskLimits {
  /** How long a task may work. */
  readonly deadlineMs: number;
  /** How long its result is kept. */
  readonly ageMs: number;
}

/** How often clients should poll. */
const pollIntervalMs = 1_000;

const statuses = { writing: "working", written: "completed", failed: "completed", stopped: "cancelled" } as const;

/** Returns a task as clients see it. */
const taskOf = (found: StartedExport, { deadlineMs, ageMs }: TaskLimits) => ({
  taskId: found.id,
  status: statuses[found.state],
  createdAt: found.startedAt.toISOString(),
  lastUpdatedAt: found.changedAt.toISOString(),
  ttlMs: deadlineMs + ageMs,
  pollIntervalMs,
  result: resultOfExport(found),
});

/** Returns a started task as the result of the call. */
export const taskResult = (started: StartedExport, limits: TaskLimits): CallToolResult => ({
  resultType: "task",
  content: [],
  ...taskOf(started, limits),
});

interface TaskServices {
  readonly tasks: StartedExports;
  readonly exports: TaskLimits;
  readonly accountId: string;
}

/** Answers `tasks/get` and `tasks/cancel` of an account. */
export function serveTasks(server: Server, { tasks, exports, accountId }: TaskServices): void {
  const find = (taskId: string, context: ServerContext): StartedExport => {
    if (extensionOf(context, tasksExtension) === undefined)
      throw new MissingRequiredClientCapabilityError({
        requiredCapabilities: { extensions: { [tasksExtension]: {} } },
      });
    const found = tasks.find(accountId, taskId);
    if (found !== undefined) return found;
    throw new ProtocolError(
      ProtocolErrorCode.InvalidParams,
      `Unknown task ${JSON.stringify(taskId)}: expected one of the last 50 of this account.`,
    );
  };
  server.setRequestHandler("tasks/get", { params: taskParams }, ({ taskId }, context) =>
    taskOf(find(taskId, context), exports),
  );
  server.setRequestHandler("tasks/cancel", { params: taskParams }, ({ taskId }, context) => {
    tasks.stop(find(taskId, context));
    return {};
  });
}

/** The parameters of a request about a task. */
const taskParams: StandardSchemaV1<unknown, { readonly taskId: string }> = {
  "~standard": {
    version: 1,
    vendor: "carquet",
    validate: (value) =>
      isObject(value) && typeof value.taskId === "string"
        ? { value: { taskId: value.taskId } }
        : { issues: [{ message: "Invalid taskId: expected a string." }] },
  },
};
