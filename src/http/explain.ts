/** Holds the only `catch` that makes a response: a refusal answers with its row of the table, anything else with 500. */
import { errorBody, errors, Refusal, refuse } from "../contract/errors.ts";
import type { Step } from "./exchange.ts";

export const explain: Step = async (exchange, next) => {
  try {
    await next();
  } catch (thrown) {
    const refusal = refusalOf(thrown, exchange.state.requestId);
    if (refusal.code === "internal_error") exchange.state.log.error({ err: thrown }, "defect");
    exchange.state.code = refusal.code;
    exchange.status = errors[refusal.code][0];
    exchange.body = errorBody(refusal);
    exchange.remove("ETag");
    exchange.set("Cache-Control", "no-store");
    if (exchange.status === 405) exchange.set("Allow", "GET");
    if (refusal.retryAfterSeconds !== undefined) exchange.set("Retry-After", String(refusal.retryAfterSeconds));
  }
};

function refusalOf(thrown: unknown, request: string): Refusal {
  return thrown instanceof Refusal ? thrown : refuse("internal_error", { request });
}
