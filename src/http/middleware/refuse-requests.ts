/** Refuses requests by their method and URL, before any other check. */
import { refuse } from "../../contract/errors.ts";
import { decodedName, isKeyName, splitQuery } from "../../contract/query-string.ts";
import type { Middleware, RequestContext } from "../context.ts";
import { uriBytesMax } from "../limits.ts";

interface Route {
  readonly methods: readonly string[];
}

/** Returns the methods of the routes that the routers so far have for the path of a request; GET if there is none. HEAD is refused. */
export function allowedMethods(context: RequestContext): readonly string[] {
  const routes: readonly Route[] = context.matched ?? [];
  const methods = new Set(routes.flatMap((route) => route.methods).filter((method) => method !== "HEAD"));
  return methods.size === 0 ? ["GET"] : [...methods].sort();
}

/** Refuses API keys in the query string: URLs end up in logs and browser histories. */
export const refuseKeyInQuery: Middleware = async (context, next) => {
  for (const [rawName] of splitQuery(context.querystring)) {
    const parameter = decodedName(rawName);
    if (isKeyName(parameter)) throw refuse("query_string_api_key_rejected", { parameter });
  }
  await next();
};

/** Refuses a URL with a scheme that is malformed, such as `http://[/`, with `not_found`: Koa would throw. */
export const refuseMalformedUrl: Middleware = async ({ req: { url = "" } }, next) => {
  if (!url.startsWith("/") && url !== "*" && !URL.canParse(url))
    throw refuse("not_found", { what: "resource", id: url });
  await next();
};

/** Refuses paths and queries that are longer than `uriBytesMax`. The HTTP parser refuses those that exceed `headerBytesMax`. */
export const refuseLongUri: Middleware = async ({ req: { url = "" } }, next) => {
  if (url.length > uriBytesMax) throw refuse("uri_too_long", { limit: uriBytesMax });
  await next();
};

/** Refuses methods that the path does not have. Every operation is a GET; forms of the web application are a POST. */
export const refuseOtherMethods: Middleware = async (context, next) => {
  const [{ method }, allowed] = [context, allowedMethods(context)];
  if (!allowed.includes(method)) throw refuse("method_not_allowed", { method, allowed: allowed.join(" or ") });
  await next();
};

/** Refuses paths without a route with `not_found`. */
export const refuseUnknownPath: Middleware = async ({ path }) => {
  throw refuse("not_found", { what: "resource", id: path });
};
