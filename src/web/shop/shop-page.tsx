/** The shop: a search as a sentence, its cars, and the filters beside them. Its URL is the view, so that it can be shared. */
import type { JSX } from "preact";
import type { PhotoMode, SiteServices } from "../../http/service/service-state.ts";
import { queryString } from "../../operations/caller.ts";
import { type Chip, Chips, Segments } from "../components/chips.tsx";
import { Note } from "../components/sheet.tsx";
import { medianOf } from "../lot/lot-dealers.ts";
import { type Judgement, textOf } from "../sentences/sentence.ts";
import { bestChanges, fartherTitle, refusedFilter, shopVerdict } from "../sentences/shop.ts";
import { agreeing } from "../sentences/words.ts";
import { count } from "../shell/format.ts";
import { Icon } from "../shell/icons.tsx";
import { acceptedFilters } from "../shell/page-parameters.ts";
import type { PageHandler, PageVisit } from "../shell/pages.tsx";
import { Kicker, Verdict } from "../shell/verdict.tsx";
import type { Visitor } from "../shell/visitor.ts";
import { equivalentSql } from "./equivalent-sql.ts";
import { ExportForm } from "./export.tsx";
import { countIn } from "./facets.ts";
import { FilterForm } from "./filter-form.tsx";
import { chosenFilters, type LostFilter, spokenSearch, whyLost } from "./filter-words.ts";
import { keptPage } from "./kept-page.tsx";
import { NoCars, UnknownPlace } from "./no-cars.tsx";
import { photoHostsOf } from "./photos.ts";
import { CardList, ListingTable, Paging } from "./results.tsx";
import { type FoundView, findValid } from "./search.ts";
import {
  apiFilters,
  filterNames,
  isJudged,
  listOf,
  orderOf,
  readView,
  type ViewParameters,
  viewIn,
  viewPath,
  withItem,
  withoutFilters,
  withParameters,
} from "./view.ts";

/** The question that led to a view, and what is said of its words. */
interface AskedQuestion {
  readonly words: string;
  readonly explained: JSX.Element;
}

export const shopPage =
  ({ current, photos }: Pick<SiteServices, "current" | "photos">, question?: AskedQuestion): PageHandler =>
  async (visit) => {
    const { context, query, requests, visitor } = visit;
    const asked = readView(query);
    const { asOf, hasFit, view } = await viewIn(current, asked);
    if (query.has("ids")) return keptPage(visit, photos, asOf);
    const place = await namedPlace(visit, asked);
    if (place !== undefined) return { location: viewPath(withParameters(asked, { postal_code: place })) };
    const canonical = viewPath(asked);
    const isRepeated = new Set(query.keys()).size < query.size;
    if (isRepeated || canonical !== viewPath(Object.fromEntries(query))) return { location: canonical };
    const { view: shown, found, lost } = await findValid({ requests, asOf }, view);
    if (found.answer !== undefined && shown.postal_code !== undefined)
      context.cookies.set(nearCookie, shown.postal_code, {
        sameSite: "lax",
        maxAge: nearMaxAgeMs,
        secure: context.secure,
      });
    const page: ShownShop = { given: view, view: shown, found, lost, asOf, hasFit, photos, question, visitor };
    const judgement = verdictOf(page);
    return {
      title: textOf(judgement.sentence).replace(/\.$/, ""),
      door: "shop",
      ...(isPlaceLost(lost) ? { status: 400 } : {}),
      faults: [
        ...(found.invalid === undefined ? [] : [found.invalid.message]),
        ...lost.filter((one) => !isOfPlace(one)).map((one) => whyLost(view, one)),
      ],
      question: question?.words,
      imageHosts: photoHostsOf(photos),
      hasCars: (found.answer?.data.length ?? 0) > 0,
      sql: equivalentSql(requests.main),
      top: <Verdict kicker={<Kicker above={[["/", "Home"]]} here="Shop" />} judgement={judgement} />,
      body: (
        <div data-view>
          <Shop {...page} />
        </div>
      ),
    };
  };

