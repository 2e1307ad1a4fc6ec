/**
 * Internal calls of operations, by pages and tool calls on behalf of an account. A call is limited, validated, answered, charged, logged and
 * measured like a request over HTTP, under a new request id.
 */
import type { Logger } from "pino";
import { v7 as uuidV7 } from "uuid";
import type { UsageClass } from "../accounts/policy/prices.ts";
import { turnLater } from "../base/turns.ts";
import { errors, Refusal } from "../contract/errors.ts";
import type { AnswerOf } from "../contract/types.ts";
import { Abandoned } from "../db/job.ts";
import { answerAccount } from "../operations/account-operations.ts";
import { answer, type OperationServices } from "../operations/answer.ts";
import {
  type CallableId,
  type Caller,
  clientOfSignal,
  type EndpointId,
  type OperationRequest,
} from "../operations/caller.ts";
import { bodyOf } from "../operations/result.ts";
import type { AccountServices } from "../operations/saved-searches.ts";
import { redactedQuery } from "./middleware/log-requests.ts";
import type { PageCharges } from "./page-charges.ts";
import type { Metrics } from "./service/metrics.ts";

export interface OperationAnswer<Id extends CallableId> {
  readonly body: AnswerOf<Id>;
  /** The request id, under which the charge is in the ledger. */
  readonly requestId: string;
  /** Undefined for an operation that is never charged. */
  readonly usageClass: UsageClass | undefined;
  /** The charge. */
  readonly micros: number;
}

/** The caller of an operation within the process: a page, a tool call or a delivery. */
export interface InternalCaller extends Omit<Caller, "requestId" | "client"> {
  readonly parentRequestId: string;
  /** Aborted with `Abandoned` when the client has disconnected. */
  readonly signal: AbortSignal;
  readonly log: Logger;
}

/** Calls an operation on behalf of an account. Throws the Refusal of the API, or Abandoned if the client has disconnected. */
export type CallOperation = <Id extends CallableId>(
  caller: InternalCaller,
  request: OperationRequest<Id>,
) => Promise<OperationAnswer<Id>>;

type CallServices = OperationServices & AccountServices & { readonly pageCharges: PageCharges };

export function operationCallerOf(services: CallServices, metrics: Metrics): CallOperation {
  return async ({ parentRequestId, log, signal, ...internalCaller }, request) => {
    const caller: Caller = { ...internalCaller, client: clientOfSignal(signal), requestId: uuidV7() };
    const { id: operation } = request;
    const { requestId, identity } = caller;
    const query = redactedQuery(request.querystring);
    const line = { requestId, parentRequestId, account: identity.key.accountId, operation, query };
    const end = metrics.startInternal(operation, caller.page === undefined ? "tool" : "page");
    try {
      const answered = await answerUnnamed(caller, request, services);
      end("200");
      log.info(line, "operation within the process");
      return { ...answered, requestId };
    } catch (thrown) {
      end(statusOf(thrown));
      const code = thrown instanceof Refusal ? thrown.code : undefined;
      log.info({ ...line, code }, "operation within the process failed");
      throw thrown;
    }
  };
}

const isMetered = (request: OperationRequest<CallableId>): request is OperationRequest<EndpointId> =>
  request.id !== "getUsage";

async function answerUnnamed<Id extends CallableId>(
  caller: Caller,
  request: OperationRequest<Id>,
  services: CallServices,
): Promise<Omit<OperationAnswer<Id>, "requestId">> {
  if (!isMetered(request)) {
    const body = (await answerAccount("getUsage", caller, request, services)) as AnswerOf<Id>;
    return { body, usageClass: undefined, micros: 0 };
  }
  const charge =
    caller.page && services.pageCharges.check(caller.identity.key.accountId, services.current.version, request);
  const isFree = charge?.isFree === true;
  const answered = await answer({ ...caller, isFree }, request, services);
  if (answered.content === undefined)
    throw new TypeError(`No answer of ${request.id}: expected one for a caller without preconditions.`);
  await turnLater(); // Deliveries of one request share its answer, and come here together.
  const body = bodyOf(answered.content);
  if (!isFree) charge?.addCharge(body.data);
  return { body: body as AnswerOf<Id>, ...answered.usage };
}

/** Returns the status that the API answers for an exception. */
function statusOf(thrown: unknown): string {
  if (thrown instanceof Abandoned) return "abandoned";
  return String(thrown instanceof Refusal ? errors[thrown.code][0] : 500);
}
