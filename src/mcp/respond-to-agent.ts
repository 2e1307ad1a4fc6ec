/**
 * Answers a request to `/mcp`. Each request has its own MCP server, which lives as long as the request: clients of the 2025 protocols keep no
 * session here, those of 2026 need none.
 */
import { isIP } from "node:net";
import { createMcpHandler, hostHeaderValidationResponse, originValidationResponse } from "@modelcontextprotocol/server";
import type { Identity } from "../accounts/accounts.ts";
import { isObject, parsedJson, repeatedName } from "../base/json.ts";
import { inTurnOf } from "../base/turns.ts";
import { messageOf } from "../base/user-error.ts";
import { decodedBody } from "../contract/decode.ts";
import { operation } from "../contract/document.ts";
import type { Refusal } from "../contract/errors.ts";
import type { OperationId } from "../contract/types.ts";
import { Abandoned } from "../db/job.ts";
import { type RequestContext, readBytes } from "../http/context.ts";
import { spoolExport } from "../http/exports/charged-export.ts";
import { StartedExports } from "../http/exports/started-exports.ts";
import { refusalOf } from "../http/middleware/handle-errors.ts";
import type { SiteServices } from "../http/service/service-state.ts";
import { acceptedTypes } from "../operations/representation.ts";
import { type AgentServerOptions, createAgentServer } from "./agent-server.ts";
import { countingRefusals } from "./call-request.ts";
import type { AgentCharts } from "./chart-resource.ts";
import type { AnswerBody } from "./compact-text.ts";
import { exporterOf } from "./exports/export-listings.ts";
import { requireTokenScopes } from "./identify-agent.ts";
import { queryTool, sendQuery, statementsOf } from "./query-tool.ts";
import { tools } from "./tools.ts";

/** The media types of responses. */
const jsonType = "application/json";
const eventsType = "text/event-stream";

/** The size of a request. */
export const agentRequestBytesMax = 65_536;

/**
 * The tool calls in progress, for the notification by which clients of 2025 cancel one. It arrives as a separate request, so that calls are known by
 * the session id that their client was given; later clients close the connection of a call instead. Nothing else of a session is kept.
 */
export type CallsInProgress = Map<string, AbortController>;

export interface AgentServices extends SiteServices {
  readonly calls: CallsInProgress;
  readonly tasks: StartedExports;
  readonly charts: AgentCharts | undefined;
}

export const agentServicesOf = (services: SiteServices, charts?: AgentCharts): AgentServices => ({
  ...services,
  charts,
  calls: new Map(),
  tasks: new StartedExports((order) => spoolExport(services.exports, services.exportAdmission, order)),
});

/** Sets the response to a request of an identified agent. Refuses with `rate_limit_exceeded`, and with `missing_scope` if a token lacks a scope. */
export async function respondToAgent(
  context: RequestContext,
  identity: Identity,
  services: AgentServices,
): Promise<void> {
  const text = decodedBody(await readBytes(context, agentRequestBytesMax));
  if (text === undefined)
    return sendError(context, 413, `Request too large: expected at most ${agentRequestBytesMax} bytes.`);
  const call = new AbortController();
  context.res.once("close", () => call.abort(new Abandoned("The client has disconnected.")));
  await inTurnOf(identity.key.accountId, () => respondInTurn(context, identity, { services, text, call }));
}

/** Responds to a request in its turn: each takes the event loop some milliseconds, also one that is refused. */
async function respondInTurn(
  context: RequestContext,
  identity: Identity,
  { services, text, call }: { readonly services: AgentServices; readonly text: string; readonly call: AbortController },
): Promise<void> {
  call.signal.throwIfAborted();
  const body = parsedJson(text);
  const accepted = acceptedTypes(context.get("Accept"), [jsonType, eventsType]);
  if (accepted.length === 0)
    return sendError(context, 406, `No acceptable type in Accept: expected ${jsonType} or ${eventsType}.`);
  const fault = faultOf(body) ?? (body !== undefined && repeatedName(text) !== undefined ? nameTwice : undefined);
  if (fault !== undefined) return sendError(context, 400, fault);
  const messages = [body].flat().filter(isObject);
  requireTokenScopes(context, identity, messages.flatMap(scopesOf), services);
  // A request without a message counts as one.
  for (const message of messages.length === 0 ? [{}] : messages)
    if (isCounted(message, identity)) await services.accounts.countRequest(identity);
  const request = webRequestOf(context, text, call.signal);
  const endCalls = messages.map((message) => trackCall(context, message, { call, identity, calls: services.calls }));
  try {
    const response =
      foreignHostResponse(request, services) ?? (await handle(context, identity, { services, request, body }));
    await send(context, response, accepted);
  } finally {
    for (const end of endCalls) end();
  }
}

