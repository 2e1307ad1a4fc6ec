/** Refuses requests by their method and URL, and answers `OPTIONS`. */
import { refuse } from "../../contract/errors.ts";
import { decodedName, isKeyName, quoted, splitQuery } from "../../contract/query-string.ts";
import type { Middleware, RequestContext } from "../context.ts";
import { uriBytesMax } from "../limits.ts";

/** Returns the methods of the routes that the routers have for the path of a request; none for an unknown path. */
function methodsOf(context: RequestContext): readonly string[] {
  const routes: readonly { readonly methods: readonly string[] }[] = context.matched ?? [];
  return [...new Set(routes.flatMap(({ methods }) => methods))];
}

/** Refuses API keys in the query string: URLs end up in logs and browser histories. */
export const refuseKeyInQuery: Middleware = (context, next) => {
  for (const [rawName] of splitQuery(context.querystring)) {
    const parameter = decodedName(rawName);
    if (isKeyName(parameter)) throw refuse("query_string_api_key_rejected", { parameter });
  }
  return next();
};

/** Refuses a URL with a scheme that is malformed, such as `http://[/`, with `not_found`: Koa would throw. */
export const refuseMalformedUrl: Middleware = ({ req: { url = "" } }, next) => {
  if (!url.startsWith("/") && url !== "*" && !URL.canParse(url))
    throw refuse("not_found", { what: "resource", id: url });
  return next();
};

const hostPattern = /^(\[[\da-f:.]+\]|[\w.~!$&'()*+;=%-]+)(:\d*)?$/i;

/** Refuses a `Host` that is missing, repeated or malformed, or is not that of a target with a host (RFC 9112). HTTP/1.0 needs none. */
export const refuseOtherHost: Middleware = ({ req: { url = "", rawHeaders, httpVersion } }, next) => {
  const hosts = rawHeaders.filter((_, index) => index % 2 === 1 && /^host$/i.test(rawHeaders[index - 1] ?? ""));
  const [host] = hosts;
  const target = URL.canParse(url) ? new URL(url) : undefined;
  const isMissing = host === undefined && httpVersion !== "1.0";
  if (isMissing || hosts.length > 1 || (host !== undefined && !isHostOf(host, target)))
    throw refuse("invalid_parameter_value", {
      parameter: "Host",
      value: quoted(hosts.join(", ")),
      allowed: "one host, that of the request",
      hint: "",
    });
  return next();
};

function isHostOf(host: string, target: URL | undefined): boolean {
  const authority = `${target?.protocol ?? "http:"}//${host}`;
  if (!hostPattern.test(host) || !URL.canParse(authority)) return false;
  return (
    target === undefined ||
    (target.host === new URL(authority).host && target.username === "" && target.password === "")
  );
}

/** Refuses a body with a coding: it would be read as it arrives. The HTTP parser refuses a transfer that does not end in chunks. */
export const refuseCodings: Middleware = ({ req: { headers } }, next) => {
  const { "transfer-encoding": transfer, "content-encoding": content = "", "content-length": length } = headers;
  const isTransfer = transfer !== undefined && !/^chunked$/i.test(transfer);
  const parameter = isTransfer ? "Transfer-Encoding" : "Content-Encoding";
  const [value, allowed] = isTransfer ? [transfer, "chunked"] : [content, "identity"];
  if (isTransfer || ((transfer ?? length) !== undefined && !/^(identity)?$/i.test(content)))
    throw refuse("invalid_parameter_value", { parameter, value: quoted(value), allowed, hint: "" });
  return next();
};

/** Refuses paths and queries that are longer than `uriBytesMax`. The HTTP parser refuses those that exceed `headerBytesMax`. */
export const refuseLongUri: Middleware = ({ req: { url = "" } }, next) => {
  if (url.length > uriBytesMax) throw refuse("uri_too_long", { limit: uriBytesMax });
  return next();
};

/**
 * Refuses what pages of other sites send to a service without keys: requests for a host name that is not one of its names, to which such a page can
 * have its address lead, and those that change something.
 */
export const refuseOtherSites =
  (hosts: readonly string[], origins: readonly string[]): Middleware =>
  (context, next) => {
    const name = context.hostname;
    const origin = context.get("Origin");
    const site = context.get("Sec-Fetch-Site");
    if (!hosts.includes(name) && !/^(localhost|127(\.\d+){3}|\[::1\])$/.test(name))
      throw refuse("not_found", { what: "service for the host", id: name });
    const own = `${context.protocol}://${context.host}`;
    const isOther = origin !== "" ? origin !== own : ["cross-site", "same-site"].includes(site);
    if (isOther && context.method !== "GET" && context.method !== "HEAD" && !origins.includes(origin))
      throw refuse("method_not_allowed", { method: context.method, allowed: "a request of this service's own pages" });
    return next();
  };

/** Ends requests without a route: `OPTIONS` with the methods of the path, other methods with `method_not_allowed`, unknown paths with `not_found`. */
export const endUnrouted: Middleware = async (context) => {
  const { method, path } = context;
  const methods = methodsOf(context);
  if (methods.length === 0 || methods.includes(method)) throw refuse("not_found", { what: "resource", id: path });
  const allowed = [...methods, "OPTIONS"].sort().join(", ");
  context.set("Allow", allowed);
  if (method !== "OPTIONS") throw refuse("method_not_allowed", { method, allowed: `one of ${allowed}` });
  context.status = 204;
};
