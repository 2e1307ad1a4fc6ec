/** The web application: the routes of its pages, rendered on the server, and their assets. It searches through the API's pipeline only. */
import type Router from "@koa/router";
import type Koa from "koa";
import { createRouter, type Middleware, type RequestState } from "../http/context.ts";
import type { SiteServices } from "../http/service/service-state.ts";
import { addAccountRoutes } from "./account/account-routes.ts";
import { sendOAuthError } from "./account/sign-in/consent-page.tsx";
import { signInPage } from "./account/sign-in/sign-in-pages.tsx";
import { addBuildRoutes } from "./build/build-routes.tsx";
import { carPage } from "./car/car-page.tsx";
import { dealersPage } from "./lot/dealers-page.tsx";
import { chooseLot, lotPage } from "./lot/lot-page.tsx";
import { marketPage } from "./market/market-page.tsx";
import { addOperateRoutes } from "./operate/operate-routes.ts";
import { addAssets } from "./shell/assets.ts";
import { showCurrency } from "./shell/format.ts";
import { visitorForm } from "./shell/forms.tsx";
import { confirmed, type PageHandler, refuseHiddenRequests, showErrors, signedInPage } from "./shell/pages.tsx";
import { sendExport } from "./shop/export.tsx";
import { lookUpPage } from "./shop/find-page.tsx";
import { frontDoor } from "./shop/front-door.tsx";
import { shopPage } from "./shop/shop-page.tsx";
import { wordSuggestions } from "./shop/word-suggestions.ts";

/** Adds the web application to a service. It passes requests for other paths on. */
export function mountSite(app: Koa<RequestState>, services: SiteServices): void {
  const router = createRouter();
  addAssets(router);
  router.use(refuseHiddenRequests);
  router.use(async (_ctx, next) => {
    if (services.current.version !== undefined)
      await services.current.use(async ({ manifest }) => showCurrency(manifest.currency));
    return next();
  });
  addBuildRoutes(router, services);
  addRedirects(router);
  addExplorerRoutes(router, services);
  addAccountRoutes(router, services);
  addOperateRoutes(router, services);
  app.use(showErrors(services));
  if (!services.accounts.isOpen) app.use(services.authorization.endpoints(sendOAuthError));
  const pages = router.routes() as Middleware;
  // The router compares a path with that of each page; operations have others. Like the router's own function, this one names the router.
  const passOperations: Middleware = (context, next) =>
    context.path.startsWith("/v1/") ? next() : pages(context, next);
  app.use(Object.assign(passOperations, { router }));
}

/** The addresses of former pages, and where they lead, with the same parameters. */
const redirects: readonly (readonly [from: string, to: string])[] = [
  ["/compare", "/shop?view=table"],
  ["/value", "/docs/findComparables"],
  ["/export", "/shop?view=table"],
  ["/values/:facet", "/shop"],
  ["/docs/search", "/find"],
  ["/dashboard", "/account"],
  ["/dashboard/keys", "/account#keys"],
  ["/dashboard/agents", "/account#keys"],
  ["/dashboard/ledger", "/account#charges"],
  ["/dashboard/ledger.csv", "/account/charges.csv"],
  ["/dashboard/limits", "/account#tier"],
  ["/dashboard/searches", "/account#save"],
  ["/dashboard/settings", "/account#password"],
  ["/operator", "/operate"],
  ["/operator/sources", "/operate/service"],
  ["/operator/audit", "/operate/log"],
  ["/operator/ingest/:day", "/operate/days/:day"],
  ["/operator/ingest/:day/quality", "/operate/days/:day"],
  ["/operator/:page", "/operate/:page"],
  ["/operator/:page/:id", "/operate/:page/:id"],
];

/** Adds the addresses of former pages to a router. */
function addRedirects(router: Router<RequestState>): void {
  for (const [from, to] of redirects)
    router.get(from, (context) => {
      const path = to.replaceAll(/:(\w+)/g, (_, name) => encodeURIComponent(context.params[name] ?? ""));
      const target = new URL(path, "http://service");
      for (const [name, value] of new URLSearchParams(context.querystring)) target.searchParams.append(name, value);
      context.status = 301;
      context.redirect(`${target.pathname}${target.search}${target.hash}`);
    });
}

/** Adds the pages of the explorer to a router. */
function addExplorerRoutes(router: Router<RequestState>, services: SiteServices): void {
  const add = (path: string, handle: PageHandler) =>
    router.get(path, signedInPage(services, signInPage, confirmed(handle)));
  add("/", frontDoor(services));
  add("/shop", shopPage(services));
  add("/find", lookUpPage(services));
  router.get("/find/suggestions", wordSuggestions(services));
  add("/listings/:listing_id", carPage(services));
  add("/dealers", dealersPage);
  add("/dealers/:dealer_id", lotPage);
  router.post("/dealers/:dealer_id", visitorForm(services, chooseLot));
  add("/market", marketPage(services));
  router.post("/export", visitorForm(services, sendExport(services)));
}
