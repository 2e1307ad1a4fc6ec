/**
 * Requests that are made within the process: a page or a tool call asks an operation as an account. The request goes through the
 * pipeline of an API request after authentication: it is limited, validated, held, answered and charged like one, under a request id
 * of its own. It ends when the client of the page or the call disconnects.
 */
import { v7 as uuidV7 } from "uuid";
import type { Identity } from "../accounts/accounts.ts";
import type { UsageClass } from "../accounts/policy/prices.ts";
import { errors, Refusal } from "../contract/errors.ts";
import type { AnswerOf } from "../contract/types.ts";
import { Abandoned } from "../db/job.ts";
import type { CountedPage, OperationContext, RequestState } from "./context.ts";
import type { Metrics } from "./metrics.ts";
import type { OperationRequest } from "./operation-request.ts";
import type { AskedId, OperationPipelines } from "./pipeline.ts";

export interface OperationAnswer<Id extends AskedId> {
  readonly body: AnswerOf<Id>;
  /** The request id, under which the charge is in the ledger. */
  readonly requestId: string;
  /** Undefined for an operation that is never charged. */
  readonly usageClass: UsageClass | undefined;
  /** What was charged. */
  readonly micros: number;
}

/** Whom an operation is asked for: a page's context, or a tool call. */
export interface AskingContext extends Pick<OperationContext, "req" | "socket"> {
  readonly state: Pick<RequestState, "requestId" | "arrivedAtMs" | "log">;
  readonly res: Pick<OperationContext["res"], "closed">;
  /** The page that asks. Without it, each operation counts against the rate limit. */
  readonly page?: CountedPage;
}

/** Asks an operation as an account. Throws a Refusal, as the API refuses, and Abandoned if the client has disconnected. */
export type AskOperation = <Id extends AskedId>(
  asking: AskingContext,
  identity: Identity,
  request: OperationRequest<Id>,
) => Promise<OperationAnswer<Id>>;

/** Returns the function that asks the operations of some pipelines, and measures them. */
export const operationsThrough =
  (pipelines: OperationPipelines, metrics: Metrics): AskOperation =>
  async (asking, identity, request) => {
    const context = new AskedContext(asking, identity, request);
    const { requestId, log } = context.state;
    const { id: operation, querystring: query } = request;
    const line = { requestId, askedBy: asking.state.requestId, account: identity.key.accountId, operation, query };
    const end = metrics.startAsked(operation, asking.page === undefined ? "tool" : "page");
    try {
      await pipelines[request.id](context, async () => {});
      end(String(context.status));
    } catch (thrown) {
      end(statusOf(thrown));
      log.info(
        { ...line, code: thrown instanceof Refusal ? thrown.code : undefined },
        "operation within the process failed",
      );
      throw thrown;
    }
    log.info(line, "operation within the process");
    return context.answer();
  };

/** Returns the status that the API answers for an exception. */
function statusOf(thrown: unknown): string {
  if (thrown instanceof Abandoned) return "abandoned";
  return String(thrown instanceof Refusal ? errors[thrown.code][0] : 500);
}

/** The context of one operation: what it would set on an HTTP response is read by `answer`. */
class AskedContext<Id extends AskedId> implements OperationContext {
  readonly state: RequestState;
  readonly path: string;
  readonly querystring: string;
  readonly params: Readonly<Record<string, string>>;
  readonly headers = {};
  readonly req: OperationContext["req"];
  readonly res: OperationContext["res"];
  readonly socket: OperationContext["socket"];
  status = 200;
  body: unknown;
  private readonly sent = new Map<string, string | number>();

  constructor(asking: AskingContext, identity: Identity, { path, querystring, params = {} }: OperationRequest<Id>) {
    const { arrivedAtMs, log } = asking.state;
    this.state = { requestId: uuidV7(), arrivedAtMs, log, identity, ...(asking.page && { page: asking.page }) };
    this.path = path;
    this.querystring = querystring;
    this.params = params;
    this.req = asking.req;
    this.socket = asking.socket;
    const setHeader = (name: string, value: string | number): OperationContext["res"] => {
      this.sent.set(name, value);
      return this.res;
    };
    this.res = {
      setHeader,
      headersSent: false,
      get closed() {
        return asking.res.closed;
      },
    };
  }

  /** Requests within the process have no headers. */
  get(): string {
    return "";
  }

  set(header: string, value: string): void {
    this.sent.set(header, value);
  }

  vary(): void {}

  answer(): OperationAnswer<Id> {
    const body = Buffer.isBuffer(this.body) ? JSON.parse(this.body.toString()) : this.body;
    return {
      body,
      requestId: this.state.requestId,
      usageClass: this.sent.get("X-Usage-Class") as UsageClass | undefined,
      micros: Number(this.sent.get("X-Usage-Cost-Micros") ?? 0),
    };
  }
}
