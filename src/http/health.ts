/**
 * Health checks for operators. `/healthz` reports liveness; `/readyz` reports the served version, its serving files and the
 * response cache, with status 503 until a version is open and while the service stops. A service that answers with damaged or unused files
 * is `degraded`, with the reasons.
 */
import type { CurrentVersion } from "../serving/current-version.ts";
import type { Middleware } from "./context.ts";
import type { ResponseCache } from "./response-cache.ts";

export const serveHealth =
  (current: CurrentVersion, responseCache: ResponseCache, isStopping: () => boolean): Middleware =>
  async (context, next) => {
    if (context.path === "/healthz") {
      context.body = { status: "ok" };
      return;
    }
    if (context.path !== "/readyz") return next();
    const { version } = current;
    const isReady = version !== undefined && !isStopping();
    const reasons = current.faults;
    const ready = reasons.length === 0 ? "ready" : "degraded";
    context.status = isReady ? 200 : 503;
    context.body = {
      status: isReady ? ready : isStopping() ? "stopping" : "no version published",
      reasons,
      version: version ?? null,
      lake: current.fileCounts,
      serving: { ...(current.served ?? { index: false, rows: false }), fallbacks: current.fallbacks },
      answers: responseCache.counts,
    };
  };
