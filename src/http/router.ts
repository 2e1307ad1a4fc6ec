/** Routers of the service. `HEAD` matches wherever `GET` does; Koa then sends the headers alone. */
import Router from "@koa/router";
import type { RequestState } from "./context.ts";

export type Routes = ReturnType<Router<RequestState>["routes"]>;

/** Returns a router whose paths match exactly: in their case, and without another slash at the end. */
export const createRouter = (): Router<RequestState> => new Router<RequestState>({ sensitive: true, strict: true });
