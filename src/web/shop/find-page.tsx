/** The target of the question box: leads to the car of a VIN or an id, to a dealer, to a page of the docs, to two compared searches, or shows the cars that words ask for. */
import { Refusal } from "../../contract/errors.ts";
import type { SiteServices } from "../../http/service/service-state.ts";
import type { TextParameters } from "../../operations/caller.ts";
import { pageNamed } from "../build/navigation.ts";
import { against } from "../market/market-search.ts";
import type { PageContent } from "../shell/document.tsx";
import { notice } from "../shell/notice.tsx";
import type { PageRequests } from "../shell/page-requests.ts";
import type { PageHandler, PageVisit, Redirect } from "../shell/pages.tsx";
import { type Interpretation, QuestionWords } from "./question-words.tsx";
import { shopPage } from "./shop-page.tsx";
import { readView, type ViewParameters, viewPath } from "./view.ts";

type PageServices = Pick<SiteServices, "current" | "photos">;

/** The longest question that the API takes. */
const questionMax = 200;

/** Returns the handler of `/find`. The cost of a page of cars includes that of understanding the question. */
export const lookUpPage =
  (services: PageServices): PageHandler =>
  async (visit) => {
    const { requests } = visit;
    const words = (visit.query.get("q") ?? "").trim().slice(0, questionMax);
    if (/^[0-9a-f]{32}$/i.test(words)) return { location: `/listings/${words.toLowerCase()}` };
    if (words === "") return { location: "/shop" };
    const page = pageNamed(words);
    if (page !== undefined) return { location: page };
    if (/^[a-hj-npr-z0-9]{17}$/i.test(words)) return findVehicle(requests, words.toUpperCase());
    const [show = "", ...others] = words.split(against);
    if (show !== "" && others.some((other) => other !== ""))
      return { location: `/market?${new URLSearchParams({ show, against: others.join(" against ") })}` };
    return findWords(visit, words, services);
  };

async function findVehicle(requests: PageRequests, vin: string): Promise<PageContent | Redirect> {
  try {
    const { data } = await requests.call("getVin", {}, { vin });
    return data.latest_listing === null ? nothingFound(vin) : { location: `/listings/${data.latest_listing.id}` };
  } catch (thrown) {
    if (thrown instanceof Refusal && thrown.code === "not_found") return nothingFound(vin);
    throw thrown;
  }
}

/** Shows the cars that a question asks for, or leads to the dealer that it names. */
async function findWords(visit: PageVisit, words: string, services: PageServices): Promise<PageContent | Redirect> {
  const { requests } = visit;
  const { data } = await requests.call("interpretQuestion", { q: words });
  const { filters, spans } = data;
  if (spans.length === 0) return nothingFound(words, data);
  const { dealer_id: dealer, ...others } = filters;
  if (dealer !== undefined && !dealer.includes(",") && Object.keys(others).length === 0)
    return { location: `/dealers/${dealer}` };
  const view = viewOf(filters);
  const pathOf = (found: TextParameters): string => viewPath(viewOf(found));
  const explained = <QuestionWords words={words} interpretation={data} pathOf={pathOf} />;
  requests.endLookUp();
  const content = await shopPage(services, { words, explained })({ ...visit, query: new URLSearchParams(view) });
  return "location" in content ? content : { ...content, address: viewPath(view) };
}

const viewOf = (filters: TextParameters): ViewParameters => readView(new URLSearchParams(filters));

/** The page without cars: no word was understood, or no car has the VIN. */
const nothingFound = (words: string, interpretation?: Interpretation): PageContent => ({
  title: "Nothing found",
  door: "shop",
  status: 404,
  question: words,
  ...notice({
    sentence: ["Nothing was found for ", { text: `“${words}”`, mark: "attention" }, "."],
    car: "hatch",
    ways: [
      ["/shop", "All cars"],
      ...(interpretation === undefined ? [[`/docs/findComparables?vin=${words}`, "Value it by its VIN"] as const] : []),
    ],
    children:
      interpretation === undefined ? (
        <p>No car has this VIN. One that was sold keeps its page; a mistyped VIN does not have one.</p>
      ) : (
        <QuestionWords words={words} interpretation={interpretation} pathOf={(found) => viewPath(found)} />
      ),
    more: (
      <p class="mute">
        A question names a make, a model, a price, a place or equipment: used AWD SUV under 25k near 98402.
      </p>
    ),
  }),
});