/** The most messages of a batch: the largest answer has 40 KB. */
const batchMax = 8;
/** How deep arrays and objects of a request are nested at most; tools take lists of texts. */
const depthMax = 32;

const nameTwice = "A name twice in an object: expected each name once.";

/** Returns what is wrong with the size or depth of a request. */
function faultOf(body: unknown): string | undefined {
  if (Array.isArray(body) && body.length > batchMax)
    return `Too many messages: expected a batch of at most ${batchMax}, not ${body.length}.`;
  let level: readonly unknown[] = [body];
  for (let depth = 0; level.length > 0; depth += 1) {
    if (depth > depthMax) return `Nested too deeply: expected at most ${depthMax} levels of arrays and objects.`;
    level = level.flatMap((value) => (typeof value === "object" && value !== null ? Object.values(value) : []));
  }
  return undefined;
}

interface AgentRequest {
  readonly services: AgentServices;
  readonly request: Request;
  /** Parsed JSON; undefined if the body is not JSON, which the SDK refuses. */
  readonly body: unknown;
}

function handle(
  context: RequestContext,
  identity: Identity,
  { services, request, body }: AgentRequest,
): Promise<Response> {
  const { requestId, arrivedAtMs, log } = context.state;
  const { signal } = request;
  const { isOpen } = services.accounts;
  const toRefusal = (thrown: unknown): Refusal => {
    const refusal = refusalOf(thrown, requestId);
    context.state.errorCode = refusal.code;
    if (refusal.code === "internal_error") log.error({ requestId, err: thrown }, "internal error");
    return refusal;
  };
  const countUncalled = (): Promise<void> => services.accounts.countRequest(identity);
  const options: AgentServerOptions = {
    tools,
    isCharged: !isOpen,
    countUncalled,
    explorerOrigin: services.publicUrl === undefined ? undefined : new URL(services.publicUrl).origin,
    callOperation: async (operation, callSignal) => {
      const gone = AbortSignal.any([signal, callSignal]);
      gone.throwIfAborted();
      const caller = { identity, arrivedAtMs, signal: gone, parentRequestId: requestId, log };
      const { body: answer, ...charged } = await services.callOperation(caller, operation);
      const { requestId: request_id, micros: charged_micros, usageClass: usage_class = null } = charged;
      // What changes have of attributes has no type in the document.
      return { body: answer as AnswerBody, ...(isOpen ? {} : { usage: { request_id, charged_micros, usage_class } }) };
    },
    isQueryListed: services.exports.sqlDeadlineMs > 0 && identity.key.scopes.includes("sql.read"),
    runQuery: async (values) => {
      const statements = await countingRefusals(countUncalled, () => statementsOf(values));
      const caller = { context, identity, isCharged: !isOpen, sendRequest: services.sendRequest };
      return sendQuery(statements, values, caller);
    },
    refusalOf: toRefusal,
    charts: services.charts,
    exporter: exporterOf(services, { identity, arrivedAtMs, signal, log }),
  };
  const handler = createMcpHandler(() => createAgentServer(options), {
    // No list of tools changes while the service runs.
    maxSubscriptions: 0,
    keepAliveMs: 0,
    onerror: (error) => log.info({ requestId, message: messageOf(error) }, "agent request refused"),
  });
  return handler.fetch(request, body === undefined ? {} : { parsedBody: body });
}

/** Returns the operation of the tool that a message calls; undefined if it calls none. */
function operationOf({ method, params }: Record<string, unknown>): OperationId | undefined {
  if (method !== "tools/call" || !isObject(params)) return undefined;
  return params.name === queryTool.name ? "runSql" : tools.find(({ name }) => name === params.name)?.id;
}

/** Returns the scope for which a message needs another token; none if a token cannot have it, or the tool is not listed without it. */
function scopesOf(message: Record<string, unknown>): readonly string[] {
  const id = operationOf(message);
  const scope = id === undefined || id === "exportListings" || id === "runSql" ? undefined : operation(id).scope;
  return scope === undefined ? [] : [scope];
}

/** Operations count the calls of tools that the key may call; a cancellation must get through at the limit. */
function isCounted(message: Record<string, unknown>, { key }: Identity): boolean {
  if (message.method === "notifications/cancelled") return false;
  const id = operationOf(message);
  const { scope } = id === undefined ? {} : operation(id);
  return scope === undefined || !key.scopes.some((granted) => granted === scope);
}

