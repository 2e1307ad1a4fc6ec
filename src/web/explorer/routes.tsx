/** The routes of the explorer. */
import type Router from "@koa/router";
import type { RequestState } from "../../http/context.ts";
import type { SiteServices } from "../../http/service/service-state.ts";
import { signInPage } from "../account/sign-in-page.tsx";
import type { PageContent } from "../shell/document.tsx";
import { type PageHandler, signedInPage } from "../shell/pages.tsx";
import { dealerPage } from "./dealer-page.tsx";
import { lookUpPage } from "./find/find-page.tsx";
import { listingPage } from "./listing/listing-page.tsx";
import { searchPage } from "./search/search-page.tsx";

/** Adds the pages of the explorer to a router. */
export function addExplorerRoutes(router: Router<RequestState>, services: SiteServices): void {
  const add = (path: string, handle: PageHandler) =>
    router.get(path, signedInPage(services, signInPage, confirmed(handle)));
  add("/", searchPage(services.current));
  add("/find", lookUpPage(services.current));
  add("/listings/:listing_id", listingPage(services.current));
  add("/dealers/:dealer_id", dealerPage);
}

/** Asks before a page is shown, and charged, to which a link or a script of another site leads. */
const confirmed =
  (handle: PageHandler): PageHandler =>
  async (visit) => {
    const { context } = visit;
    return ["cross-site", "same-site"].includes(context.get("Sec-Fetch-Site"))
      ? arrivalPage(`${context.path}${context.search}`)
      : handle(visit);
  };

const arrivalPage = (target: string): PageContent => ({
  title: "Open this page?",
  section: "explorer",
  body: (
    <section class="narrow">
      <h1>Open this page?</h1>
      <p>Another site led here. Showing the page requests data, which is charged to your account.</p>
      <p>
        <a class="button" href={target}>
          Show it
        </a>
      </p>
    </section>
  ),
});
