/**
 * Requests to the API within the process, which a page sends on behalf of its visitor: they pass the pipeline of every operation, with its limits,
 * checks and charges, and in all formats. The page reads the answer.
 */
import { IncomingMessage, type OutgoingHttpHeaders, type ServerResponse } from "node:http";
import type Koa from "koa";
import compose from "koa-compose";
import { v7 as uuidV7 } from "uuid";
import type { Identity } from "../accounts/accounts.ts";
import type { OperationId } from "../contract/types.ts";
import { Abandoned } from "../db/job.ts";
import type { Middleware, RequestContext, RequestState, Routes } from "./context.ts";
import { handleErrors } from "./middleware/handle-errors.ts";
import { endUnrouted } from "./middleware/refuse-requests.ts";
import type { Metrics } from "./service/metrics.ts";

export interface InnerRequest {
  readonly operation: OperationId;
  /** In capitals. */
  readonly method: string;
  /** The path with its query string. */
  readonly target: string;
  /** By names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  /** Undefined for a request without one. */
  readonly body?: string | undefined;
}

/** An answer as a program gets it, a refusal too. Its body is an object of JSON, a text, bytes, or a stream of bytes, which is closed once the page has read it. */
export interface InnerAnswer {
  /** The id of the request, under which its charge is in the ledger. */
  readonly requestId: string;
  readonly status: number;
  readonly header: (name: string) => string;
  readonly body: unknown;
}

/** Sends a request as an identity, during the request `outer` of a page. Throws Abandoned if the client of the page has disconnected. */
export type SendRequest = <T>(
  outer: RequestContext,
  identity: Identity,
  request: InnerRequest,
  read: (answer: InnerAnswer) => Promise<T>,
) => Promise<T>;

export function requestSender(app: Koa<RequestState>, api: Routes, metrics: Metrics): SendRequest {
  const handle = compose<RequestContext>([handleErrors, api as Middleware, endUnrouted]);
  const send: SendRequest = async (outer, identity, request, read) => {
    const { requestId: parentRequestId, log } = outer.state;
    const inner: RequestContext = app.createContext(messageOf(request, outer.req), outer.res);
    const requestId = uuidV7();
    Object.assign(inner.state, { requestId, arrivedAtMs: performance.now(), log, identity });
    // Both requests have one response, which ends what the inner one holds. Its headers stay those of the page.
    const headers = outer.res.getHeaders();
    const end = metrics.startInternal(request.operation, "page");
    try {
      await handle(inner, async () => undefined);
      if (inner.respond === false) throw new Abandoned("The client has disconnected.");
      const { status, body } = inner;
      return await read({ requestId, status, header: (name) => String(inner.res.getHeader(name) ?? ""), body });
    } finally {
      end(inner.respond === false ? "abandoned" : String(inner.status));
      restoreHeaders(outer, headers);
      const line = { requestId, parentRequestId, account: identity.key.accountId, operation: request.operation };
      log.info({ ...line, code: inner.state.errorCode }, "request within the process");
    }
  };
  /** The last request of each response. Those of one response follow each other, because they share its headers. */
  const lasts = new WeakMap<ServerResponse, Promise<unknown>>();
  return (outer, identity, request, read) => {
    const begin = () => send(outer, identity, request, read);
    const sent = (lasts.get(outer.res) ?? Promise.resolve()).then(begin, begin);
    lasts.set(outer.res, sent);
    return sent;
  };
}

/** Returns a message as it would arrive from the client of another one. */
function messageOf({ method, target, headers, body }: InnerRequest, { socket, headers: outer }: IncomingMessage) {
  const message = new IncomingMessage(socket);
  message.method = method;
  message.url = target;
  message.headers = { host: outer.host, ...headers };
  message.push(body ?? null);
  if (body !== undefined) message.push(null);
  message.complete = true;
  return message;
}

function restoreHeaders({ res }: RequestContext, headers: OutgoingHttpHeaders): void {
  if (res.headersSent) return;
  for (const name of res.getHeaderNames()) res.removeHeader(name);
  for (const [name, value] of Object.entries(headers)) if (value !== undefined) res.setHeader(name, value);
}