/** The ZIP code near which a browser last searched, for the front door. */
export const nearCookie = "carquet-near";
const nearMaxAgeMs = 365 * 86_400_000;

/** Returns the ZIP code of a town that the field of ZIP codes has; undefined for a ZIP code. */
async function namedPlace(
  { requests }: PageVisit,
  { postal_code: words }: ViewParameters,
): Promise<string | undefined> {
  if (words === undefined || /^[\d -]*$/.test(words)) return undefined;
  const q = `near ${words}`.slice(0, 100);
  const answer = await requests.loadPart("the place", () => requests.call("interpretQuestion", { q }));
  return answer?.data.filters.postal_code;
}

interface ShownShop {
  /** The view of the address. */
  readonly given: ViewParameters;
  /** What is shown of it: what the API does not refuse. */
  readonly view: ViewParameters;
  readonly found: FoundView;
  readonly lost: readonly LostFilter[];
  readonly asOf: string;
  readonly hasFit: boolean;
  readonly photos: PhotoMode;
  readonly question: AskedQuestion | undefined;
  readonly visitor: Visitor;
}

/** Returns what the page judges of a search. */
function verdictOf({ given, view, found, lost }: ShownShop): Judgement {
  const { answer, facets, within, more } = found;
  if (isPlaceLost(lost)) return refusedFilter(given.postal_code ?? "", true);
  const [first] = lost;
  if (first !== undefined) {
    const [name = ""] = first.names;
    const chosen = chosenFilters(given, found).find(({ names }) => names.includes(name));
    return refusedFilter(chosen?.text ?? `${name} ${given[name]}`, false);
  }
  if (answer === undefined) return { sentence: ["This search cannot be answered."] };
  const cars = answer.pagination.total;
  const isAll = cars === answer.data.length;
  const chosen = listOf(view, "inventory_type");
  const countOf = (facet: string, ...values: readonly string[]): number | undefined => {
    if (isAll)
      return answer.data.filter(({ value_rating: rating, inventory_type: type, keywords }) =>
        [rating, type, ...(keywords ?? [])].some((word) => values.some((value) => value === word)),
      ).length;
    const buckets = (within?.facets ?? facets.values)[facet];
    // The counts beside the filters are without the facet's own filter.
    const isOwn = facet === "inventory_type" && chosen.length > 0;
    return buckets && countIn(buckets, ...values.filter((value) => !isOwn || chosen.includes(value)));
  };
  const greatCars = answer.data.filter((car) => car.value_rating === "great");
  const great = isJudged(view) ? countOf("value_rating", "great") : undefined;
  const stats = within?.stats ?? facets.stats;
  return shopVerdict({
    cars,
    search: spokenSearch(view, found),
    isBestFirst: orderOf(view) === "value",
    great,
    good: isJudged(view) ? countOf("value_rating", "good") : undefined,
    greatCities: greatCars.length === great ? greatCars.map(({ city }) => city ?? null) : undefined,
    cleanTitles: countOf("keywords", "clean_title"),
    branded: countOf("keywords", "branded"),
    used: countOf("inventory_type", "used", "certified"),
    new: countOf("inventory_type", "new"),
    medianPrice: isAll ? medianOf(answer.data.flatMap(({ price }) => price ?? [])) : stats.price?.median,
    medianDays: isAll ? medianOf(answer.data.flatMap((car) => car.days_on_market ?? [])) : stats.days_on_market?.median,
    hasPriceBound: view.min_price !== undefined || view.max_price !== undefined,
    changes: more?.changes.filter((change) => change.cars > 0).length,
    isSold: !isJudged(view),
    hrefs: {
      great: viewPath(withParameters(view, { value_rating: "great" })),
      good: viewPath(withParameters(view, { value_rating: "good" })),
      cleanTitles: viewPath(withItem(view, "keywords", "clean_title", "clean_title")),
    },
  });
}

const isPlaceLost = (lost: ShownShop["lost"]): boolean => lost.some(isOfPlace);

