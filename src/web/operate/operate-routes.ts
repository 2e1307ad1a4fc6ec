/** The routes of the operators' pages, forms and downloads. */
import type Router from "@koa/router";
import { refuse } from "../../contract/errors.ts";
import type { RequestState } from "../../http/context.ts";
import type { SiteServices } from "../../http/service/service-state.ts";
import { uploadBytesMax, type VisitorForm } from "../shell/forms.tsx";
import type { PageHandler } from "../shell/pages.tsx";
import {
  accountsPage,
  changeAccountByForm,
  changeConfirmation,
  createAccountByForm,
  inviteByForm,
} from "./accounts-page.tsx";
import { dayPage, qualityDownload } from "./day-page.tsx";
import { correctPage, decideByForm, undoByForm } from "./decisions.tsx";
import { logPage } from "./log-page.tsx";
import { morningPage } from "./morning-page.tsx";
import { addOperateForm, addOperatePage } from "./operate-page.tsx";
import { revenueDownload, revenuePage } from "./revenue-page.tsx";
import { decideQueuedReview, servicePage } from "./service-page.tsx";

type FormHandler = Parameters<typeof addOperateForm>[2][1];

/** Adds the pages and forms of operators to a router. */
export function addOperateRoutes(router: Router<RequestState>, services: SiteServices): void {
  const page = (path: string, handle: PageHandler) => addOperatePage(router, services, [path, handle]);
  const form = (path: string, handle: FormHandler, bytesMax?: number) =>
    addOperateForm(router, services, [path, handle], bytesMax);
  // It loads the modules that read feeds and sources, which a service does not need.
  const newFeed = () => import("./new-feed-page.tsx");
  page("/operate", morningPage(services));
  page("/operate/correct", correctPage(services));
  form("/operate/decide", decideByForm(services), uploadBytesMax);
  form("/operate/undo", undoByForm(services));
  router.get("/operate/days/:day/quality.csv", qualityDownload(services));
  page("/operate/days/:day", dayPage(services));
  page("/operate/service", servicePage(services));
  page("/operate/log", logPage(services));
  page("/operate/feeds", async (visit) => (await newFeed()).uploadPage(visit));
  form("/operate/feeds", async (sent: VisitorForm) => (await newFeed()).mapByForm(services)(sent), uploadBytesMax);
  if (!services.accounts.isOpen) {
    page("/operate/revenue", revenuePage(services));
    router.get("/operate/revenue.csv", revenueDownload(services));
    page("/operate/accounts", accountsPage(services));
    form("/operate/accounts", createAccountByForm(services));
    page("/operate/accounts/:accountId", accountsPage(services));
    page("/operate/accounts/:accountId/:form", changeConfirmation(services));
    form("/operate/accounts/:accountId/invite", inviteByForm(services));
    form("/operate/accounts/:accountId/:form", changeAccountByForm(services));
    form("/operate/reviews/:accountId", decideQueuedReview(services));
  }
  // For operators and other accounts alike, other paths do not exist.
  page("/operate/{*path}", async ({ context: { path } }) => {
    throw refuse("not_found", { what: "resource", id: path });
  });
  router.get(["/operator", "/operator/{*path}"], (context) => {
    context.status = 301;
    context.redirect(`${formerPath(context.path)}${context.search}`);
  });
}

/** The pages of the former addresses that are not at the same path below `/operate`. */
const moved: readonly (readonly [former: RegExp, path: string])[] = [
  [/^\/operator\/sources$/, "/operate/service"],
  [/^\/operator\/audit$/, "/operate/log"],
  [/^\/operator\/ingest\/([\d-]+)\/quality$/, "/operate/days/$1"],
  [/^\/operator\/ingest\//, "/operate/days/"],
  [/^\/operator/, "/operate"],
];

function formerPath(path: string): string {
  const [former, target] = moved.find(([pattern]) => pattern.test(path)) ?? ["", ""];
  return path.replace(former, target);
}
