/** Error handler: turns a Refusal into its row of the error table, and any other exception into a logged 500. */
import { redactKeys } from "../../accounts/keys/api-key.ts";
import { type ErrorCode, errorBody, errors, Refusal, refuse } from "../../contract/errors.ts";
import { classifyFault } from "../../db/engine-faults.ts";
import { Abandoned } from "../../db/job.ts";
import { damagedData } from "../../serving/files/verified-files.ts";
import type { Middleware, RequestState } from "../context.ts";

/** The only `catch` that creates a response. */
export const handleErrors: Middleware = async (context, next) => {
  try {
    await next();
  } catch (thrown) {
    if (thrown instanceof Abandoned) {
      // Koa would end the response, which would then count as sent.
      context.respond = false;
      context.res.destroy();
      return;
    }
    const refusal = loggedRefusalOf(thrown, context.state);
    context.state.errorCode = refusal.code;
    context.status = errors[refusal.code][0];
    context.body = errorBody(refusal);
    for (const header of ["ETag", "Content-Disposition"]) context.remove(header);
    context.set("Cache-Control", "no-store");
    const challenge = challenges[refusal.code];
    const { challengeParameters = [] } = context.state;
    if (challenge !== undefined) context.set("WWW-Authenticate", challengeOf(challenge, challengeParameters));
    if (refusal.retryAfterSeconds !== undefined) context.set("Retry-After", String(refusal.retryAfterSeconds));
  }
};

const challengeOf = (challenge: string, parameters: readonly string[]): string =>
  [challenge, ...parameters].join(", ").replace("Bearer, ", "Bearer ");

/** The `WWW-Authenticate` header of authentication and permission errors (RFC 6750). */
const challenges: Readonly<Partial<Record<ErrorCode, string>>> = {
  missing_api_key: "Bearer",
  invalid_api_key: 'Bearer error="invalid_token"',
  missing_scope: 'Bearer error="insufficient_scope"',
};

/** Returns the refusal for an exception of a request, and logs internal errors. */
export function loggedRefusalOf(thrown: unknown, { requestId, log }: Pick<RequestState, "requestId" | "log">): Refusal {
  const refusal = refusalOf(thrown, requestId);
  if (refusal.code === "internal_error") log.error({ requestId, err: thrown }, "internal error");
  else if (!(thrown instanceof Refusal)) log.warn({ requestId, err: thrown }, classifyFault(thrown));
  return refusal;
}

/** Returns the refusal for an exception. Its message quotes parts of the request, in which a client may have pasted an API key. */
export function refusalOf(thrown: unknown, request: string): Refusal {
  const refusal = thrown instanceof Refusal ? thrown : refusalOfFault(thrown, request);
  return new Refusal(refusal.code, redactKeys(refusal.message), refusal.retryAfterSeconds, refusal.parameters);
}

function refusalOfFault(thrown: unknown, request: string): Refusal {
  switch (classifyFault(thrown)) {
    // A statement may succeed when fewer run concurrently, or when the version has been opened again.
    case "out of memory":
    case "engine failed":
      return refuse("overloaded", {});
    case "disk full":
      return refuse("data_unavailable", { reason: "No disk space is left for this response. Retry later." });
    case "io error":
      return refuse("data_unavailable", { reason: "A file cannot be read or written at the moment. Retry later." });
    // A file that existed when it was checked.
    case "missing":
      return damagedData();
    default:
      return refuse("internal_error", { request });
  }
}
