/** Shows errors outside the API as pages to browsers: unknown paths, and methods that a path does not have. */
import { Abandoned } from "../../db/job.ts";
import { allowedMethods } from "../../http/allowed-methods.ts";
import type { Middleware, RequestContext } from "../../http/context.ts";
import type { SiteServices } from "../../http/service/service-state.ts";
import { errorPage, sendPage } from "./pages.tsx";
import { visitorOf } from "./visitor.ts";

export const showErrors =
  (services: SiteServices): Middleware =>
  async (context, next) => {
    try {
      await next();
    } catch (thrown) {
      if (thrown instanceof Abandoned || !isForBrowser(context)) throw thrown;
      const visitor = await visitorOf(context, services).catch(() => undefined);
      sendPage(context, errorPage(context, thrown), visitor);
      if (context.status === 405) context.set("Allow", allowedMethods(context).join(", "));
    }
  };

/** The paths whose clients are programs. */
const programPaths = /^\/(v1|mcp|oauth|\.well-known)(\/|$)/;

const isForBrowser = (context: RequestContext): boolean =>
  !programPaths.test(context.path) && context.accepts("json", "html") === "html";
