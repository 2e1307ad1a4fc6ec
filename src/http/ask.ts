/**
 * Requests that the web application makes within the process: a page asks an operation as a signed-in account. The request goes through
 * the pipeline of an API request after authentication: it is limited, validated, held, answered and charged like one, under a request id
 * of its own. It ends when the page's client disconnects.
 */
import { v7 as uuidV7 } from "uuid";
import type { Identity } from "../accounts/accounts.ts";
import type { MeteredId, UsageClass } from "../accounts/policy/prices.ts";
import { Refusal } from "../contract/errors.ts";
import type { AnswerOf } from "../contract/types.ts";
import type { OperationContext, RequestContext, RequestState } from "./context.ts";
import type { MeteredPipelines } from "./pipeline.ts";

/** An operation with its parameters, as a client of the API sends them. */
export interface OperationRequest<Id extends MeteredId> {
  readonly id: Id;
  /** The path of the operation with its parameters. */
  readonly path: string;
  readonly params?: Readonly<Record<string, string>>;
  /** Without the question mark. */
  readonly querystring: string;
}

export interface OperationAnswer<Id extends MeteredId> {
  readonly body: AnswerOf<Id>;
  /** The request id, under which the charge is in the ledger. */
  readonly requestId: string;
  readonly usageClass: UsageClass;
  /** What was charged. */
  readonly micros: number;
}

/** Asks an operation for a page, as an account. Throws a Refusal, as the API refuses. */
export type AskOperation = <Id extends MeteredId>(
  page: RequestContext,
  identity: Identity,
  request: OperationRequest<Id>,
) => Promise<OperationAnswer<Id>>;

/** Returns the function that asks the operations of some pipelines. */
export const operationsThrough =
  (pipelines: MeteredPipelines): AskOperation =>
  async (page, identity, request) => {
    const context = new AskedContext(page, identity, request);
    const { requestId, log } = context.state;
    const { id: operation, querystring: query } = request;
    const line = { requestId, pageRequestId: page.state.requestId, account: identity.key.accountId, operation, query };
    try {
      await pipelines[request.id](context, async () => {});
    } catch (thrown) {
      log.info({ ...line, code: thrown instanceof Refusal ? thrown.code : undefined }, "operation of a page failed");
      throw thrown;
    }
    log.info(line, "operation of a page");
    return context.answer();
  };

/** The most operations of a page in progress at once, as far as Node.js can warn. */
const operationsMost = 64;

/** The context of one operation: what it would set on an HTTP response is read by `answer`. */
class AskedContext<Id extends MeteredId> implements OperationContext {
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

  constructor(page: RequestContext, identity: Identity, { path, querystring, params = {} }: OperationRequest<Id>) {
    const { arrivedAtMs, log } = page.state;
    this.state = { requestId: uuidV7(), arrivedAtMs, log, identity };
    this.path = path;
    this.querystring = querystring;
    this.params = params;
    this.req = page.req.setMaxListeners(operationsMost);
    this.socket = page.socket;
    const setHeader = (name: string, value: string | number): OperationContext["res"] => {
      this.sent.set(name, value);
      return this.res;
    };
    this.res = {
      setHeader,
      headersSent: false,
      get closed() {
        return page.res.closed;
      },
    };
  }

  /** Requests of pages have no headers. */
  get(): string {
    return "";
  }

  set(header: string, value: string): void {
    this.sent.set(header, value);
  }

  vary(): void {}

  answer(): OperationAnswer<Id> {
    return {
      body: JSON.parse(String(this.body)),
      requestId: this.state.requestId,
      usageClass: this.sent.get("X-Usage-Class") as UsageClass,
      micros: Number(this.sent.get("X-Usage-Cost-Micros")),
    };
  }
}