/** Registers a call, or cancels the call named by a notification. Returns a function that removes the call. */
export function trackCall(
  context: Pick<RequestContext, "get" | "set" | "state">,
  { method, id, params }: Record<string, unknown>,
  { call, identity, calls }: { call: AbortController; identity: Identity; calls: CallsInProgress },
): () => void {
  const session = context.get(sessionHeader);
  const keyOf = (requestId: unknown): string => JSON.stringify([identity.key.keyId, session, requestId]);
  if (method === "initialize") context.set(sessionHeader, context.state.requestId);
  if (session === "") return () => undefined;
  if (method === "notifications/cancelled" && isObject(params))
    calls.get(keyOf(params.requestId))?.abort(new Abandoned("The client has cancelled the call."));
  if (method !== "tools/call") return () => undefined;
  const key = keyOf(id);
  calls.set(key, call);
  return () => {
    if (calls.get(key) === call) calls.delete(key);
  };
}

const sessionHeader = "Mcp-Session-Id";

function webRequestOf({ method, href, headers }: RequestContext, text: string, signal: AbortSignal): Request {
  const pairs = Object.entries(headers).flatMap(([name, value]): [string, string][] =>
    value === undefined ? [] : [[name, String(value)]],
  );
  // The SDK demands both types of each client.
  const forwarded = new Headers(pairs);
  forwarded.set("Accept", `${jsonType}, ${eventsType}`);
  const url = URL.canParse(href) ? href : "http://invalid.invalid/mcp";
  return new Request(url, { method, headers: forwarded, signal, body: text });
}

/** Headers that the HTTP server sets: it closes a connection after a request with a body. */
const connectionHeaders = new Set(["connection", "keep-alive", "transfer-encoding"]);

/** Sends a response as a whole, because no tool sends anything before its result, in a type that the client accepts. */
async function send(context: RequestContext, response: Response, accepted: readonly string[]): Promise<void> {
  const text = await response.text();
  const type = response.headers.get("Content-Type")?.replace(/\s*;.*/, "") ?? "";
  const isConverted = response.ok && text !== "" && !accepted.includes(type);
  context.status = response.status;
  for (const [name, value] of response.headers) if (!connectionHeaders.has(name)) context.set(name, value);
  context.set("Cache-Control", "no-store");
  context.vary("Accept");
  if (isConverted) context.set("Content-Type", type === eventsType ? jsonType : eventsType);
  const converted = type === eventsType ? jsonOfEvents(text) : `event: message\ndata: ${text}\n\n`;
  context.body = text === "" ? null : Buffer.from(isConverted ? converted : text);
  context.status = response.status;
}

/** Returns the responses among the messages of an event stream: one, or an array of those of a batch. Notifications have no place in JSON. */
function jsonOfEvents(text: string): string {
  const messages = [...text.matchAll(/^data: ?(.+)$/gm)].map(([, data = ""]) => data);
  const responses = messages.filter((message) => !Object.hasOwn(Object(parsedJson(message)), "method"));
  return responses.length === 1 ? responses.join() : `[${responses.join()}]`;
}

/** Sends an error of the transport, in the shape of the protocol. */
function sendError(context: RequestContext, status: number, message: string): void {
  context.status = status;
  context.set("Connection", "close");
  context.body = { jsonrpc: "2.0", error: { code: -32_000, message }, id: null };
}

/**
 * Returns the response that refuses a request from elsewhere with a 403; undefined for all others. Accepted are the hosts and origins of the public
 * URL, the host listened on, `localhost`, and IP addresses, which no DNS rebinding can fake: so no page of another site reaches a service through the
 * browser of a user, except those of the origins that the settings name.
 */
function foreignHostResponse(
  request: Request,
  { publicUrl, host, corsOrigins }: Pick<SiteServices, "publicUrl" | "host" | "corsOrigins">,
): Response | undefined {
  const requested = hostnameOf(`http://${request.headers.get("Host")}`);
  const names = ["localhost", host, ...(publicUrl === undefined ? [] : [hostnameOf(publicUrl)])];
  const isAddress = isIP(requested.replace(/^\[(.*)\]$/, "$1")) !== 0;
  const allowed = isAddress ? [...names, requested] : names;
  const foreignHost = hostHeaderValidationResponse(request, allowed);
  if (foreignHost !== undefined || corsOrigins.includes("*")) return foreignHost;
  return originValidationResponse(request, [requested, ...names, ...corsOrigins.map(hostnameOf)]);
}

const hostnameOf = (url: string): string => (URL.canParse(url) ? new URL(url).hostname : "");
