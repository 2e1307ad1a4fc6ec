/** The routes of the operators' pages, forms and downloads. */
import type Router from "@koa/router";
import { refuse } from "../../contract/errors.ts";
import type { RequestState } from "../../http/context.ts";
import type { SiteServices } from "../../http/service/service-state.ts";
import { signInPage } from "../account/sign-in/sign-in-pages.tsx";
import { formBytesMax, uploadBytesMax, type VisitorForm, visitorForm } from "../shell/forms.tsx";
import { type PageHandler, type PageVisit, signedInPage } from "../shell/pages.tsx";
import type { Visitor } from "../shell/visitor.ts";
import { accountsPage, changeAccountByForm, createAccountByForm, inviteByForm } from "./accounts-page.tsx";
import { dayPage } from "./day-page.tsx";
import { decideByForm, undoByForm } from "./decisions.tsx";
import { logPage } from "./log-page.tsx";
import { morningPage } from "./morning-page.tsx";
import { revenueDownload, revenuePage } from "./revenue-page.tsx";
import { servicePage } from "./service-page.tsx";

const isOperator = (visitor: Visitor | undefined): boolean => visitor?.identity.cached.account.isOperator === true;

/** For all other accounts, the operators' pages do not exist. */
const forOperators =
  <Visit extends Pick<PageVisit, "visitor" | "context">, Result>(handle: (visit: Visit) => Promise<Result>) =>
  async (visit: Visit): Promise<Result> => {
    if (!isOperator(visit.visitor)) throw refuse("not_found", { what: "resource", id: visit.context.path });
    return handle(visit);
  };

/** Adds the pages and forms of operators to a router. */
export function addOperateRoutes(router: Router<RequestState>, services: SiteServices): void {
  const page = (path: string, handle: PageHandler) =>
    router.get(path, signedInPage(services, signInPage, forOperators(handle)));
  const form = (path: string, handle: Parameters<typeof visitorForm>[1], bytesMax = formBytesMax) => {
    const bytesMaxOf = (visitor: Visitor | undefined) => (isOperator(visitor) ? bytesMax : formBytesMax);
    router.post(path, visitorForm(services, forOperators(handle), bytesMaxOf));
  };
  // It loads the modules that read feeds and sources, which a service does not need.
  const newFeed = () => import("./new-feed-page.tsx");
  page("/operate", morningPage(services));
  form("/operate/decide", decideByForm(services), uploadBytesMax);
  form("/operate/undo", undoByForm(services));
  page("/operate/days/:day", dayPage(services));
  page("/operate/service", servicePage(services));
  page("/operate/log", logPage(services));
  page("/operate/feeds", async (visit) => (await newFeed()).uploadPage(visit));
  form("/operate/feeds", async (sent: VisitorForm) => (await newFeed()).mapByForm(services)(sent), uploadBytesMax);
  if (!services.accounts.isOpen) {
    page("/operate/revenue", revenuePage(services));
    const revenue = forOperators(revenueDownload(services));
    router.get("/operate/revenue.csv", signedInPage(services, signInPage, revenue, "download"));
    page("/operate/accounts", accountsPage(services));
    form("/operate/accounts", createAccountByForm(services));
    page("/operate/accounts/:accountId", accountsPage(services));
    form("/operate/accounts/:accountId/invite", inviteByForm(services));
    form("/operate/accounts/:accountId/:form", changeAccountByForm(services));
  }
  // For operators and other accounts alike, other paths do not exist.
  page("/operate/{*path}", async ({ context: { path } }) => {
    throw refuse("not_found", { what: "resource", id: path });
  });
}
