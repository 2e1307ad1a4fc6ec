/** Event loop turns: steps that hold the main thread for milliseconds run one per turn, so that other requests are served between two of them. */

let last: Promise<unknown> = Promise.resolve();

/** Resolves in the next turn of the event loop. */
export const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** Runs a synchronous step after all earlier ones, in a turn of the event loop without another one. Settles as the step does. */
export function inOwnTurn<T>(step: () => T): Promise<T> {
  const result = last.then(nextTurn).then(step);
  last = result.catch(() => undefined);
  return result;
}
