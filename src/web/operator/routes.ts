/** The routes of the operator's view. */
import type Router from "@koa/router";
import type { RequestState } from "../../http/context.ts";
import type { SiteServices } from "../../http/service/service-state.ts";
import { accountPage, changeAccountByForm, inviteByForm } from "./account-page.tsx";
import { accountsPage } from "./accounts-page.tsx";
import { auditPage } from "./audit-page.tsx";
import { ingestDayPage, ingestPage } from "./ingest-page.tsx";
import { addMissingOperatorPages, addOperatorForm, addOperatorPage } from "./operator-page.tsx";
import { decideQueuedReview, servicePage } from "./service-page.tsx";

/** Adds the pages and forms of operators to a router. */
export function addOperatorRoutes(router: Router<RequestState>, services: SiteServices): void {
  addOperatorPage(router, services, ["/operator", servicePage(services)]);
  addOperatorPage(router, services, ["/operator/accounts", accountsPage(services)]);
  addOperatorPage(router, services, ["/operator/accounts/:accountId", accountPage(services)]);
  addOperatorPage(router, services, ["/operator/ingest", ingestPage(services)]);
  addOperatorPage(router, services, ["/operator/ingest/:day", ingestDayPage(services)]);
  addOperatorPage(router, services, ["/operator/audit", auditPage(services)]);
  addOperatorForm(router, services, ["/operator/reviews/:accountId", decideQueuedReview(services)]);
  addOperatorForm(router, services, ["/operator/accounts/:accountId/invite", inviteByForm(services)]);
  addOperatorForm(router, services, ["/operator/accounts/:accountId/:form", changeAccountByForm(services)]);
  addMissingOperatorPages(router, services);
}
