/**
 * Exports in progress as tasks (extension `io.modelcontextprotocol/tasks` of 2026-07-28): a client polls `tasks/get` for the result, and ends the
 * work by `tasks/cancel`. Tasks are kept in memory, like the files that they write, and forgotten with them.
 */
import { randomUUID } from "node:crypto";
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
import { Abandoned } from "../../db/job.ts";
import { extensionOf } from "../call-request.ts";

export const tasksExtension = "io.modelcontextprotocol/tasks";

/** A task as clients see it. */
type TaskState = {
  readonly taskId: string;
  readonly status: "working" | "completed" | "cancelled";
  readonly createdAt: string;
  readonly lastUpdatedAt: string;
  readonly ttlMs: number;
  readonly pollIntervalMs: number;
  readonly result?: CallToolResult;
};

interface Task {
  readonly accountId: string;
  readonly work: AbortController;
  state: TaskState;
}

interface TaskLimits {
  /** How long a task may work. */
  readonly deadlineMs: number;
  /** How long its result is kept. */
  readonly ageMs: number;
}

/** How often clients should poll. */
const pollIntervalMs = 1_000;

export class ExportTasks {
  private readonly tasks = new Map<string, Task>();

  constructor(private readonly limits: TaskLimits) {}

  /** Starts work of an account, which rejects only when its signal aborts. Returns the task as the result of the call. */
  start(accountId: string, run: (signal: AbortSignal) => Promise<CallToolResult>): CallToolResult {
    const { deadlineMs, ageMs } = this.limits;
    const taskId = randomUUID();
    const createdAt = new Date().toISOString();
    const work = new AbortController();
    const ttlMs = deadlineMs + ageMs;
    const state = { taskId, status: "working", createdAt, lastUpdatedAt: createdAt, ttlMs, pollIntervalMs } as const;
    const task: Task = { accountId, work, state };
    this.tasks.set(taskId, task);
    const end = (outcome: Pick<TaskState, "status" | "result">): void => {
      task.state = { ...state, ...outcome, lastUpdatedAt: new Date().toISOString() };
      setTimeout(() => this.tasks.delete(taskId), ageMs).unref();
    };
    run(work.signal).then(
      (result) => end({ status: "completed", result }),
      () => end({ status: "cancelled" }),
    );
    return { resultType: "task", content: [], ...state };
  }

  /** Answers `tasks/get` and `tasks/cancel` of an account. */
  serve(server: Server, accountId: string): void {
    server.setRequestHandler("tasks/get", { params: taskParams }, ({ taskId }, context) => ({
      ...this.find(accountId, taskId, context).state,
    }));
    server.setRequestHandler("tasks/cancel", { params: taskParams }, ({ taskId }, context) => {
      this.find(accountId, taskId, context).work.abort(new Abandoned("The client has cancelled the task."));
      return {};
    });
  }

  private find(accountId: string, taskId: string, context: ServerContext): Task {
    if (extensionOf(context, tasksExtension) === undefined)
      throw new MissingRequiredClientCapabilityError({
        requiredCapabilities: { extensions: { [tasksExtension]: {} } },
      });
    const task = this.tasks.get(taskId);
    if (task?.accountId === accountId) return task;
    throw new ProtocolError(
      ProtocolErrorCode.InvalidParams,
      `Unknown task ${JSON.stringify(taskId)}: expected one of this account that has not expired.`,
    );
  }
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
