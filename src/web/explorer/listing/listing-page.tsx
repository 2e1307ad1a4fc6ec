/** The page of a listing, to judge one car: its price among comparables, over time and at its dealer, and what the data rests on. */
import type { JSX } from "preact";
import type { AnswerOf } from "../../../contract/types.ts";
import type { SiteServices } from "../../../http/service/service-state.ts";
import type { PageRequests } from "../../shell/page-requests.ts";
import type { PageHandler, PageVisit } from "../../shell/pages.tsx";
import { serviceOrigin } from "../../shell/pages.tsx";
import { chosenColumns, nameOf, type ShownListing } from "../../shop/columns.tsx";
import { photoHostsOf } from "../../shop/photos.tsx";
import { readView, viewPath } from "../../shop/view.ts";
import { ApiRequests, MissingParts } from "../api-requests.tsx";
import { EvidenceTrail } from "./evidence-trail.tsx";
import {
  DealerFacts,
  FeatureList,
  ListingDetails,
  OptionTable,
  OtherListings,
  otherColumns,
  PricingTable,
} from "./listing-details.tsx";
import { Gallery, ListingHead } from "./listing-head.tsx";
import { countInventory, countSuchCars, type ListingDetail, loadMedians, suchCars } from "./market.ts";
import { PastDay, PriceHistory } from "./price-history.tsx";
import { PriceStanding } from "./price-standing.tsx";
import { Crumbs, findPosition, type ShownView } from "./search-position.tsx";

export const listingPage =
  ({ current, photos }: Pick<SiteServices, "current" | "photos">): PageHandler =>
  async (visit) => {
    const { params, requests } = visit;
    const { data, meta } = await requests.call("getListing", { include: "price_history,options" }, params);
    const asOf = await current.use(async ({ manifest: { as_of } }) => as_of);
    const { median: _, ...view } = readView(visit.query, asOf);
    const parts = await loadParts(data, visit, { view, asOf });
    return {
      title: nameOf({ ...data, ...data.vehicle.build }),
      door: "shop",
      imageHosts: photoHostsOf(photos),
      body: (
        <article class="listing">
          <Crumbs view={view} {...data.vehicle.build} position={parts.position} />
          <MissingParts missing={requests.missing} />
          <div class="two">
            <Gallery listing={data} photos={photos} />
            <ListingHead listing={data} {...parts} hasPhotos={photos !== "off"} supersededBy={meta.superseded_by} />
          </div>
          <PastDay listing={data} date={view.snapshot_date} asOf={asOf} />
          <Sheets listing={data} parts={parts} asOf={asOf} />
          <ApiRequests origin={serviceOrigin(visit.context)} requests={requests} />
        </article>
      ),
    };
  };

/** The distances in miles within which comparables can be asked for. */
const radii = ["50", "100", "250"];

/** Loads what the page has beside the listing: each part is undefined if it could not be loaded. */
async function loadParts(listing: ListingDetail, { requests, query, visitor }: PageVisit, shown: ShownView) {
  const { id: listing_id, dealer } = listing;
  const filters = suchCars(listing);
  const hasMedians = filters !== undefined && (visitor.isFree || query.get("median") === "days");
  const radius = radii.find((miles) => miles === query.get("comparables_within"));
  const withMedians = viewPath({ ...Object.fromEntries(query), median: "days" }, `/listings/${listing_id}`);
  const [vin, position, valued, such, inventory, medians] = await Promise.all([
    loadEvidence(requests, listing),
    query.has("offset")
      ? requests.loadPart("the cars beside it", () => findPosition(requests, listing_id, shown))
      : undefined,
    requests.loadPart("comparables", () =>
      requests.call("getListingComparables", { limit: "60", ...(radius && { radius }) }, { listing_id }),
    ),
    filters && requests.loadPart("such cars", () => countSuchCars(requests, filters)),
    requests.loadPart("the dealer's inventory", () => countInventory(requests, dealer.dealer_id)),
    hasMedians ? requests.loadPart("the median of such cars", () => loadMedians(requests, filters)) : undefined,
  ]);
  const own = vin.ofVin.find(({ id }) => id === listing_id);
  return {
    ...vin,
    own,
    position,
    valued: valued?.data,
    distances: ["", ...radii].map((miles) => ({
      miles,
      isChosen: miles === (radius ?? ""),
      path: viewPath({ ...Object.fromEntries(query), comparables_within: miles }, `/listings/${listing_id}`),
    })),
    such,
    inventory,
    medians,
    mediansPath: visitor.isFree ? undefined : withMedians,
  };
}

interface SheetsProps {
  readonly listing: ListingDetail;
  readonly parts: Awaited<ReturnType<typeof loadParts>>;
  readonly asOf: string;
}

const Sheets = ({ listing, parts, asOf }: SheetsProps): JSX.Element => {
  const { valued, evidence, own, ofVin, inventory, distances } = parts;
  return (
    <>
      {valued === undefined ? null : <PriceStanding {...valued} distances={distances} />}
      <div class="two">
        <PriceHistory listing={listing} {...parts} asOf={asOf} />
        {evidence === undefined ? null : <EvidenceTrail evidence={evidence} valued={valued} />}
      </div>
      <ListingDetails listing={listing} />
      <PricingTable pricing={listing.pricing} />
      <OptionTable options={listing.vehicle.build.options ?? []} />
      <FeatureList features={own?.features ?? []} />
      <OtherListings listings={ofVin.filter(({ id }) => id !== listing.id)} />
      {inventory === undefined ? null : <DealerFacts dealer={listing.dealer} inventory={inventory} />}
    </>
  );
};

const summaryFields = ["features", "days_on_market", ...chosenColumns(otherColumns).flatMap(({ fields }) => fields)];

interface VinParts {
  readonly evidence: AnswerOf<"getEvidence"> | undefined;
  /** The listings of the VIN that are for sale, or sold. */
  readonly ofVin: readonly ShownListing[];
}

/** Loads the evidence about a VIN and its listings: the sold ones only if this one is, or the evidence names others. */
async function loadEvidence(requests: PageRequests, { id, vin, sold_date: sold }: ListingDetail): Promise<VinParts> {
  const query = { vin_pattern: vin, fields: summaryFields.join(), limit: "20" };
  const search = (more: Readonly<Record<string, string>>): Promise<readonly ShownListing[]> =>
    requests
      .loadPart("listings of this vehicle", () => requests.call("searchListings", { ...query, ...more }))
      .then((answer) => answer?.data ?? []);
  const [evidence, active] = await Promise.all([
    requests.loadPart("evidence", () => requests.call("getEvidence", { limit: "200" }, { vin })),
    search({}),
  ]);
  const isAlone = evidence?.data.steps.every(({ listing_id }) => listing_id === null || listing_id === id) ?? false;
  const past = sold === null && isAlone ? [] : await search({ inventory_status: "sold" });
  return { evidence, ofVin: [...active, ...past] };
}
