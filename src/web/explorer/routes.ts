/** The routes of the explorer. */
import type Router from "@koa/router";
import type { RequestState } from "../../http/context.ts";
import type { SiteServices } from "../../http/server.ts";
import { signInPage } from "../account/sign-in-page.tsx";
import { signedInPage } from "../shell/pages.tsx";
import { searchPage } from "./search-page.tsx";

/** Adds the pages of the explorer to a router. */
export function addExplorerRoutes(router: Router<RequestState>, services: SiteServices): void {
  router.get("/", signedInPage(services, signInPage, searchPage));
}
