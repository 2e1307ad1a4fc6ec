/** The frame of the operator's pages, which only operator accounts see. */
import type Router from "@koa/router";
import type { ComponentChildren, JSX } from "preact";
import { refuse } from "../../contract/errors.ts";
import type { RequestContext, RequestState } from "../../http/context.ts";
import type { SiteServices } from "../../http/service/service-state.ts";
import { signInPage } from "../account/sign-in-page.tsx";
import { framedPage } from "../shell/blocks.tsx";
import type { PageContent } from "../shell/document.tsx";
import { type VisitorForm, visitorForm } from "../shell/forms.tsx";
import { type PageHandler, type Redirect, signedInPage } from "../shell/pages.tsx";
import { type Visitor, visitorOf } from "../shell/visitor.ts";

const pages = [
  { path: "/operator", text: "Deliveries" },
  { path: "/operator/accounts", text: "Accounts" },
  { path: "/operator/service", text: "Service" },
  { path: "/operator/audit", text: "Audit log" },
] as const;

export const operatorPage = (
  path: (typeof pages)[number]["path"],
  title: string,
  body: ComponentChildren,
): PageContent => framedPage({ section: "operator", pages, path }, title, body);

export const AccountLink = ({ id }: { readonly id: string | null }): JSX.Element | null =>
  id === null ? null : <a href={`/operator/accounts/${id}`}>{id}</a>;

/** For all other accounts, the operator's view does not exist. */
function requireOperator({ identity }: Visitor, { path }: RequestContext): void {
  if (!identity.cached.account.isOperator) throw refuse("not_found", { what: "resource", id: path });
}

/** Returns the operator that a download is for; undefined if its browser is not signed in. */
export async function operatorOf(context: RequestContext, services: SiteServices): Promise<Visitor | undefined> {
  const visitor = await visitorOf(context, services, "download");
  if (visitor !== undefined) requireOperator(visitor, context);
  return visitor;
}

/** Refuses unknown pages with 404, for operators and other accounts alike. */
const missingPage: PageHandler = async ({ context: { path } }) => {
  throw refuse("not_found", { what: "resource", id: path });
};

/** Adds the answer to all other paths of the operator's view to a router. */
export const addMissingOperatorPages = (router: Router<RequestState>, services: SiteServices): void =>
  addOperatorPage(router, services, ["/operator/{*path}", missingPage]);

export function addOperatorPage(
  router: Router<RequestState>,
  services: SiteServices,
  [path, handle]: readonly [path: string, handle: PageHandler],
): void {
  const guarded: PageHandler = async (visit) => {
    requireOperator(visit.visitor, visit.context);
    return handle(visit);
  };
  router.get(path, signedInPage(services, signInPage, guarded));
}

export function addOperatorForm(
  router: Router<RequestState>,
  services: SiteServices,
  [path, handle]: readonly [path: string, handle: (form: VisitorForm) => Promise<PageContent | Redirect>],
): void {
  const guarded = async (form: VisitorForm): Promise<PageContent | Redirect> => {
    requireOperator(form.visitor, form.context);
    return handle(form);
  };
  router.post(path, visitorForm(services, guarded));
}
