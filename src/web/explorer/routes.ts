/** The routes of the explorer. */
import type Router from "@koa/router";
import type { RequestState } from "../../http/context.ts";
import type { SiteServices } from "../../http/service/service-state.ts";
import { signInPage } from "../account/sign-in-page.tsx";
import { type PageHandler, signedInPage } from "../shell/pages.tsx";
import { dealerPage } from "./dealer-page.tsx";
import { lookUpPage } from "./find/find-page.tsx";
import { listingPage } from "./listing/listing-page.tsx";
import { searchPage } from "./search/search-page.tsx";

/** Adds the pages of the explorer to a router. */
export function addExplorerRoutes(router: Router<RequestState>, services: SiteServices): void {
  const add = (path: string, handle: PageHandler) => router.get(path, signedInPage(services, signInPage, handle));
  add("/", searchPage(services.current));
  add("/find", lookUpPage(services.current));
  add("/listings/:listing_id", listingPage(services.current));
  add("/dealers/:dealer_id", dealerPage);
}
