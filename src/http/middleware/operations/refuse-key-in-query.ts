/** Refuses API keys in the query string, before any other check: URLs end up in logs and browser histories. */
import { refuse } from "../../../contract/errors.ts";
import { decodedName, isKeyName, splitQuery } from "../../../contract/query-string.ts";
import type { Middleware } from "../../context.ts";

export const refuseKeyInQuery: Middleware = async (context, next) => {
  for (const [rawName] of splitQuery(context.querystring)) {
    const parameter = decodedName(rawName);
    if (isKeyName(parameter)) throw refuse("query_string_api_key_rejected", { parameter });
  }
  await next();
};