const isOfPlace = ({ names }: LostFilter): boolean => names.includes("postal_code");

/** Without cars, and while the place is unknown, the filters are closed. */
const Shop = (page: ShownShop): JSX.Element => {
  const { given, view, found, lost, question } = page;
  const total = found.answer?.pagination.total;
  return (
    <>
      {isPlaceLost(lost) ? (
        <UnknownPlace view={given} />
      ) : (
        <div class="pin">
          <ShopChips {...page} />
        </div>
      )}
      {question?.explained}
      <Notes {...page} />
      {total === 0 && found.more !== undefined ? (
        <NoCars view={view} more={found.more} photos={page.photos} savePath={savePath(page)} />
      ) : null}
      <div class={total === 0 || isPlaceLost(lost) ? "split closed" : "split"}>
        <FilterForm view={given} facets={found.facets} total={total} />
        <section id="results" aria-labelledby="results-title">
          <h2 class="vh" id="results-title">
            Cars
          </h2>
          <Results {...page} />
        </section>
      </div>
    </>
  );
};

/** Values that match no car. */
const Notes = ({ view, found }: ShownShop): JSX.Element => (
  <>
    {(found.answer?.meta.unmatched ?? [])
      .filter(({ parameter }) => view[parameter] !== undefined)
      .map(({ parameter, value, did_you_mean: meant }) => (
        <Note key={`${parameter} ${value}`}>
          {`No car has ever had the ${parameter.replace("exclude_", "").replaceAll("_", " ")} “${value}”.`}
          {meant === undefined ? null : (
            <>
              {" Did you mean "}
              <a href={viewPath(withItem(view, parameter, value, meant))}>{meant}</a>?
            </>
          )}
        </Note>
      ))}
  </>
);

const Results = ({ view, found, photos, visitor, asOf }: ShownShop): JSX.Element | null => {
  const { answer, more } = found;
  if (answer === undefined || answer.pagination.total === 0) return null;
  const { data, pagination } = answer;
  const changes = bestChanges(pagination.total, more?.changes ?? []);
  return (
    <>
      {view.view === "table" ? (
        <div class="fig" id="cars" tabIndex={-1}>
          <ListingTable view={view} cars={data} />
          <div class="tools">
            <ExportForm view={view} total={pagination.total} asOf={asOf} visitor={visitor} />
          </div>
        </div>
      ) : (
        <CardList id="cars" view={view} cars={data} photos={photos} />
      )}
      <Paging view={view} pagination={pagination} />
      {changes.length === 0 ? null : (
        <Note
          end={changes.map(({ words, cars, href }) => (
            <a class="btn small" key={words} href={href}>
              {`${words}: ${count(cars)}`}
            </a>
          ))}
        >
          <b>{`Only ${count(pagination.total)} ${agreeing(pagination.total, "matches", "match")}.`}</b> One change shows
          more:
        </Note>
      )}
      {more?.farther === undefined ? null : (
        <>
          <h2 class="beyond">{fartherTitle(more.farther.total, more.farther.radius)}</h2>
          <CardList view={view} cars={more.farther.cars} photos={photos} />
        </>
      )}
    </>
  );
};

/** Returns the form that saves a search; undefined for one without a filter that saved searches have. */
const savePath = ({ view, found, asOf }: ShownShop): string | undefined => {
  const { filters } = acceptedFilters("listChanges", apiFilters(view, asOf));
  if (Object.keys(filters).length === 0) return undefined;
  const name = spokenSearch(readView(new URLSearchParams(filters)), found) ?? "All cars";
  return `/account?${new URLSearchParams({ query: queryString(apiFilters(view, asOf)), name: name.slice(0, 80) })}#save`;
};

const orders: readonly (readonly [value: string, text: string])[] = [
  ["price", "Lowest price"],
  ["-price", "Highest price"],
  ["days_on_market", "Newest"],
  ["-days_on_market", "Longest on the lot"],
  ["-price_drop", "Largest cut"],
  ["all_in_price", "Lowest price with fees"],
  ["miles", "Fewest miles"],
  ["-miles", "Most miles"],
  ["discount", "Most below MSRP"],
];

