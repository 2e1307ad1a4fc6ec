/** Time limits of responses: close the connections of clients that read too slowly. */
import type { ServerResponse } from "node:http";

const timers = new WeakMap<ServerResponse, NodeJS.Timeout>();

/** Closes the connection of a response that has not ended after a time. Replaces an earlier limit. */
export function limitResponseTime(response: ServerResponse, timeoutMs: number): void {
  const { socket } = response.req;
  endResponseTime(response);
  timers.set(
    response,
    setTimeout(() => socket.destroy(), timeoutMs),
  );
}

/** Removes the limit of a response that has ended. */
export function endResponseTime(response: ServerResponse): void {
  clearTimeout(timers.get(response));
}
