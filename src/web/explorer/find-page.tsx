/** The box's target: finds a vehicle by its VIN, a listing by its id, and listings by words. */
import { Refusal } from "../../contract/errors.ts";
import type { TextParameters } from "../../http/operation-request.ts";
import type { PageContent } from "../shell/document.tsx";
import { plainWords } from "../shell/format.ts";
import type { PageRequests } from "../shell/page-requests.ts";
import type { PageHandler, Redirect } from "../shell/pages.tsx";
import { FindBox } from "./find-box.tsx";
import { viewPath } from "./view.ts";
import { type MatchedWords, matchWords, type NamedValue } from "./word-matching.ts";

/** The page at `/find`: leads to what was found, or says that nothing was. */
export const lookUpPage: PageHandler = async ({ query, requests }) => {
  const words = (query.get("q") ?? "").trim();
  if (/^[0-9a-f]{32}$/i.test(words)) return { location: `/listings/${words.toLowerCase()}` };
  if (/^[a-hj-npr-z0-9]{17}$/i.test(words)) return findVehicle(requests, words.toUpperCase());
  return words === "" ? { location: "/" } : findWords(requests, words);
};

/** Leads to the latest listing of a VIN. */
async function findVehicle(requests: PageRequests, vin: string): Promise<PageContent | Redirect> {
  try {
    const { data } = await requests.ask("getVin", {}, { vin });
    return data.latest_listing === null ? nothingFound(vin) : { location: `/listings/${data.latest_listing.id}` };
  } catch (thrown) {
    if (thrown instanceof Refusal && thrown.code === "not_found") return nothingFound(vin);
    throw thrown;
  }
}

/** The facets whose values are words of a search, the most specific one last. */
const wordFacets = ["make", "model", "body_type", "fuel_type", "drivetrain", "inventory_type", "base_exterior_color"];

/** Leads to the listings whose attributes are the words, or to a dealer with them in its name. */
async function findWords(requests: PageRequests, words: string): Promise<PageContent | Redirect> {
  const values = await valuesOf(requests, wordFacets, {});
  const { parameters, unmatched } = await matchModels(requests, words, values);
  if (unmatched.length === 0) return { location: viewPath(parameters) };
  const dealers = await requests.ask("searchDealers", { q: words.slice(0, 200), limit: "20" });
  const [only] = dealers.data;
  if (only !== undefined && dealers.pagination.total === 1) return { location: `/dealers/${only.dealer_id}` };
  return nothingFound(words, {
    dealers: dealers.data.map(({ dealer_id: id, name, city, state }) => ({ id, name, place: plainWords(city, state) })),
    ...(Object.keys(parameters).length === 0 ? {} : { path: viewPath(parameters) }),
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
  return matchWords(words, [...values, ...(await valuesOf(requests, ["model", "trim"], { make }))]);
}

/** Returns the most frequent values of facets under some filters. */
async function valuesOf(
  requests: PageRequests,
  facets: readonly string[],
  filters: TextParameters,
): Promise<readonly NamedValue[]> {
  const query = { facets: facets.join(), facet_value_limit: "100", ...filters };
  const { data } = await requests.ask("getFacets", query);
  return facets.flatMap((name) => (data.facets[name] ?? []).map(({ value }) => ({ name, value })));
}

interface Suggestions {
  readonly dealers: readonly { readonly id: string; readonly name: string; readonly place: string }[];
  /** The view of the words that were understood. */
  readonly path?: string;
  readonly unmatched: readonly string[];
}

const nothingFound = (words: string, suggestions?: Suggestions): PageContent => ({
  title: "Nothing found",
  section: "explorer",
  status: 404,
  body: (
    <section class="narrow">
      <h1>{suggestions?.dealers.length ? `Dealers for “${words}”` : `Nothing found for “${words}”`}</h1>
      <FindBox value={words} />
      {suggestions === undefined ? null : <SuggestionList {...suggestions} />}
      <p>
        <a href="/">All listings</a>
      </p>
    </section>
  ),
});

const SuggestionList = ({ dealers, path, unmatched }: Suggestions) => (
  <>
    <p>{`Not a make, model, body, fuel, drivetrain, condition, color, model year or state code: ${unmatched.join(", ")}.`}</p>
    {path === undefined ? null : (
      <p>
        <a href={path}>Listings that match the other words</a>
      </p>
    )}
    <ul>
      {dealers.map(({ id, name, place }) => (
        <li key={id}>
          <a href={`/dealers/${id}`}>{name}</a> <span class="muted">{place}</span>
        </li>
      ))}
    </ul>
  </>
);
