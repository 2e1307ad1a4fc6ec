/** Tells clients of a stopping service to close their connections: `Connection: close` on every response that is sent after the signal. */
import type { Middleware } from "../context.ts";

export const closeConnections =
  (isStopping: () => boolean): Middleware =>
  async (context, next) => {
    await next();
    if (isStopping() && !context.res.headersSent) context.res.setHeader("Connection", "close");
  };
