/**
 * Retries. A response whose status has a documented `Retry-After` is requested again after that time. A request that was lost on its way,
 * or whose response was, is repeated if it has an idempotency key, because only then is it charged once.
 */
import { secondsIn } from "./errors.ts";
import { retriedStatuses } from "./operations.gen.ts";

export interface RetrySettings {
  /** How often a request is repeated at most; 3 by default, 0 for never. */
  readonly retries?: number;
  /** The longest wait before a retry, 60 seconds by default. A response that demands a longer one is an error at once. */
  readonly longestWaitMs?: number;
}

type Send = (request: Request) => Promise<Response>;

/** Spreads the retries of clients that were refused at the same time. */
const jitterMs = 500;
/** The wait after the first lost request is at most this long; it doubles with each further one. */
const firstWaitMs = 500;

/** Returns a function that sends a request, and repeats it where that is allowed. */
export function withRetries(send: Send, { retries = 3, longestWaitMs = 60_000 }: RetrySettings = {}): Send {
  return async (request) => {
    for (let retry = 0; ; retry += 1) {
      const outcome = await attempt(send, request);
      const waitMs = retry < retries ? waitAfter(outcome, request, retry) : undefined;
      if (waitMs === undefined || waitMs > longestWaitMs + jitterMs) {
        if (outcome instanceof Response) return outcome;
        throw outcome.lost;
      }
      if (outcome instanceof Response) await outcome.body?.cancel();
      await wait(waitMs, request.signal);
    }
  };
}

/** A request without a whole response, and why. */
interface Loss {
  readonly lost: unknown;
}

/** Reads the whole body of a response that can be requested again, so that a loss on its way is known here. */
async function attempt(send: Send, request: Request): Promise<Response | Loss> {
  try {
    const response = await send(request.clone());
    if (!request.headers.has("Idempotency-Key") || response.body === null) return response;
    return new Response(await response.arrayBuffer(), response);
  } catch (thrown) {
    return { lost: thrown };
  }
}

/** Returns how long to wait before a retry; undefined if there must be none. */
function waitAfter(outcome: Response | Loss, request: Request, retry: number): number | undefined {
  if (outcome instanceof Response) {
    const seconds = retriedStatuses.has(outcome.status) ? secondsIn(outcome) : undefined;
    return seconds === undefined ? undefined : seconds * 1000 + Math.random() * jitterMs;
  }
  if (request.signal.aborted || !request.headers.has("Idempotency-Key")) return undefined;
  return Math.random() * firstWaitMs * 2 ** retry;
}

/** Resolves after a time; rejects with the reason of the signal when it is aborted. */
function wait(milliseconds: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const onAbort = (): void => {
      clearTimeout(timer);
      reject(signal.reason);
    };
    const timer = setTimeout(() => {
      signal.removeEventListener("abort", onAbort);
      resolve();
    }, milliseconds);
    if (signal.aborted) onAbort();
    else signal.addEventListener("abort", onAbort, { once: true });
  });
}
