/** The page of a listing: everything known about it, its price history, its VIN's other listings, and comparable prices. */
import type { ComponentChildren, JSX } from "preact";
import type { AnswerOf } from "../../../contract/types.ts";
import type { CurrentVersion } from "../../../serving/current-version.ts";
import { count, day, dollars, plainWords, text, webUrl } from "../../shell/format.ts";
import type { PageRequests } from "../../shell/page-requests.ts";
import type { PageHandler } from "../../shell/pages.tsx";
import { serviceOrigin } from "../../shell/pages.tsx";
import { ApiRequests, MissingParts } from "../api-requests.tsx";
import type { ShownListing } from "../listing-fields.tsx";
import { ComparablePrices } from "./comparable-prices.tsx";
import { findComparables } from "./comparables.ts";
import { FeatureList, ListingDetails, OptionTable, PricingTable } from "./listing-details.tsx";
import { PastDay, PriceHistory } from "./price-history.tsx";

type Details = AnswerOf<"getListing">["data"];

export const listingPage =
  (current: CurrentVersion): PageHandler =>
  async ({ context, params, query, requests }) => {
    const { data, meta } = await requests.call("getListing", { include: "price_history,options" }, params);
    const [ofVin, comparables] = await Promise.all([
      listingsOfVin(requests, data),
      requests.loadPart("comparable prices", () => findComparables(requests, data)),
    ]);
    const asOf = await current.use(async ({ manifest: { as_of } }) => as_of);
    const features = ofVin.find(({ id }) => id === data.id)?.features ?? [];
    return {
      title: plainName(data),
      section: "explorer",
      body: (
        <article class="detail">
          <MissingParts missing={requests.missing} />
          <ListingHead listing={data} supersededBy={meta.superseded_by} />
          <PastDay listing={data} date={query.get("snapshot_date")} asOf={asOf} />
          {comparables === undefined ? null : <ComparablePrices price={data.price} comparables={comparables} />}
          <PriceHistory listing={data} />
          <ListingDetails listing={data} />
          <PricingTable pricing={data.pricing} />
          <OptionTable options={data.vehicle.build.options ?? []} />
          <FeatureList features={features} />
          <OtherListings listings={ofVin.filter(({ id }) => id !== data.id)} />
          <ApiRequests origin={serviceOrigin(context)} requests={requests} />
        </article>
      ),
    };
  };

const plainName = ({ vin, vehicle: { build } }: Details): string =>
  [build.year, build.make, build.model, build.trim].filter((part) => part !== null).join(" ") || vin;

const summaryFields = "features,price,miles,days_on_market,status,sold_date,dealer_id,dealer_name,city,state";

/** Returns the listings of a VIN that are for sale or sold. */
async function listingsOfVin(requests: PageRequests, { vin }: Details): Promise<readonly ShownListing[]> {
  const query = { vin_pattern: vin, fields: summaryFields, limit: "20" };
  const searches = [query, { ...query, inventory_status: "sold" }].map((parameters) =>
    requests.loadPart("listings of this vehicle", () => requests.call("searchListings", parameters)),
  );
  return (await Promise.all(searches)).flatMap((answer) => answer?.data ?? []);
}

interface ListingHeadProps {
  readonly listing: Details;
  readonly supersededBy: string | undefined;
}

const states = { active: "For sale", missing: "Missing from its dealer's feed", sold: "Sold" } as const;

const ListingHead = ({ listing, supersededBy }: ListingHeadProps): JSX.Element => {
  const { price, miles, inventory_type: condition, dealer, vehicle, sold_date: sold } = listing;
  return (
    <header class="detail-head">
      <h1>{plainName(listing)}</h1>
      <p class="headline">
        <strong>{dollars(price)}</strong>
        <span>{count(miles, " miles")}</span>
        <span>{text(condition)}</span>
        <span>{sold === null ? states[vehicle.status] : `Sold ${day(sold)}`}</span>
      </p>
      <p>
        <a href={`/dealers/${dealer.dealer_id}`}>{dealer.name}</a>
        {`, ${plainWords(dealer.city, dealer.state)}`}
      </p>
      <p class="links">
        <ExternalLink url={listing.vdp_url}>Dealer's page</ExternalLink>
        <ExternalLink url={listing.vhr_url}>Vehicle history report</ExternalLink>
        {listing.photo_urls.map((url, index) => (
          <ExternalLink key={url} url={url}>
            Photo {index + 1}
          </ExternalLink>
        ))}
      </p>
      {supersededBy === undefined ? null : (
        <p class="notice">
          This listing ended without a sale. <a href={`/listings/${supersededBy}`}>The listing that replaced it</a>
        </p>
      )}
    </header>
  );
};

interface ExternalLinkProps {
  /** A URL of a feed. */
  readonly url: string | null;
  readonly children: ComponentChildren;
}

/** A link to another host; nothing if the URL is not one of the web. */
export const ExternalLink = ({ url, children }: ExternalLinkProps): JSX.Element | null => {
  const href = webUrl(url);
  return href === undefined ? null : (
    <a href={href} rel="noopener noreferrer nofollow">
      {children}
    </a>
  );
};

const OtherListings = ({ listings }: { readonly listings: readonly ShownListing[] }): JSX.Element => (
  <section>
    <h2>Other listings of this vehicle</h2>
    {listings.length === 0 ? (
      <p class="muted">There is no other listing for sale or sold.</p>
    ) : (
      <ul class="rows">
        {listings.map(({ id, price, miles, sold_date: sold, dealer_name, city, state }) => (
          <li key={id}>
            <a href={`/listings/${id}`}>{sold === null || sold === undefined ? "For sale" : `Sold ${day(sold)}`}</a>
            <span>{dollars(price)}</span>
            <span>{count(miles, " miles")}</span>
            <span class="muted">{plainWords(dealer_name, city, state)}</span>
          </li>
        ))}
      </ul>
    )}
  </section>
);
