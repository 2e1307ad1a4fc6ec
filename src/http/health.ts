/** For whoever runs the service: `/healthz` says that the process lives, `/readyz` that it has something to answer from, and how far its answers were at hand. */
import type { CurrentVersion } from "../serving/current-version.ts";
import type { Answers } from "./answers.ts";
import type { Step } from "./exchange.ts";

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
      answers: answers.counts,
    };
  };
