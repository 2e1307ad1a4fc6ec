/** A key in the query string ends up in logs and histories; it is refused before anything else is looked at. */
import { refuse } from "../../contract/errors.ts";
import { isKeyName, pairsIn } from "../../contract/query-string.ts";
import type { Middleware } from "../context.ts";

export const refuseKeyInQuery: Middleware = async (context, next) => {
  for (const [rawName] of pairsIn(context.querystring)) {
    const parameter = plainName(rawName);
    if (isKeyName(parameter)) throw refuse("query_string_api_key_rejected", { parameter });
  }
  await next();
};

/** A name that cannot be decoded is no key's; the decoder refuses it later, in its own words. */
function plainName(rawName: string): string {
  try {
    return decodeURIComponent(rawName.replaceAll("+", " "));
  } catch {
    return rawName;
  }
}
