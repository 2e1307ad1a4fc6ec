/** The target of the find box: finds a vehicle by VIN, a listing by id, or listings by the words of a question, and shows the page of the result. */
import { Refusal } from "../../../contract/errors.ts";
import type { AnswerOf } from "../../../contract/types.ts";
import type { SiteServices } from "../../../http/service/service-state.ts";
import type { TextParameters } from "../../../operations/caller.ts";
import { carPage } from "../../car/car-page.tsx";
import type { PageContent } from "../../shell/document.tsx";
import type { PageRequests } from "../../shell/page-requests.ts";
import type { PageHandler, PageVisit, Redirect } from "../../shell/pages.tsx";
import { MissingParts } from "../api-requests.tsx";
import { dealerPage } from "../dealers/dealer-page.tsx";
import { searchPage } from "../search/search-page.tsx";
import { readView, viewPath } from "../view.ts";
import { QuestionWords } from "./question-words.tsx";

type Interpretation = AnswerOf<"interpretQuestion">["data"];

/** A found page: its address, its handler, and the handler's inputs. */
interface FoundPage extends Partial<Pick<PageVisit, "params" | "query">> {
  readonly address: string;
  readonly handle: PageHandler;
}

type PageServices = Pick<SiteServices, "current" | "photos">;

/** The longest question that the API takes. */
const questionMax = 200;

/** Returns the handler of `/find`. It shows the found page, so that the cost of the page includes that of finding it. */
export const lookUpPage =
  (services: PageServices): PageHandler =>
  async (visit) => {
    const words = (visit.query.get("q") ?? "").trim().slice(0, questionMax);
    if (/^[0-9a-f]{32}$/i.test(words)) return { location: `/listings/${words.toLowerCase()}` };
    if (words === "") return { location: "/" };
    const found = /^[a-hj-npr-z0-9]{17}$/i.test(words)
      ? await findVehicle(visit.requests, words.toUpperCase(), services)
      : await findWords(visit.requests, words, services);
    return "handle" in found ? showFound(visit, words, found) : found;
  };

/** Shows a page that was found, or only its address if the API refuses its request. */
async function showFound(
  visit: PageVisit,
  words: string,
  { address, handle, ...read }: FoundPage,
): Promise<PageContent | Redirect> {
  const { requests } = visit;
  requests.endLookUp();
  const content = await requests.loadPart("page that was found", () => handle({ ...visit, ...read }));
  if (content === undefined) return nothingShown(requests, words, { path: address });
  return "location" in content ? content : { ...content, address };
}

async function findVehicle(
  requests: PageRequests,
  vin: string,
  services: PageServices,
): Promise<PageContent | FoundPage> {
  try {
    const { data } = await requests.call("getVin", {}, { vin });
    if (data.latest_listing === null) return nothingShown(requests, vin);
    const { id } = data.latest_listing;
    return { address: `/listings/${id}`, handle: carPage(services), params: { listing_id: id } };
  } catch (thrown) {
    if (thrown instanceof Refusal && thrown.code === "not_found") return nothingShown(requests, vin);
    throw thrown;
  }
}

/** Finds the listings that a question asks for, or the dealer that it names. */
async function findWords(
  requests: PageRequests,
  words: string,
  services: PageServices,
): Promise<PageContent | FoundPage> {
  const { data, meta } = await requests.call("interpretQuestion", { q: words });
  const { filters, spans } = data;
  if (spans.length === 0) return nothingShown(requests, words, { interpretation: data });
  const { dealer_id: dealer, ...others } = filters;
  if (dealer !== undefined && !dealer.includes(",") && Object.keys(others).length === 0)
    return { address: `/dealers/${dealer}`, handle: dealerPage(services.current), params: { dealer_id: dealer } };
  const viewOf = (found: TextParameters) => readView(new URLSearchParams(withYearBounds(found)), meta.as_of);
  const view = viewOf(filters);
  const handle = searchPage(services, {
    words,
    explained: <QuestionWords words={words} interpretation={data} pathOf={(found) => viewPath(viewOf(found))} />,
  });
  return { address: viewPath(view), handle, query: new URLSearchParams(view) };
}

/** Returns the parameters of a view, which has years in a row as bounds. */
function withYearBounds({ year = "", ...filters }: TextParameters): Interpretation["filters"] {
  const years = year.split(",").map(Number).sort();
  const first = years[0] ?? 0;
  const last = years.at(-1) ?? 0;
  if (year === "") return filters;
  return last - first === years.length - 1
    ? { ...filters, min_year: String(first), max_year: String(last) }
    : { ...filters, year };
}

interface NothingFound {
  /** The address of the page that was found, but could not be shown. */
  readonly path?: string;
  readonly interpretation?: Interpretation;
}

/** The page without listings: nothing was found, or the API refused the request for the result. */
function nothingShown(requests: PageRequests, words: string, { path, interpretation }: NothingFound = {}): PageContent {
  const title = path === undefined ? "Nothing found" : "Found";
  return {
    title,
    door: "shop",
    status: path === undefined ? 404 : 200,
    question: words,
    body: (
      <section class="narrow">
        <h1>{`${title} for “${words}”`}</h1>
        <MissingParts missing={requests.missing} />
        {interpretation === undefined ? null : (
          <QuestionWords words={words} interpretation={interpretation} pathOf={viewPath} />
        )}
        {path === undefined ? null : (
          <p>
            <a href={path}>The page that was found</a>
          </p>
        )}
        <p>
          <a href="/">All listings</a>
        </p>
      </section>
    ),
  };
}
