/** Names each request, and writes one line for it when it has been answered. No secrets: keys in a query are left out. */
import type { Logger } from "pino";
import { v7 as uuidv7 } from "uuid";
import { isSecretName, pairsIn } from "../../contract/query-string.ts";
import type { Middleware } from "../context.ts";

export const logRequests =
  (logger: Logger): Middleware =>
  async (context, next) => {
    const startedAtMs = performance.now();
    // Sorts by its time, so that the ledger's index over the charges named by it grows at its end.
    const requestId = uuidv7();
    context.state.requestId = requestId;
    context.state.log = logger;
    context.set("X-Request-Id", requestId);
    if (!logger.isLevelEnabled("info")) return next();
    context.res.once("close", () => {
      const line = {
        requestId,
        method: context.method,
        path: context.path,
        query: withoutKeys(context.querystring),
        ip: context.ip,
        account: context.state.identity?.key.accountId,
        key: context.state.identity?.key.keyId,
        status: context.status,
        code: context.state.code,
        bytes: context.response.length,
        ms: Math.round((performance.now() - startedAtMs) * 10) / 10,
        aborted: context.res.writableFinished ? undefined : true,
      };
      logger.info(line, "request");
    });
    await next();
  };

/** A query string as it may be logged. */
function withoutKeys(queryString: string): string | undefined {
  if (queryString === "") return undefined;
  return pairsIn(queryString)
    .map(([name, raw]) => `${name}=${isSecret(name) ? "[key]" : raw}`)
    .join("&")
    .slice(0, 2000);
}

function isSecret(rawName: string): boolean {
  try {
    return isSecretName(decodeURIComponent(rawName));
  } catch {
    return true;
  }
}
