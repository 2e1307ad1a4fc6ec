/** Names each request, and writes one line for it when it has been answered. No secrets: keys in a query are left out. */
import type { Logger } from "pino";
import { timedId } from "../../base/random-ids.ts";
import { isSecretName, pairsIn } from "../../contract/query-string.ts";
import type { Step } from "../context.ts";

export const logRequests =
  (logger: Logger): Step =>
  async (exchange, next) => {
    const startedAtMs = performance.now();
    const requestId = timedId(Date.now());
    exchange.state.requestId = requestId;
    exchange.state.log = logger;
    exchange.set("X-Request-Id", requestId);
    if (!logger.isLevelEnabled("info")) return next();
    exchange.res.once("close", () => {
      const line = {
        requestId,
        method: exchange.method,
        path: exchange.path,
        query: withoutKeys(exchange.querystring),
        ip: exchange.ip,
        account: exchange.state.identity?.key.accountId,
        key: exchange.state.identity?.key.keyId,
        status: exchange.status,
        code: exchange.state.code,
        bytes: exchange.response.length,
        ms: Math.round((performance.now() - startedAtMs) * 10) / 10,
        aborted: exchange.res.writableFinished ? undefined : true,
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
