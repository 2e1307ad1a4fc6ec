/** The web application: the routes of its pages, rendered on the server, and their assets. It searches through the API's pipeline only. */
import type Router from "@koa/router";
import type Koa from "koa";
import { createRouter, type RequestState } from "../http/context.ts";
import { consentPath } from "../http/oauth/metadata.ts";
import type { SiteServices } from "../http/service/service-state.ts";
import { agentEnd, endingPage, endKey, keyEnd } from "./account/key-table.tsx";
import { agentsPage, createVisitorKey, keysPage } from "./account/keys-page.tsx";
import { ledgerCsv, ledgerPage } from "./account/ledger-page.tsx";
import { limitsPage } from "./account/limits-page.tsx";
import { moneyPage, setCap } from "./account/money-page.tsx";
import { searchFeed } from "./account/search-feed.ts";
import {
  deleteVisitorSearch,
  deletionPage,
  resumeVisitorSearch,
  saveVisitorSearch,
  searchesPage,
} from "./account/searches-page.tsx";
import { changeVisitorPassword, settingsPage } from "./account/settings-page.tsx";
import { answerConsent, consentPage, sendOAuthError } from "./account/sign-in/consent-page.tsx";
import { signInPage } from "./account/sign-in/sign-in-page.tsx";
import { addSignInRoutes } from "./account/sign-in/sign-in-routes.ts";
import { addDocsRoutes } from "./docs/docs-routes.tsx";
import { confirmed } from "./explorer/arrival-page.tsx";
import { comparePage } from "./explorer/compare/compare-page.tsx";
import { dealerPage } from "./explorer/dealers/dealer-page.tsx";
import { dealersPage } from "./explorer/dealers/dealers-page.tsx";
import { exportPage, startExport } from "./explorer/export/export-page.tsx";
import { exportFile, exportStatusPage, stopExport } from "./explorer/export/export-status.tsx";
import { VisitorExports } from "./explorer/export/visitor-exports.ts";
import { lookUpPage } from "./explorer/find/find-page.tsx";
import { wordSuggestions } from "./explorer/find/word-suggestions.ts";
import { listingPage } from "./explorer/listing/listing-page.tsx";
import { searchPage } from "./explorer/search/search-page.tsx";
import { valuesPage } from "./explorer/search/values-page.tsx";
import { addOperateRoutes } from "./operate/operate-routes.ts";
import { addAssets } from "./shell/assets.ts";
import { showCurrency } from "./shell/format.ts";
import { visitorForm } from "./shell/forms.tsx";
import { type PageHandler, refuseHiddenRequests, showErrors, signedInPage } from "./shell/pages.tsx";
import { frontDoor } from "./shop/front-door.tsx";

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
  addDocsRoutes(router, services);
  addExplorerRoutes(router, services);
  addAccountRoutes(router, services);
  addOperateRoutes(router, services);
  app.use(showErrors(services));
  if (!services.accounts.isOpen) app.use(services.authorization.endpoints(sendOAuthError));
  app.use(router.routes());
}

/** Adds the pages of the explorer to a router. */
function addExplorerRoutes(router: Router<RequestState>, services: SiteServices): void {
  const add = (path: string, handle: PageHandler) =>
    router.get(path, signedInPage(services, signInPage, confirmed(handle)));
  add("/", frontDoor);
  add("/shop", searchPage(services));
  add("/values/:facet", valuesPage(services.current));
  add("/find", lookUpPage(services));
  router.get("/find/suggestions", wordSuggestions(services));
  add("/listings/:listing_id", listingPage(services));
  add("/dealers", dealersPage(services));
  add("/dealers/:dealer_id", dealerPage(services.current));
  add("/compare", comparePage(services));
  const exports = new VisitorExports(services);
  add("/export", exportPage(services, exports));
  router.post("/export", visitorForm(services, startExport(services, exports)));
  add("/export/:id", exportStatusPage(exports));
  router.post("/export/:id/stop", visitorForm(services, stopExport(exports)));
  router.get("/export/:id/file", exportFile(services, exports));
}

/** Adds the pages and forms of an account to a router. */
function addAccountRoutes(router: Router<RequestState>, services: SiteServices): void {
  addSearchRoutes(router, services);
  if (services.accounts.isOpen) return;
  addSignInRoutes(router, services);
  const page = (handle: PageHandler) => signedInPage(services, signInPage, handle);
  router.get("/dashboard", page(moneyPage(services)));
  router.post("/dashboard/cap", visitorForm(services, setCap(services)));
  router.get("/dashboard/keys", page(keysPage(services)));
  router.post("/dashboard/keys", visitorForm(services, createVisitorKey(services)));
  router.get("/dashboard/agents", page(agentsPage(services)));
  for (const end of [keyEnd, agentEnd]) {
    router.get(`${end.path}/:keyId/${end.verb}`, page(endingPage(services, end)));
    router.post(`${end.path}/:keyId/${end.verb}`, visitorForm(services, endKey(services, end)));
  }
  router.get(`${consentPath}/:id`, page(consentPage(services)));
  router.post(`${consentPath}/:id`, visitorForm(services, answerConsent(services)));
  router.get("/dashboard/ledger", page(ledgerPage(services)));
  router.get("/dashboard/ledger.csv", ledgerCsv(services));
  router.get("/dashboard/limits", page(limitsPage(services)));
  router.get("/dashboard/settings", page(settingsPage(services)));
  router.post("/dashboard/password", visitorForm(services, changeVisitorPassword(services)));
}

/** Adds the pages, forms and feeds of saved searches to a router. */
function addSearchRoutes(router: Router<RequestState>, services: SiteServices): void {
  const page = (handle: PageHandler) => signedInPage(services, signInPage, handle);
  router.get("/dashboard/searches", page(searchesPage(services)));
  router.post("/dashboard/searches", visitorForm(services, saveVisitorSearch(services)));
  router.get("/dashboard/searches/:searchId/delete", page(deletionPage(services)));
  router.post("/dashboard/searches/:searchId/delete", visitorForm(services, deleteVisitorSearch(services)));
  router.post("/dashboard/searches/:searchId/resume", visitorForm(services, resumeVisitorSearch(services)));
  router.get("/feeds/:feed", searchFeed(services));
}
