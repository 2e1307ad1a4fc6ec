/** The search: filters and facets beside results. Its URL is the view, so that it can be shared. */
import type { JSX } from "preact";
import { errors, Refusal } from "../../../contract/errors.ts";
import type { PhotoMode, SiteServices } from "../../../http/service/service-state.ts";
import type { TextParameters } from "../../../operations/caller.ts";
import type { CurrentVersion } from "../../../serving/current-version.ts";
import { amountOf } from "../../shell/format.ts";
import { Icon } from "../../shell/icons.tsx";
import type { MissingPart, PageRequests } from "../../shell/page-requests.ts";
import type { PageHandler } from "../../shell/pages.tsx";
import { serviceOrigin } from "../../shell/pages.tsx";
import { ApiRequests, MissingParts } from "../api-requests.tsx";
import type { ChartAnswers } from "../charts/chart-searches.ts";
import { ChartControls, loadCharts } from "../charts/charts-view.tsx";
import { type FacetChanges, facetChanges } from "../charts/facet-changes.ts";
import { changeDays, dayBefore } from "../charts/key-numbers.tsx";
import { countViewFacets, noFacets, type ViewFacets } from "../facets.ts";
import { cardFields, chosenColumns } from "../listing-fields.tsx";
import { photoHostsOf } from "../photo-frame.tsx";
import {
  apiFilters,
  filterNames,
  listOf,
  pageSizeOf,
  readView,
  type ViewParameters,
  viewPath,
  withParameters,
} from "../view.ts";
import { AppliedFilters, controlledNames, KeptFields } from "./applied-filters.tsx";
import { FacetPanel } from "./facet-panel.tsx";
import { FewResults, findStepsBack, type StepBack, sparseBelow } from "./few-results.tsx";
import { MarketControl, type SnapshotDays } from "./market-control.tsx";
import { PlaceFields } from "./result-controls.tsx";
import { ResultHead } from "./result-head.tsx";
import { ResultList } from "./results.tsx";

/** The question that led to a view, and what its words were understood as. */
interface AskedQuestion {
  readonly words: string;
  readonly explained: JSX.Element;
}

export const searchPage =
  ({ current, photos }: Pick<SiteServices, "current" | "photos">, question?: AskedQuestion): PageHandler =>
  async ({ context, query, requests }) => {
    const days = await snapshotDays(current);
    const view = readView(query, days.last);
    const canonical = viewPath(view);
    if (canonical !== viewPath(Object.fromEntries(query))) return { location: canonical };
    const found = await findView({ requests, days, photos }, view);
    return {
      title: titleOf(found, view),
      door: "shop",
      question: question?.words,
      imageHosts: photoHostsOf(photos),
      body: (
        <>
          <SearchView view={view} days={days} found={found} question={question}>
            <ApiRequests origin={serviceOrigin(context)} requests={requests} />
          </SearchView>
          <p class="vh" id="announcement" role="status" />
        </>
      ),
    };
  };

interface ShownResults extends Omit<ChartAnswers, "charts"> {
  readonly results: JSX.Element;
}

/** The answers of a view, or why it is invalid. */
interface FoundView {
  readonly shown?: ShownResults;
  readonly facets: ViewFacets;
  readonly changes: FacetChanges | undefined;
  /** How to find more, if there are few. */
  readonly steps: readonly StepBack[];
  readonly missing: readonly MissingPart[];
  readonly invalid?: string;
}

/** Loads the rest of the results of a view, whose first request has been answered. */
type RemainingResults = () => Promise<ShownResults>;

/**
 * Searches, then counts. The first request validates the view, so that nothing is charged for an invalid one, which has no results, so
 * that its filters can be corrected.
 */
async function findView(search: Search, view: ViewParameters): Promise<FoundView> {
  const { requests, days } = search;
  let loadRest: RemainingResults;
  try {
    loadRest = await findResults(search, view);
  } catch (thrown) {
    if (!(thrown instanceof Refusal) || errors[thrown.code][0] !== 400) throw thrown;
    return { facets: noFacets, changes: undefined, steps: [], missing: [], invalid: thrown.message };
  }
  const [shown, facets, changes] = await Promise.all([
    loadRest(),
    countViewFacets(requests, view, days.last),
    facetChanges(requests, view, days),
  ]);
  const steps = shown.total < sparseBelow ? await findStepsBack(requests, view, days.last) : [];
  return { shown, facets, changes, steps, missing: requests.missing };
}

/** What the answers of a view depend on besides the view. */
interface Search {
  readonly requests: PageRequests;
  readonly days: SnapshotDays;
  readonly photos: PhotoMode;
}

/** Sends the first request for the results of a view, which validates its filters. Throws the Refusal of the API. */
async function findResults({ requests, days, photos }: Search, view: ViewParameters): Promise<RemainingResults> {
  if (view.layout === "charts") {
    const loadRest = await loadCharts(requests, view, days);
    return async () => {
      const { charts, ...head } = await loadRest();
      return { ...head, results: <div class="graphs">{charts}</div> };
    };
  }
  const answer = await requests.call("searchListings", searchParameters(view, days.last, photos));
  const results = <ResultList view={view} answer={answer} photos={photos} />;
  return async () => ({ total: answer.pagination.total, unmatched: answer.meta.unmatched, results });
}

