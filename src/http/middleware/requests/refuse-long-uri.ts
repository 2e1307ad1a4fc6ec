/** Refuses paths and queries that are longer than `bounds.uriBytes`. The HTTP parser refuses those that exceed `bounds.headerBytes`. */
import { bounds } from "../../../base/bounds.ts";
import { refuse } from "../../../contract/errors.ts";
import type { Middleware } from "../../context.ts";

export const refuseLongUri: Middleware = async ({ req: { url = "" } }, next) => {
  if (url.length > bounds.uriBytes) throw refuse("uri_too_long", { limit: bounds.uriBytes });
  await next();
};
