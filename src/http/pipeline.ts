/**
 * What happens to a request, as a sentence. Each verb is a step; each operation of the document has a route of its own.
 */
import Router from "@koa/router";
import compose from "koa-compose";
import { decoderOf } from "../contract/decode.ts";
import { document, operations } from "../contract/document.ts";
import { refuse } from "../contract/errors.ts";
import type { OperationId, RequestOf } from "../contract/types.ts";
import type { Published } from "../lake/published.ts";
import { type Endpoint, endpoints } from "./endpoints.ts";
import type { Exchange, State, Step } from "./exchange.ts";
import { refuseKeyInQuery } from "./refuse-key-in-query.ts";
import { serveDocument } from "./serve-document.ts";

/** The steps of an operation that is answered from the market. */
function metered<Id extends OperationId>(id: Id, published: Published): Step {
  const requests = new WeakMap<Exchange, RequestOf<Id>>();
  return compose([refuseKeyInQuery, validate(id, requests), answer(id, requests, published)]);
}

/** The steps of an operation that is answered without the market, and needs no key. */
function free(id: OperationId, answered: Step): Step {
  return compose([refuseKeyInQuery, validate(id, new WeakMap()), answered]);
}

/** Decodes and validates the request as the document says. */
function validate<Id extends OperationId>(id: Id, requests: WeakMap<Exchange, RequestOf<Id>>): Step {
  const decode = decoderOf(id);
  return async (exchange, next) => {
    requests.set(exchange, decode(exchange.querystring, exchange.params));
    await next();
  };
}

/** Answers from the published version; an operation that is not built yet says so. */
function answer<Id extends OperationId>(
  id: Id,
  requests: WeakMap<Exchange, RequestOf<Id>>,
  published: Published,
): Step {
  const endpoint: Endpoint<Id> | undefined = endpoints[id];
  return async (exchange) => {
    const request = requests.get(exchange);
    if (endpoint === undefined || request === undefined)
      throw refuse("not_implemented", { what: `The operation ${id}` });
    exchange.body = await published.use((market) => endpoint(request, market));
    exchange.set("Cache-Control", "private, no-store");
  };
}

/** Routes each path of the document; literal paths go before those with a parameter. */
export function routes(published: Published): ReturnType<Router<State>["routes"]> {
  const router = new Router<State>({ sensitive: true, strict: true });
  const byPath = [...operations.values()].sort(
    (one, other) => one.path.split("{").length - other.path.split("{").length,
  );
  for (const { id, path } of byPath) {
    const steps = id === "getDocument" ? free(id, serveDocument(document)) : metered(id, published);
    router.get(path.replaceAll(/\{(\w+)\}/g, ":$1"), steps);
  }
  return router.routes();
}

/** Every operation is a GET. */
export const refuseOtherMethods: Step = async ({ method }, next) => {
  if (method !== "GET") throw refuse("method_not_allowed", { method });
  await next();
};

/** What no route has taken. */
export const refuseUnknownPath: Step = async ({ path }) => {
  throw refuse("not_found", { what: "resource", id: path });
};
