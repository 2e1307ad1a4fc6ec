/** The frame of the operator's pages, which only operator accounts see. */
import type Router from "@koa/router";
import type { ComponentChildren, JSX } from "preact";
import { refuse } from "../../contract/errors.ts";
import type { RequestContext, RequestState } from "../../http/context.ts";
import type { SiteServices } from "../../http/service/service-state.ts";
import { signInPage } from "../account/sign-in/sign-in-page.tsx";
import { framedPage } from "../shell/blocks.tsx";
import type { PageContent } from "../shell/document.tsx";
import { formBytesMax, type VisitorForm, visitorForm } from "../shell/forms.tsx";
import { type PageHandler, type PageVisit, type Redirect, signedInPage } from "../shell/pages.tsx";
import { type Visitor, visitorOf } from "../shell/visitor.ts";

const pages = [
  { path: "/operator", text: "Deliveries" },
  { path: "/operator/sources", text: "Sources" },
  { path: "/operator/feeds", text: "New feed" },
  { path: "/operator/accounts", text: "Accounts" },
  { path: "/operator/service", text: "Service" },
  { path: "/operator/audit", text: "Audit log" },
] as const;

export const operatorPage = (
  path: (typeof pages)[number]["path"],
  title: string,
  body: ComponentChildren,
): PageContent => framedPage({ door: "operate", pages, path }, title, body);

export const AccountLink = ({ id }: { readonly id: string | null }): JSX.Element | null =>
  id === null ? null : <a href={`/operator/accounts/${id}`}>{id}</a>;

const isOperator = (visitor: Visitor | undefined): boolean => visitor?.identity.cached.account.isOperator === true;

/** For all other accounts, the operator's view does not exist. */
function requireOperator({ visitor, context }: Pick<PageVisit, "visitor" | "context">): void {
  if (!isOperator(visitor)) throw refuse("not_found", { what: "resource", id: context.path });
}

const forOperators =
  <Visit extends Pick<PageVisit, "visitor" | "context">, Result>(handle: (visit: Visit) => Promise<Result>) =>
  async (visit: Visit): Promise<Result> => {
    requireOperator(visit);
    return handle(visit);
  };

/** Returns the operator that a download is for; undefined if its browser is not signed in. */
export async function operatorOf(context: RequestContext, services: SiteServices): Promise<Visitor | undefined> {
  const visitor = await visitorOf(context, services, "download");
  if (visitor !== undefined) requireOperator({ visitor, context });
  return visitor;
}

/** Adds the answer to all other paths of the operator's view to a router: 404, for operators and other accounts alike. */
export const addMissingOperatorPages = (router: Router<RequestState>, services: SiteServices): void =>
  addOperatorPage(router, services, [
    "/operator/{*path}",
    async ({ context: { path } }) => {
      throw refuse("not_found", { what: "resource", id: path });
    },
  ]);

export const addOperatorPage = (
  router: Router<RequestState>,
  services: SiteServices,
  [path, handle]: readonly [path: string, handle: PageHandler],
): void => void router.get(path, signedInPage(services, signInPage, forOperators(handle)));

export const addOperatorForm = (
  router: Router<RequestState>,
  services: SiteServices,
  [path, handle]: readonly [path: string, handle: (form: VisitorForm) => Promise<PageContent | Redirect>],
  bytesMax = formBytesMax,
): void =>
  void router.post(
    path,
    visitorForm(services, forOperators(handle), (visitor) => (isOperator(visitor) ? bytesMax : formBytesMax)),
  );
