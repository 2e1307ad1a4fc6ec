/** The dealers with cars that match filters: on a map, beside the prices of the market, and in a table that sorts. */
import type { JSX } from "preact";
import type { SiteServices } from "../../../http/service/service-state.ts";
import { count } from "../../shell/format.ts";
import type { PageRequests } from "../../shell/page-requests.ts";
import { type PageHandler, serviceOrigin } from "../../shell/pages.tsx";
import { Paging } from "../../shop/results.tsx";
import { apiFilters, inventoryOf, readView, type ViewParameters, viewPath, withParameters } from "../../shop/view.ts";
import { ApiRequests, MissingParts } from "../api-requests.tsx";
import { DealerFilters } from "./dealer-filters.tsx";
import { DealerTable, largestFirst, sortDealers } from "./dealer-table.tsx";
import { DealersMap } from "./dealers-map.tsx";
import {
  describedMax,
  findMarketDealers,
  type MarketDealer,
  type MarketDealers,
  placeDealers,
  type RecentFeeds,
  recentFeeds,
} from "./market-dealers.ts";
import { MarketPrices } from "./market-prices.tsx";

const pageSize = 25;

/** Returns the handler of `/dealers`. */
export const dealersPage =
  ({ current, freshness }: Pick<SiteServices, "current" | "freshness">): PageHandler =>
  async ({ context, query, requests }) => {
    const asOf = await current.use(async ({ manifest }) => manifest.as_of);
    const view = readView(query, asOf);
    const silent = view.delivery === "silent" ? ((await freshness.fullReport()).brought?.silent ?? []) : undefined;
    const found = await requests.loadPart("dealers", () => find(requests, view, { asOf, silent }));
    const feeds = await recentFeeds(current);
    return {
      title: "Dealers",
      door: "lot",
      body: (
        <div class="stack">
          <header class="results-head">
            <div>
              <h1>{found === undefined ? "Dealers" : `${count(found.total)} dealers`}</h1>
              {found === undefined ? null : <KeyNumbers view={view} found={found} />}
            </div>
            <DealerFilters view={view} />
          </header>
          <MissingParts missing={requests.missing} />
          {found === undefined || found.dealers.length === 0 ? null : (
            <FoundDealers view={view} found={found} feeds={feeds} />
          )}
          <ApiRequests origin={serviceOrigin(context)} requests={requests} />
        </div>
      ),
    };
  };

interface Shown {
  readonly asOf: string;
  /** The ids of the only dealers that are shown. */
  readonly silent: readonly string[] | undefined;
}

/** Finds dealers by their listings, then the places of those on the page and of the largest; by words of their names, places first. */
async function find(requests: PageRequests, view: ViewParameters, { asOf, silent }: Shown): Promise<MarketDealers> {
  const { q, delivery: _, ...shown } = view;
  const only = silent === undefined ? {} : { dealer_id: silent.slice(0, describedMax).join() };
  const filters: ViewParameters = { ...apiFilters(shown, asOf), ...only };
  if (silent?.length === 0) return noDealers;
  if (q === undefined) {
    const found = await findMarketDealers(requests, filters);
    const ids = idsOf([...pageOf(view, found), ...found.dealers]);
    return { ...found, placed: await placeDealers(requests, ids) };
  }
  const { state, dealer_type: type, dealer_id } = filters;
  const named = withParameters({ limit: String(describedMax) }, { q, state, type, dealer_id });
  const { data } = await requests.call("searchDealers", named);
  if (data.length === 0) return noDealers;
  const ids = data.map((dealer) => dealer.dealer_id).join();
  return { ...(await findMarketDealers(requests, { ...filters, dealer_id: ids })), placed: data };
}

const idsOf = (dealers: readonly MarketDealer[]): readonly string[] => dealers.map(({ id }) => id);

const noDealers: MarketDealers = { dealers: [], total: 0, listings: 0, placed: [] };

const offsetOf = ({ offset = "0" }: ViewParameters): number => (/^\d{1,6}$/.test(offset) ? Number(offset) : 0);

const pageOf = (view: ViewParameters, { dealers }: MarketDealers): readonly MarketDealer[] =>
  sortDealers(dealers, view.sort ?? largestFirst).slice(offsetOf(view), offsetOf(view) + pageSize);

interface FoundProps {
  readonly view: ViewParameters;
  readonly found: MarketDealers;
  readonly feeds: RecentFeeds;
}

const KeyNumbers = ({ view, found: { listings, dealers, total } }: Omit<FoundProps, "feeds">): JSX.Element => (
  <p class="kpis">
    <a href={viewPath(withParameters(view, { sort: undefined, q: undefined, delivery: undefined }))}>
      <b>{count(listings)}</b> {inventoryOf(view) === "sold" ? "cars sold" : "cars for sale"}
    </a>
    {dealers.length < total ? <span>{`shown are the ${count(dealers.length)} dealers with most of them`}</span> : null}
  </p>
);

const FoundDealers = ({ view, found, feeds }: FoundProps): JSX.Element => {
  const offset = offsetOf(view);
  const total = found.dealers.length;
  const page = { limit: pageSize, offset, total, next_offset: offset + pageSize < total ? offset + pageSize : null };
  const pathOf = (sort: string): string =>
    viewPath(withParameters(view, { sort: sort === largestFirst ? undefined : sort }), "/dealers");
  return (
    <>
      <div class="graphs dealers-top">
        <DealersMap view={view} found={found} />
        <MarketPrices dealers={found.dealers} />
      </div>
      <section class="sheet pad stack">
        <DealerTable
          found={found}
          feeds={feeds}
          rows={pageOf(view, found)}
          sort={view.sort ?? largestFirst}
          pathOf={pathOf}
        />
        <Paging view={view} pagination={page} path="/dealers" />
      </section>
    </>
  );
};
