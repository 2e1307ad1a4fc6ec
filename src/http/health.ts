/**
 * Health for operators: `/healthz` says that the process lives, `/readyz` that a version is in service, whether its search index and row store
 * are, and how the response cache does.
 */
import type { CurrentVersion } from "../serving/current-version.ts";
import type { Step } from "./context.ts";
import type { Answers } from "./response-cache.ts";

export const health =
  (current: CurrentVersion, answers: Answers, isStopping: () => boolean): Step =>
  async (exchange, next) => {
    if (exchange.path === "/healthz") {
      exchange.body = { status: "ok" };
      return;
    }
    if (exchange.path !== "/readyz") return next();
    const { version } = current;
    const isReady = version !== undefined && !isStopping();
    exchange.status = isReady ? 200 : 503;
    exchange.body = {
      status: isReady ? "ready" : isStopping() ? "stopping" : "no version published",
      version: version ?? null,
      serving: { ...(current.served ?? { index: false, rows: false }), fallbacks: current.fallbacks },
      answers: answers.counts,
    };
  };
