/** Computes the response of a metered operation, or takes it from the response cache, and charges for it before it is sent. */
import type { MeteredId } from "../../accounts/policy/prices.ts";
import type { CurrentVersion } from "../../serving/current-version.ts";
import { type ChargeRequest, jobOf, type PricedMiddleware } from "../context.ts";
import { type Endpoint, endpoints } from "../endpoints.ts";
import type { ResponseCache } from "../response-cache.ts";

export interface RespondServices {
  readonly current: CurrentVersion;
  readonly responseCache: ResponseCache;
}

export function respond<Id extends MeteredId>(
  id: Id,
  { current, responseCache }: RespondServices,
  charge: ChargeRequest,
): PricedMiddleware<Id> {
  const endpoint: Endpoint<Id> = endpoints[id];
  return async (context, request, hold) => {
    const job = jobOf(context);
    const body = await job.race(
      current.use((version) =>
        responseCache.getOrCompute(
          { version: version.manifest.version, operation: id, request },
          job,
          async (sharedJob) => Buffer.from(await endpoint(request, version.withJob(sharedJob))),
        ),
      ),
    );
    await charge(context, hold);
    // Before the body: Koa looks up a media type when a body is set without one.
    context.set("Content-Type", "application/json; charset=utf-8");
    context.set("Cache-Control", "private, no-store");
    context.body = body;
  };
}
