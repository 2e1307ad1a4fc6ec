/**
 * Tells clients of a stopping service to close their connections: `Connection: close` on every response that is sent after the signal. Before
 * the port is closed, refuses requests with 502, a status that no operation has: a proxy can repeat them on another replica, whatever their method.
 */
import type { Middleware } from "../../context.ts";

export interface StopState {
  readonly isStopping: boolean;
  readonly isRefusing: boolean;
}

export const closeConnections =
  (state: StopState): Middleware =>
  async (context, next) => {
    if (state.isRefusing) {
      context.status = 502;
      context.body = "This service is stopping.\n";
    } else await next();
    if (state.isStopping && !context.res.headersSent) context.res.setHeader("Connection", "close");
  };
