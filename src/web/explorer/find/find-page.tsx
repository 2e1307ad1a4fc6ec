/** The target of the find box: finds a vehicle by VIN, a listing by id, or listings by words, and shows the page of the result. */
import { Refusal } from "../../../contract/errors.ts";
import type { TextParameters } from "../../../operations/operation-request.ts";
import type { CurrentVersion } from "../../../serving/current-version.ts";
import type { PageContent } from "../../shell/document.tsx";
import { plainWords } from "../../shell/format.ts";
import type { PageRequests } from "../../shell/page-requests.ts";
import type { PageHandler, PageVisit, Redirect } from "../../shell/pages.tsx";
import { MissingParts } from "../api-requests.tsx";
import { dealerPage } from "../dealer-page.tsx";
import { listingPage } from "../listing/listing-page.tsx";
import { searchPage } from "../search/search-page.tsx";
import { viewPath } from "../view.ts";
import { FindBox } from "./find-box.tsx";
import { type MatchedWords, matchWords, type NamedValue } from "./word-matching.ts";

/** A found page: its address, its handler, and the handler's inputs. */
interface FoundPage extends Partial<Pick<PageVisit, "params" | "query">> {
  readonly address: string;
  readonly handle: PageHandler;
}

/** Returns the handler of `/find`. It shows the found page in its place, so that the cost of the page includes that of finding it. */
export const lookUpPage =
  (current: CurrentVersion): PageHandler =>
  async (visit) => {
    const words = (visit.query.get("q") ?? "").trim();
    if (/^[0-9a-f]{32}$/i.test(words)) return { location: `/listings/${words.toLowerCase()}` };
    if (words === "") return { location: "/" };
    const found = /^[a-hj-npr-z0-9]{17}$/i.test(words)
      ? await findVehicle(visit.requests, words.toUpperCase(), current)
      : await findWords(visit.requests, words, current);
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
  current: CurrentVersion,
): Promise<PageContent | FoundPage> {
  try {
    const { data } = await requests.call("getVin", {}, { vin });
    if (data.latest_listing === null) return nothingShown(requests, vin);
    const { id } = data.latest_listing;
    return { address: `/listings/${id}`, handle: listingPage(current), params: { listing_id: id } };
  } catch (thrown) {
    if (thrown instanceof Refusal && thrown.code === "not_found") return nothingShown(requests, vin);
    throw thrown;
  }
}

/** The facets whose values are words of a search, the most specific one last. */
const wordFacets = ["make", "model", "body_type", "fuel_type", "drivetrain", "inventory_type", "base_exterior_color"];

/** Finds the listings whose attributes are the words, or the dealer with them in its name. */
async function findWords(
  requests: PageRequests,
  words: string,
  current: CurrentVersion,
): Promise<PageContent | FoundPage> {
  const values = await valuesOf(requests, wordFacets, {});
  const { parameters, unmatched } = await matchModels(requests, words, values);
  const path = viewPath(parameters);
  if (unmatched.length === 0)
    return { address: path, handle: searchPage(current), query: new URLSearchParams(parameters) };
  const dealers = await requests.loadPart("dealers", () =>
    requests.call("searchDealers", { q: words.slice(0, 200), limit: "20" }),
  );
  const [only] = dealers?.data ?? [];
  if (only !== undefined && dealers?.pagination.total === 1)
    return { address: `/dealers/${only.dealer_id}`, handle: dealerPage, params: { dealer_id: only.dealer_id } };
  return nothingShown(requests, words, {
    dealers: dealers?.data.map(({ dealer_id: id, name, city, state }) => ({
      id,
      name,
      place: plainWords(city, state),
    })),
    path: Object.keys(parameters).length === 0 ? undefined : path,
    unmatched,
  });
}

/** Matches words, also to the rarer models and trims of the makes among them. */
async function matchModels(
  requests: PageRequests,
  words: string,
  values: readonly NamedValue[],
): Promise<MatchedWords> {
  const matched = matchWords(words, values);
  const { make } = matched.parameters;
  if (matched.unmatched.length === 0 || make === undefined) return matched;
  const rarer = await requests.loadPart("rarer models", () => valuesOf(requests, ["model", "trim"], { make }));
  return matchWords(words, [...values, ...(rarer ?? [])]);
}

/** Returns the most frequent values of facets under some filters. */
async function valuesOf(
  requests: PageRequests,
  facets: readonly string[],
  filters: TextParameters,
): Promise<readonly NamedValue[]> {
  const query = { facets: facets.join(), facet_value_limit: "100", ...filters };
  const { data } = await requests.call("getFacets", query);
  return facets.flatMap((name) => (data.facets[name] ?? []).map(({ value }) => ({ name, value })));
}

interface Suggestions {
  readonly dealers?: readonly { readonly id: string; readonly name: string; readonly place: string }[] | undefined;
  /** The address of the results for the recognized words. */
  readonly path?: string | undefined;
  readonly unmatched?: readonly string[];
}

/** The page without listings: nothing was found, or several dealers, or the API refused the request for the result. */
function nothingShown(requests: PageRequests, words: string, suggestions: Suggestions = {}): PageContent {
  const { dealers = [], path, unmatched = [] } = suggestions;
  const isFound = path !== undefined && unmatched.length === 0;
  const title = isFound ? "Found" : dealers.length > 0 ? "Dealers" : "Nothing found";
  return {
    ...{ title, section: "explorer", status: isFound ? 200 : 404 },
    body: (
      <section class="narrow">
        <h1>{`${title} for “${words}”`}</h1>
        <FindBox value={words} />
        <MissingParts missing={requests.missing} />
        {unmatched.length === 0 ? null : (
          <p>{`Not a make, model, body, fuel, drivetrain, condition, color, model year or state code: ${unmatched.join(", ")}.`}</p>
        )}
        {path === undefined ? null : (
          <p>
            <a href={path}>{isFound ? "The page that was found" : "Listings that match the other words"}</a>
          </p>
        )}
        <ul>
          {dealers.map(({ id, name, place }) => (
            <li key={id}>
              <a href={`/dealers/${id}`}>{name}</a> <span class="muted">{place}</span>
            </li>
          ))}
        </ul>
        <p>
          <a href="/">All listings</a>
        </p>
      </section>
    ),
  };
}
