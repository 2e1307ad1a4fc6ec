/** The routes of sign-in and of the dashboard. */
import type Router from "@koa/router";
import type { RequestState } from "../../http/context.ts";
import { consentPath } from "../../http/oauth/metadata.ts";
import type { SiteServices } from "../../http/service/service-state.ts";
import { visitorForm } from "../shell/forms.tsx";
import { type PageHandler, signedInPage } from "../shell/pages.tsx";
import { agentsPage, disconnectAgent, disconnectionPage } from "./agents-page.tsx";
import { answerConsent, consentPage } from "./consent-page.tsx";
import { createVisitorKey, keysPage, revocationPage, revokeVisitorKey } from "./keys-page.tsx";
import { ledgerCsv, ledgerPage } from "./ledger-page.tsx";
import { limitsPage } from "./limits-page.tsx";
import { moneyPage, setCap } from "./money-page.tsx";
import { changeVisitorPassword, settingsPage } from "./settings-page.tsx";
import { signInPage } from "./sign-in-page.tsx";
import { addSignInRoutes } from "./sign-in-routes.ts";

/** Adds the pages and forms of an account to a router. */
export function addAccountRoutes(router: Router<RequestState>, services: SiteServices): void {
  addSignInRoutes(router, services);
  const page = (handle: PageHandler) => signedInPage(services, signInPage, handle);
  router.get("/dashboard", page(moneyPage(services)));
  router.post("/dashboard/cap", visitorForm(services, setCap(services)));
  router.get("/dashboard/keys", page(keysPage(services)));
  router.post("/dashboard/keys", visitorForm(services, createVisitorKey(services)));
  router.get("/dashboard/keys/:keyId/revoke", page(revocationPage(services)));
  router.post("/dashboard/keys/:keyId/revoke", visitorForm(services, revokeVisitorKey(services)));
  router.get("/dashboard/agents", page(agentsPage(services)));
  router.get("/dashboard/agents/:keyId/disconnect", page(disconnectionPage(services)));
  router.post("/dashboard/agents/:keyId/disconnect", visitorForm(services, disconnectAgent(services)));
  router.get(`${consentPath}/:id`, page(consentPage(services)));
  router.post(`${consentPath}/:id`, visitorForm(services, answerConsent(services)));
  router.get("/dashboard/ledger", page(ledgerPage(services)));
  router.get("/dashboard/ledger.csv", ledgerCsv(services));
  router.get("/dashboard/limits", page(limitsPage(services)));
  router.get("/dashboard/settings", page(settingsPage));
  router.post("/dashboard/password", visitorForm(services, changeVisitorPassword(services)));
}
