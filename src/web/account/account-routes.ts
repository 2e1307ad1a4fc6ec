/** The routes of an account: its page, its forms, and the pages that ask before something ends. */
import type Router from "@koa/router";
import type { RequestState } from "../../http/context.ts";
import { consentPath } from "../../http/oauth/metadata.ts";
import type { SiteServices } from "../../http/service/service-state.ts";
import { visitorForm } from "../shell/forms.tsx";
import { type PageHandler, signedInPage } from "../shell/pages.tsx";
import { ownAccountPage } from "./account-page.tsx";
import { chargesCsv } from "./charges.tsx";
import { createVisitorKey, endKey } from "./keys.tsx";
import { setCap } from "./limits.tsx";
import { changeVisitorPassword } from "./password.tsx";
import { changeVisitorSearch, saveVisitorSearch } from "./saved.tsx";
import { searchFeed } from "./search-feed.ts";
import { answerConsent, consentPage } from "./sign-in/consent-page.tsx";
import { signInPage } from "./sign-in/sign-in-pages.tsx";
import { addSignInRoutes } from "./sign-in/sign-in-routes.ts";

/** Adds the pages and forms of an account to a router; of open access, those of saved searches. */
export function addAccountRoutes(router: Router<RequestState>, services: SiteServices): void {
  const page = (handle: PageHandler) => signedInPage(services, signInPage, handle);
  router.get("/account", page(ownAccountPage(services)));
  router.post("/account/searches", visitorForm(services, saveVisitorSearch(services)));
  for (const change of ["delete", "resume"] as const)
    router.post(`/account/searches/:searchId/${change}`, visitorForm(services, changeVisitorSearch(services, change)));
  router.get("/feeds/:feed", searchFeed(services));
  if (services.accounts.isOpen) return;
  addSignInRoutes(router, services);
  router.post("/account/cap", visitorForm(services, setCap(services)));
  router.post("/account/keys", visitorForm(services, createVisitorKey(services)));
  router.post("/account/keys/:keyId/revoke", visitorForm(services, endKey(services)));
  router.get("/account/charges.csv", signedInPage(services, signInPage, chargesCsv(services), "download"));
  router.post("/account/password", visitorForm(services, changeVisitorPassword(services)));
  router.get(`${consentPath}/:id`, page(consentPage(services)));
  router.post(`${consentPath}/:id`, visitorForm(services, answerConsent(services)));
}
