/**
 * Health checks for operators. `/healthz` reports liveness; `/readyz` reports the served version, its serving files and the
 * response cache, with status 503 until a version is open, while the ledger is unavailable, and while the service stops. A service that
 * answers with damaged or unused files is `degraded`, with the reasons.
 */
import type { ResponseCache } from "../../operations/response-cache.ts";
import type { CurrentVersion } from "../../serving/current-version.ts";
import { createRouter, type Routes } from "../context.ts";
import { type Freshness, type FreshnessReport, isoTime } from "./freshness.ts";

interface HealthChecks {
  readonly freshness: Freshness;
  readonly isStopping: () => boolean;
  /** Why no request can be charged; empty if requests can. */
  readonly ledgerFaults: () => readonly string[];
}

/** Whether the service can answer, and what of it is damaged or not in use. */
export interface Readiness {
  readonly isReady: boolean;
  readonly report: {
    readonly status: string;
    readonly reasons: readonly string[];
    readonly version: string | null;
    /** How the last ingest ended; null if none left a record in the lake's folder. */
    readonly ingest: {
      readonly at: string;
      readonly failed: boolean;
      readonly waiting: number;
      readonly refused: number;
    } | null;
    /** Null before the first version. `due` is null if the next delivery is never overdue. */
    readonly freshness: {
      readonly status: FreshnessReport["status"];
      readonly day: string;
      readonly published: string | null;
      readonly due: string | null;
    } | null;
    readonly lake: CurrentVersion["fileCounts"];
    readonly serving: { readonly index: boolean; readonly rows: boolean; readonly fallbacks: number };
    readonly response_cache: ResponseCache["counts"];
  };
}

export const readinessOf =
  (current: CurrentVersion, responseCache: ResponseCache, { freshness, isStopping, ledgerFaults }: HealthChecks) =>
  (): Readiness => {
    const { version } = current;
    const reasons = [...ledgerFaults(), ...current.faults, ...freshness.faults];
    const isReady = version !== undefined && ledgerFaults().length === 0 && !isStopping();
    const ready = reasons.length === 0 ? "ready" : "degraded";
    const fault = version === undefined ? "no version published" : "ledger unavailable";
    const report = {
      status: isReady ? ready : isStopping() ? "stopping" : fault,
      reasons,
      version: version ?? null,
      ingest: ingestReport(freshness),
      freshness: freshnessReport(freshness.report),
      lake: current.fileCounts,
      serving: { ...(current.inService?.served ?? { index: false, rows: false }), fallbacks: current.rebuilds },
      response_cache: responseCache.counts,
    };
    return { isReady, report };
  };

/** Reports the last ingest without its message, which can name paths. */
function ingestReport({ lastIngest, hasFailed }: Freshness): Readiness["report"]["ingest"] {
  if (lastIngest === undefined) return null;
  const { at, waiting, refused } = lastIngest;
  return { at, failed: hasFailed, waiting, refused };
}

function freshnessReport({ status, day, publishedAtMs, dueAtMs }: FreshnessReport): Readiness["report"]["freshness"] {
  return day === null ? null : { status, day, published: isoTime(publishedAtMs), due: isoTime(dueAtMs) };
}

/** Returns the router of the health checks. */
export function serveHealth(readiness: () => Readiness): Routes {
  const router = createRouter();
  router.get("/healthz", (context) => {
    context.body = { status: "ok" };
  });
  router.get("/readyz", (context) => {
    const { isReady, report } = readiness();
    context.status = isReady ? 200 : 503;
    context.body = report;
  });
  return router.routes();
}
