/** Answers from the published version, or as it has answered before, then charges. What is charged can be sent as it is. */
import type { MeteredId } from "../../accounts/policy/prices.ts";
import type { CurrentVersion } from "../../serving/current-version.ts";
import type { Charge, PricedStep } from "../context.ts";
import { type Endpoint, endpoints } from "../endpoints.ts";
import type { Answers } from "../response-cache.ts";

export interface AnswerMeans {
  readonly current: CurrentVersion;
  readonly answers: Answers;
}

export function answer<Id extends MeteredId>(
  id: Id,
  { current, answers }: AnswerMeans,
  charge: Charge,
): PricedStep<Id> {
  const endpoint: Endpoint<Id> = endpoints[id];
  return async (exchange, request, hold) => {
    const body = await current.use((version) =>
      answers.of(version.manifest.version, id, request, async () => Buffer.from(await endpoint(request, version))),
    );
    await charge(exchange, hold);
    // Before the body, which Koa otherwise looks up a type for.
    exchange.set("Content-Type", "application/json; charset=utf-8");
    exchange.set("Cache-Control", "private, no-store");
    exchange.body = body;
  };
}
