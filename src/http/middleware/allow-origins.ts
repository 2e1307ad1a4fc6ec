/**
 * CORS: pages of the configured origins may call the API and the agent server, with an API key and without cookies. Preflight requests are
 * answered before a key is read, and cost nothing. All other paths stay closed to pages of other origins.
 */
import cors from "@koa/cors";
import { operations, resolve } from "../../contract/document.ts";
import type { ResponseObject } from "../../contract/operations.ts";
import type { Middleware } from "../context.ts";

/** The paths of the API and of the agent server. */
const openPaths = /^\/(v1\/.*|mcp)$/;

/** The paths that need no API key: `*` does not open them. */
const keylessPaths: ReadonlySet<string> = new Set(
  [...operations.values()].filter(({ scope }) => scope === undefined).map(({ path }) => path),
);

/** The methods of the operations; those of GET have HEAD too. */
const allowedMethods = [...new Set(["HEAD", ...[...operations.values()].map(({ method }) => method.toUpperCase())])];

/** How long a browser may keep the answer to a preflight request: as long as Chromium does at most. */
const preflightSeconds = 7200;

/** Returns the names of the headers that pages can read: those of all responses of the document, and the session of an agent. */
function exposedHeaders(): readonly string[] {
  const responses = [...operations.values()].flatMap((operation) => Object.values(operation.responses));
  const names = responses.flatMap((response) => Object.keys(resolve<ResponseObject>(response).headers ?? {}));
  return [...new Set([...names, "Mcp-Session-Id"])];
}

/** Returns a middleware for a service whose settings name origins; `*` stands for any, on paths that need an API key. */
export function allowOrigins(origins: readonly string[]): Middleware {
  const isAny = origins.includes("*");
  const handle = cors({
    origin: ({ path, headers }) => {
      if (isAny && !keylessPaths.has(path)) return "*";
      return origins.find((origin) => origin === headers.origin && origin !== "*") ?? "";
    },
    allowMethods: allowedMethods,
    exposeHeaders: exposedHeaders(),
    maxAge: preflightSeconds,
    keepHeadersOnError: false,
  });
  return (context, next) => (openPaths.test(context.path) ? handle(context, next) : next());
}
