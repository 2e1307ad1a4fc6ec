/** Computes the response of a metered operation, or takes it from the response cache, and charges for it before it is sent. */
import type { MeteredId } from "../../accounts/policy/prices.ts";
import type { CurrentVersion } from "../../serving/current-version.ts";
import type { ChargeRequest, PricedMiddleware } from "../context.ts";
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
    const body = await current.use((version) =>
      responseCache.getOrCompute(version.manifest.version, id, request, async () =>
        Buffer.from(await endpoint(request, version)),
      ),
    );
    await charge(context, hold);
    // Before the body: Koa looks up a media type when a body is set without one.
    context.set("Content-Type", "application/json; charset=utf-8");
    context.set("Cache-Control", "private, no-store");
    context.body = body;
  };
}
