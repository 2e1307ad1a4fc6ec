/** The routes of a service, as its routers have them. */
import assert from "node:assert/strict";
import type Koa from "koa";
import { isObject } from "../../../src/base/json.ts";
import type { RequestState } from "../../../src/http/context.ts";

export interface MountedRoute {
  /** Upper-case names. */
  readonly methods: readonly string[];
  /** With `:name` for each parameter. */
  readonly path: string;
}

/** Returns the routes that have been added to an application, those of pages among them. */
export function routesOf(app: Koa<RequestState>): readonly MountedRoute[] {
  const stacks = app.middleware.flatMap((middleware: unknown) => {
    const router: unknown = Object(middleware).router;
    return isObject(router) && Array.isArray(router.stack) ? router.stack : [];
  });
  const routes = stacks.flatMap(({ methods, path }: { readonly methods: unknown; readonly path: unknown }) =>
    Array.isArray(methods) && methods.length > 0 && typeof path === "string"
      ? [{ methods: methods.map(String), path }]
      : [],
  );
  assert.ok(
    routes.some(({ path }) => path === "/account"),
    "expected the routes of pages",
  );
  return routes;
}
