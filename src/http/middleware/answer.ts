/** Answers from the published version, or as it has answered before, then charges. What is charged can be sent as it is. */
import type { MeteredId } from "../../accounts/policy/prices.ts";
import type { CurrentVersion } from "../../serving/current-version.ts";
import type { ChargeRequest, PricedMiddleware } from "../context.ts";
import { type Endpoint, endpoints } from "../endpoints.ts";
import type { ResponseCache } from "../response-cache.ts";

export interface AnswerServices {
  readonly current: CurrentVersion;
  readonly answers: ResponseCache;
}

export function answer<Id extends MeteredId>(
  id: Id,
  { current, answers }: AnswerServices,
  charge: ChargeRequest,
): PricedMiddleware<Id> {
  const endpoint: Endpoint<Id> = endpoints[id];
  return async (context, request, hold) => {
    const body = await current.use((version) =>
      answers.of(version.manifest.version, id, request, async () => Buffer.from(await endpoint(request, version))),
    );
    await charge(context, hold);
    // Before the body, which Koa otherwise looks up a type for.
    context.set("Content-Type", "application/json; charset=utf-8");
    context.set("Cache-Control", "private, no-store");
    context.body = body;
  };
}
