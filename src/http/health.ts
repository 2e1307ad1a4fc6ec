/**
 * Health for operators: `/healthz` says that the process lives, `/readyz` that a version is in service, whether its search index and row store
 * are, and how the response cache does.
 */
import type { CurrentVersion } from "../serving/current-version.ts";
import type { Middleware } from "./context.ts";
import type { ResponseCache } from "./response-cache.ts";

export const health =
  (current: CurrentVersion, answers: ResponseCache, isStopping: () => boolean): Middleware =>
  async (context, next) => {
    if (context.path === "/healthz") {
      context.body = { status: "ok" };
      return;
    }
    if (context.path !== "/readyz") return next();
    const { version } = current;
    const isReady = version !== undefined && !isStopping();
    context.status = isReady ? 200 : 503;
    context.body = {
      status: isReady ? "ready" : isStopping() ? "stopping" : "no version published",
      version: version ?? null,
      serving: { ...(current.served ?? { index: false, rows: false }), fallbacks: current.fallbacks },
      answers: answers.counts,
    };
  };
