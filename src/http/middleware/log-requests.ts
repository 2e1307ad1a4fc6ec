/** Request log: assigns the request id, beside which a client can name its own, and logs one line per response. Values of parameters that are named as secrets are redacted. */
import type { Logger } from "pino";
import { v7 as uuidV7 } from "uuid";
import { redactKeys } from "../../accounts/keys/api-key.ts";
import { isSecretName, splitQuery } from "../../contract/query-string.ts";
import type { Middleware } from "../context.ts";

export const logRequests =
  (logger: Logger): Middleware =>
  (context, next) => {
    const startedAtMs = performance.now();
    // Koa keeps the address; a connection that is closed has none.
    const { ip } = context;
    // Version 7 sorts by time, so that the ledger's index over request ids grows at its end.
    const requestId = uuidV7();
    context.state.requestId = requestId;
    context.state.arrivedAtMs = startedAtMs;
    context.state.log = logger;
    const clientRequestId = clientRequestIdIn(context.get("X-Request-Id"));
    context.set("X-Request-Id", clientRequestId ?? requestId);
    if (!logger.isLevelEnabled("info")) return next();
    context.res.once("close", () => {
      const line = {
        requestId,
        clientRequestId,
        ...parseTraceparent(context.get("traceparent")),
        method: context.method,
        path: context.path.replace(feedSignature, "[key]"),
        query: redactedQuery(context.querystring),
        ip,
        account: context.state.identity?.key.accountId,
        key: context.state.identity?.key.keyId,
        status: context.status,
        code: context.state.errorCode,
        bytes: context.response.length,
        ms: Math.round((performance.now() - startedAtMs) * 10) / 10,
        aborted: context.res.writableFinished ? undefined : true,
      };
      logger.info(line, "request");
    });
    return next();
  };

/** Returns the id by which a client knows its request; undefined if it is absent, malformed, or could be a key. The ledger needs unique ids, hence does not take it. */
const clientRequestIdIn = (header: string): string | undefined =>
  /^[\w.:@/+=-]{1,128}$/.test(header) && redactKeys(header) === header ? header : undefined;

/** The part of a feed's address that lets anybody read it. */
const feedSignature = /(?<=^\/feeds\/[^/.]+\.).+/;

/** Returns a query string for the log: without the values of parameters that are named as secrets, at most 2000 characters; undefined if it is empty. */
export function redactedQuery(queryString: string): string | undefined {
  if (queryString === "") return undefined;
  return splitQuery(queryString)
    .map(([name, raw]) => `${name}=${isSecret(name) ? "[key]" : raw}`)
    .join("&")
    .slice(0, 2000);
}

/** A name that cannot be decoded counts as secret. */
function isSecret(rawName: string): boolean {
  try {
    return isSecretName(decodeURIComponent(rawName));
  } catch {
    return true;
  }
}

/** The ids of the header `traceparent` of the W3C recommendation, version 00 and what later versions keep of it. */
interface TraceContext {
  /** 32 hexadecimal characters. */
  readonly traceId: string;
  /** The caller's span: 16 hexadecimal characters. */
  readonly parentId: string;
}

const traceparent = /^(?!ff)([0-9a-f]{2})-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-[0-9a-f]{2}(-.*)?$/;

/** Returns the ids of a `traceparent`, or undefined if it is absent or invalid. */
function parseTraceparent(header: string): TraceContext | undefined {
  const [, version, traceId, parentId, rest] = traceparent.exec(header) ?? [];
  if (traceId === undefined || parentId === undefined || (version === "00" && rest !== undefined)) return undefined;
  return { traceId, parentId };
}
