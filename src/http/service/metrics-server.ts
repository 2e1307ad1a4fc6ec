/** Metrics server: answers `/metrics` and the health checks on a separate port, where no client can lock it out. */
import { createServer, type Server } from "node:http";
import Koa from "koa";
import type { Middleware, RequestState } from "../context.ts";
import type { Metrics } from "./metrics.ts";

/** Returns a server that does not listen yet. Other paths are answered with 404. */
export function createMetricsServer(metrics: Metrics, health: Middleware): Server {
  const app = new Koa<RequestState>();
  app.use(health);
  app.use(async (context, next) => {
    if (context.path !== "/metrics") return next();
    context.type = "text/plain; version=0.0.4; charset=utf-8";
    context.body = await metrics.text();
  });
  return createServer(app.callback());
}
