/** The web application: pages rendered on the server, and their assets. It searches through the API's pipeline only. */
import Router from "@koa/router";
import type Koa from "koa";
import type { RequestState } from "../http/context.ts";
import type { SiteServices } from "../http/service/service-state.ts";
import { sendOAuthError } from "./account/consent-page.tsx";
import { addAccountRoutes } from "./account/routes.ts";
import { addExplorerRoutes } from "./explorer/routes.tsx";
import { addOperatorRoutes } from "./operator/routes.ts";
import { serveAssets } from "./shell/assets.ts";
import { refuseHiddenRequests } from "./shell/refuse-hidden-requests.ts";
import { showErrors } from "./shell/show-errors.ts";

/** Adds the web application to a service. It passes requests for other paths on. */
export function mountSite(app: Koa<RequestState>, services: SiteServices): void {
  const router = new Router<RequestState>({ sensitive: true, strict: true });
  router.use(refuseHiddenRequests);
  addExplorerRoutes(router, services);
  addAccountRoutes(router, services);
  addOperatorRoutes(router, services);
  app.use(showErrors(services));
  app.use(serveAssets);
  app.use(services.authorization.endpoints(sendOAuthError));
  app.use(router.routes());
}
