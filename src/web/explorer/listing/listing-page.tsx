/** The page of a listing, to judge one car: its price among comparables, over time and at its dealer, and what the data rests on. */
import type { AnswerOf } from "../../../contract/types.ts";
import type { SiteServices } from "../../../http/service/service-state.ts";
import type { PageRequests } from "../../shell/page-requests.ts";
import type { PageHandler } from "../../shell/pages.tsx";
import { serviceOrigin } from "../../shell/pages.tsx";
import { ApiRequests, MissingParts } from "../api-requests.tsx";
import type { ShownListing } from "../listing-fields.tsx";
import { photoHostsOf } from "../photo-frame.tsx";
import { EvidenceTrail } from "./evidence-trail.tsx";
import {
  DealerFacts,
  FeatureList,
  ListingDetails,
  OptionTable,
  OtherListings,
  PricingTable,
} from "./listing-details.tsx";
import { Crumbs, Gallery, ListingHead, plainName } from "./listing-head.tsx";
import { countInventory, countSuchCars, loadMedians, suchCars } from "./market.ts";
import { PastDay, PriceHistory } from "./price-history.tsx";
import { PriceStanding } from "./price-standing.tsx";

export type Details = AnswerOf<"getListing">["data"];

export const listingPage =
  ({ current, photos: { mode: photos } }: Pick<SiteServices, "current" | "photos">): PageHandler =>
  async ({ context, params, query, requests, visitor }) => {
    const { data, meta } = await requests.call("getListing", { include: "price_history,options" }, params);
    const filters = suchCars(data);
    const hasMedians = filters !== undefined && (visitor.isOpen || query.get("median") === "days");
    const [{ evidence, ofVin }, valued, such, inventory, medians] = await Promise.all([
      loadEvidence(requests, data),
      requests.loadPart("comparables", () =>
        requests.call("getListingComparables", { limit: "60" }, { listing_id: data.id }),
      ),
      filters && requests.loadPart("such cars", () => countSuchCars(requests, filters)),
      requests.loadPart("the dealer's inventory", () => countInventory(requests, data.dealer.dealer_id)),
      hasMedians ? requests.loadPart("the model's median", () => loadMedians(requests, filters)) : undefined,
    ]);
    const asOf = await current.use(async ({ manifest: { as_of } }) => as_of);
    const own = ofVin.find(({ id }) => id === data.id);
    const parts = { listing: data, own, valued: valued?.data, such };
    return {
      title: plainName(data),
      section: "explorer",
      bundles: ["market.css"],
      imageHosts: photoHostsOf(photos),
      body: (
        <article class="listing">
          <Crumbs listing={data} context={context} />
          <MissingParts missing={requests.missing} />
          <div class="two">
            <Gallery listing={data} photos={photos} />
            <ListingHead {...parts} hasPhotos={photos !== "off"} supersededBy={meta.superseded_by} />
          </div>
          <PastDay listing={data} date={query.get("snapshot_date")} asOf={asOf} />
          {valued === undefined ? null : <PriceStanding {...valued.data} />}
          <div class="two">
            <PriceHistory {...parts} medians={medians} asOf={asOf} spent={visitor.isOpen ? 0 : requests.micros} />
            {evidence === undefined ? null : <EvidenceTrail evidence={evidence} valued={valued?.data} />}
          </div>
          <ListingDetails listing={data} />
          <PricingTable pricing={data.pricing} />
          <OptionTable options={data.vehicle.build.options ?? []} />
          <FeatureList features={own?.features ?? []} />
          <OtherListings listings={ofVin.filter(({ id }) => id !== data.id)} />
          {inventory === undefined ? null : <DealerFacts dealer={data.dealer} inventory={inventory} />}
          <ApiRequests origin={serviceOrigin(context)} requests={requests} />
        </article>
      ),
    };
  };

const summaryFields = "features,price,miles,days_on_market,status,sold_date,dealer_id,dealer_name,city,state";

interface VinParts {
  readonly evidence: AnswerOf<"getEvidence"> | undefined;
  /** The listings of the VIN that are for sale, or sold. */
  readonly ofVin: readonly ShownListing[];
}

/** Loads the evidence about a VIN and its listings: the sold ones only if this one is, or the evidence names others. */
async function loadEvidence(requests: PageRequests, { id, vin, sold_date: sold }: Details): Promise<VinParts> {
  const query = { vin_pattern: vin, fields: summaryFields, limit: "20" };
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
