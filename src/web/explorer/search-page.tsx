/** The search: filters and facets beside results. */
import { count } from "../shell/format.ts";
import type { PageHandler } from "../shell/pages.tsx";

/** The page at `/`. */
export const searchPage: PageHandler = async ({ requests }) => {
  const { pagination } = await requests.ask("searchListings", { limit: "24" });
  return {
    title: "Explorer",
    section: "explorer",
    body: <h1>{count(pagination.total)} listings</h1>,
  };
};