/** Orders that an address or a link of the page can have. */
const otherOrders: typeof orders = [
  ["distance", "Nearest"],
  ["value", "Best price first"],
  ["-value", "Worst price first"],
  ["listed_at", "Listed longest ago"],
  ["-listed_at", "Listed last"],
  ["msrp", "Lowest MSRP"],
  ["-msrp", "Highest MSRP"],
  ["-discount", "Least below MSRP"],
  ["price_drop", "Smallest cut"],
  ["-all_in_price", "Highest price with fees"],
];

/** The chips: what is filtered, or what to begin with; the views and the order of the cars. */
const ShopChips = (page: ShownShop): JSX.Element => {
  const { view, found } = page;
  const chosen = chosenFilters(view, found);
  const isFiltered = chosen.length > 0;
  const isTable = view.view === "table";
  const isEmpty = found.answer?.pagination.total === 0;
  const path = savePath(page);
  const chips: readonly Chip[] = isFiltered
    ? chosen.map(({ names, text }) => ({ path: viewPath(withoutFilters(view, names)), text, state: "on" }))
    : firstFilters.map(([text, changes]) => ({ path: viewPath(withParameters(view, changes)), text }));
  return (
    <Chips
      label="Filters of this search"
      chips={isFiltered ? chips : [{ path: "#near", text: "Near a ZIP code" }, ...chips]}
      start={
        <a class={isEmpty ? "chip main" : "chip main only-phone"} href="#filters">
          <Icon name="filter" /> {isFiltered ? `Filters · ${chosen.length}` : "Filters"}
        </a>
      }
      end={
        <>
          {isFiltered ? (
            <a class="chip no-phone" href={viewPath(withoutFilters(view, filterNames(view)))}>
              Clear
            </a>
          ) : null}
          {isEmpty ? null : (
            <span class="ends">
              {path !== undefined && isJudged(view) ? (
                <a class="chip" href={path}>
                  Tell me of new ones
                </a>
              ) : null}
              <Segments
                label="View"
                look="no-phone"
                segments={[
                  { path: viewPath(withParameters(view, { view: undefined })), text: "Cars", isCurrent: !isTable },
                  { path: viewPath(withParameters(view, { view: "table" })), text: "Table", isCurrent: isTable },
                  { path: viewPath(marketView(view), "/market"), text: "Market", isCurrent: false },
                ]}
              />
              <OrderField {...page} />
            </span>
          )}
        </>
      }
    />
  );
};

/** What a search can begin with. */
const firstFilters: readonly (readonly [text: string, changes: ViewParameters])[] = [
  ["Used", { inventory_type: "used,certified" }],
  ["SUV", { body_type: "SUV" }],
  ["Pickup", { body_type: "Pickup" }],
  ["to $25,000", { max_price: "25000" }],
  ["One owner", { keywords: "one_owner" }],
];

/** Returns the filters of a view, for the page of the market. */
const marketView = (view: ViewParameters): ViewParameters =>
  Object.fromEntries(filterNames(view).map((name) => [name, view[name] ?? ""]));

const OrderField = ({ view, hasFit }: Pick<ShownShop, "view" | "hasFit">): JSX.Element => {
  const current = orderOf(view) ?? "days_on_market";
  const offered = [
    ...(hasFit && isJudged(view) ? [["value", "Best price first"] as const] : []),
    ...(view.postal_code === undefined ? [] : [["distance", "Nearest"] as const]),
    ...orders,
  ];
  const other = otherOrders.find(([value]) => value === current) ?? [current, current];
  const shown = offered.some(([value]) => value === current) ? offered : [...offered, other];
  return (
    <label class="fld order">
      <span class="vh">Order</span>
      <select class="in" id="sort" name="sort" form="filters">
        {shown.map(([value, text]) => (
          <option key={value} value={value} selected={value === current}>
            {text}
          </option>
        ))}
      </select>
    </label>
  );
};
