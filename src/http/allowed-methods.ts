/** The methods of a path, for `Allow` and for the message of a 405. */
import type { RequestContext } from "./context.ts";

interface Route {
  readonly methods: readonly string[];
}

/** Returns the methods of the routes that the routers so far have for the path of a request; GET if there is none. HEAD is refused. */
export function allowedMethods(context: RequestContext): readonly string[] {
  const routes: readonly Route[] = context.matched ?? [];
  const methods = new Set(routes.flatMap((route) => route.methods).filter((method) => method !== "HEAD"));
  return methods.size === 0 ? ["GET"] : [...methods].sort();
}
