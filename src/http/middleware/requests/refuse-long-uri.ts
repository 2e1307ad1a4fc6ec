/** Refuses paths and queries that are longer than `uriBytesMax`. The HTTP parser refuses those that exceed `headerBytesMax`. */
import { refuse } from "../../../contract/errors.ts";
import type { Middleware } from "../../context.ts";
import { uriBytesMax } from "../../limits.ts";

export const refuseLongUri: Middleware = async ({ req: { url = "" } }, next) => {
  if (url.length > uriBytesMax) throw refuse("uri_too_long", { limit: uriBytesMax });
  await next();
};