function searchParameters(view: ViewParameters, asOf: string, photos: PhotoMode): TextParameters {
  const { sort, offset, layout } = view;
  const fields =
    layout === "table"
      ? chosenColumns(listOf(view, "columns")).flatMap((column) => column.fields)
      : [...cardFields, ...(photos === "off" ? [] : ["photo_urls"])];
  return {
    ...apiFilters(view, asOf),
    ...(sort === undefined ? {} : { sort }),
    fields: [...new Set(fields)].join(),
    limit: String(pageSizeOf(view)),
    ...(offset === undefined ? {} : { offset }),
  };
}

const snapshotDays = (current: CurrentVersion): Promise<SnapshotDays> =>
  current.use(async ({ manifest: { as_of, days } }) => ({ first: Object.keys(days)[0] ?? as_of, last: as_of }));

const titleOf = ({ shown }: FoundView, view: ViewParameters): string =>
  shown === undefined ? "Explorer" : `${amountOf(shown.total, "listing")}${view.make ? `, ${view.make}` : ""}`;

interface SearchViewProps {
  readonly view: ViewParameters;
  readonly days: SnapshotDays;
  readonly found: FoundView;
  readonly question: AskedQuestion | undefined;
  /** The content after the results. */
  readonly children: JSX.Element;
}

const SearchView = ({ view, days, found, question, children }: SearchViewProps): JSX.Element => (
  <div class="explore" data-view>
    <form class="side" id="view" action="/shop" method="get" aria-label="Filters" data-view-form>
      <div class="filters">
        <KeptFields view={view} without={controlledNames} />
        <MarketControl view={view} days={days} />
        <ChangeChoice view={view} days={days} />
        <PlaceFields view={view} />
        <FacetPanel view={view} facets={found.facets} changes={found.changes} />
      </div>
      <footer>
        <button type="submit" class="apply prime">
          Apply
        </button>
        <a class="btn prime done" href="#results" data-filters>
          {found.shown === undefined ? "Show results" : `Show ${amountOf(found.shown.total, "listing")}`}
        </a>
      </footer>
    </form>
    <section class="results" id="results" aria-labelledby="total">
      <ResultHead view={view} facets={found.facets} total={found.shown?.total} />
      {question?.explained}
      <AppliedFilters view={view} asOf={days.last} facets={found.facets} />
      {view.layout === "charts" ? <ChartControls view={view} asOf={days.last} /> : null}
      {found.invalid === undefined ? null : (
        <p class="notice" role="alert">
          {found.invalid}
        </p>
      )}
      <MissingParts missing={found.missing} />
      <Unmatched view={view} found={found} />
      {found.steps.length === 0 ? null : <FewResults view={view} total={found.shown?.total ?? 0} steps={found.steps} />}
      {found.shown?.total === 0 ? null : found.shown?.results}
      {children}
    </section>
    <FootBar view={view} />
  </div>
);

/** The choice to compare each count with that of 30 days before. */
const ChangeChoice = ({ view, days }: Pick<SearchViewProps, "view" | "days">): JSX.Element | null => {
  if (dayBefore(view, days) === undefined) return null;
  const isShown = view.change !== undefined;
  return (
    <a class="more" href={viewPath(withParameters(view, { change: isShown ? undefined : String(changeDays) }))}>
      {isShown ? "Counts without their change" : `Change of each count in ${changeDays} days`}
    </a>
  );
};

/** On phones, what the sidebar and the tray are elsewhere. */
const FootBar = ({ view }: Pick<SearchViewProps, "view">): JSX.Element => {
  const chosen = filterNames(view).length;
  return (
    <nav class="phonebar" aria-label="Filters and shortlist">
      <a class="btn" href="#view" data-filters>
        <Icon name="filter" />
        {chosen === 0 ? "Filters" : `Filters · ${chosen}`}
      </a>
      <a class="btn js-only" href="/compare" data-shortlist>
        Shortlist <span data-shortlist-count />
      </a>
    </nav>
  );
};

/** Values that no listing has ever had, with what may have been meant. The years of a range are not its reader's words. */
const Unmatched = ({ view, found: { shown } }: Pick<SearchViewProps, "view" | "found">): JSX.Element | null => {
  const unmatched = (shown?.unmatched ?? []).filter(({ parameter }) => view[parameter] !== undefined);
  if (unmatched.length === 0) return null;
  return (
    <ul class="notice">
      {unmatched.map(({ parameter, value, did_you_mean: meant }) => (
        <li key={`${parameter} ${value}`}>
          {`No listing has ever had the ${parameter.replaceAll("_", " ")} “${value}”.`}
          {meant === undefined ? null : ` Did you mean ${meant}?`}
        </li>
      ))}
    </ul>
  );
};
