/**
 * Computes the response of a metered operation, or takes it from the response cache, and charges for it before it is sent. A client that
 * has the response already gets a 304, which is neither computed nor charged.
 */
import { document } from "../../contract/document.ts";
import type { CurrentVersion } from "../../serving/current-version.ts";
import { type ChargeRequest, jobOf, type PricedMiddleware } from "../context.ts";
import { type Endpoint, type EndpointId, endpoints } from "../endpoints.ts";
import { entityTag, matchesEntityTag } from "../etag.ts";
import { canonicalJson, type ResponseCache } from "../response-cache.ts";

/** Distinguishes releases whose responses to the same request differ. */
const documentTag = entityTag(JSON.stringify(document));

export interface RespondServices {
  readonly current: CurrentVersion;
  readonly responseCache: ResponseCache;
}

export function respond<Id extends EndpointId>(
  id: Id,
  { current, responseCache }: RespondServices,
  charge: ChargeRequest,
): PricedMiddleware<Id> {
  const endpoint: Endpoint<Id> = endpoints[id];
  return async (context, request, hold) => {
    const job = jobOf(context);
    const body = await job.race(
      current.use(async (version) => {
        const key = { version: version.manifest.version, operation: id, request };
        const tag = entityTag(`${documentTag} ${key.version} ${id} ${canonicalJson(request)}`);
        if (matchesEntityTag(context, tag)) return undefined;
        return responseCache.getOrCompute(key, job, async (sharedJob) =>
          Buffer.from(await endpoint(request, version.withJob(sharedJob))),
        );
      }),
    );
    context.set("Cache-Control", "private, no-cache");
    if (body === undefined) {
      context.status = 304;
      return;
    }
    await charge(context, hold);
    // Before the body: Koa looks up a media type when a body is set without one.
    context.set("Content-Type", "application/json; charset=utf-8");
    context.body = body;
  };
}
