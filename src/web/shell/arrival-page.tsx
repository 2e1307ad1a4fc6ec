/** The page that asks before an account is charged for what another site leads to. */
import type { PageContent } from "./document.tsx";
import { noticePage } from "./notice.tsx";
import type { PageHandler } from "./pages.tsx";

/** Asks before a page is shown, and charged, to which a link or a script of another site leads. */
export const confirmed =
  (handle: PageHandler): PageHandler =>
  async (visit) => {
    const { context, visitor } = visit;
    return !visitor.isFree && ["cross-site", "same-site"].includes(context.get("Sec-Fetch-Site"))
      ? arrivalPage(`${context.path}${context.search}`)
      : handle(visit);
  };

const arrivalPage = (target: string): PageContent =>
  noticePage(
    "Open this page?",
    "Another site led here. Showing the page requests data, which is charged to your account.",
    [target, "Show it"],
  );
