/** Limits of time whose timers the code holds: Node.js 20 can lose that of `AbortSignal.timeout` within `AbortSignal.any` to a garbage collection. */
import { setMaxListeners } from "node:events";

export interface TimeLimit {
  readonly ms: number;
  /** Thrown when the time has passed. */
  readonly error: Error;
  /** Ends the work too; its reason is thrown. */
  readonly signal?: AbortSignal | undefined;
}

/** Calls `work` with a signal that is aborted at the limit, and when `work` has ended: that ends what it leaves; and with a function that starts the time again. */
export async function withTimeLimit<T>(
  { ms, error, signal }: TimeLimit,
  work: (signal: AbortSignal, restart: () => void) => Promise<T>,
): Promise<T> {
  signal?.throwIfAborted();
  const controller = new AbortController();
  // Work can have any number of parts that end with it.
  setMaxListeners(0, controller.signal);
  const timer = setTimeout(() => controller.abort(error), ms);
  const abort = (): void => controller.abort(signal?.reason);
  signal?.addEventListener("abort", abort, { once: true });
  try {
    return await work(controller.signal, () => void timer.refresh());
  } catch (thrown) {
    throw controller.signal.aborted ? controller.signal.reason : thrown;
  } finally {
    clearTimeout(timer);
    controller.abort();
    signal?.removeEventListener("abort", abort);
  }
}

/** Returns the result of work; rejects when the signal is aborted, even if the work goes on. */
export const orAborted = <T>(signal: AbortSignal, work: Promise<T>): Promise<T> =>
  new Promise((resolve, reject) => {
    const abort = (): void => reject(signal.reason);
    if (signal.aborted) abort();
    else signal.addEventListener("abort", abort, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener("abort", abort));
  });
