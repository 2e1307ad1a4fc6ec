/** The page of a dealer: profile, mix and prices of its inventory, and the inventory itself. */
import type { JSX } from "preact";
import type { AnswerOf } from "../../contract/types.ts";
import { count, dollars, plainWords, text } from "../shell/format.ts";
import type { PageHandler } from "../shell/pages.tsx";
import { serviceOrigin } from "../shell/pages.tsx";
import { ApiRequests, MissingParts } from "./api-requests.tsx";
import { titleOf } from "./attributes.ts";
import type { ValueBucket } from "./facets.ts";
import { FactList } from "./listing/listing-details.tsx";
import { ExternalLink } from "./listing/listing-head.tsx";
import { chosenColumns } from "./listing-fields.tsx";
import { ListingTable, Paging } from "./search/results.tsx";
import { viewPath } from "./view.ts";

/** The facets of a dealer's mix. */
const mixFacets = ["inventory_type", "make", "model", "body_type"] as const;

const columns = ["vehicle", "price", "discount_from_msrp", "miles", "days_on_market", "inventory_type"];

export const dealerPage: PageHandler = async ({ context, params, query, requests }) => {
  const { data: dealer } = await requests.call("getDealer", {}, params);
  const { dealer_id } = dealer;
  const fields = chosenColumns(columns).flatMap((column) => column.fields);
  const offset = query.get("offset") ?? "0";
  const [inventory, mix] = await Promise.all([
    requests.loadPart("inventory", () =>
      requests.call("searchDealerListings", { fields: fields.join(), limit: "50", offset }, { dealer_id }),
    ),
    requests.loadPart("mix and prices", () =>
      requests.call("getFacets", {
        ...{ facets: [...mixFacets, "price", "miles", "days_on_market"].join(), dealer_id },
        facet_value_limit: "8",
      }),
    ),
  ]);
  return {
    title: dealer.name,
    section: "explorer",
    body: (
      <article class="detail">
        <DealerHead dealer={dealer} />
        <MissingParts missing={requests.missing} />
        {mix === undefined ? null : <Mix dealerId={dealer_id} counts={mix.data} />}
        {inventory === undefined ? null : <Inventory dealerId={dealer_id} answer={inventory} />}
        <ApiRequests origin={serviceOrigin(context)} requests={requests} />
      </article>
    ),
  };
};

interface InventoryProps {
  readonly dealerId: string;
  readonly answer: AnswerOf<"searchDealerListings">;
}

const Inventory = ({ dealerId, answer: { data, pagination } }: InventoryProps): JSX.Element => (
  <section>
    <h2>{count(pagination.total)} for sale</h2>
    {data.length === 0 ? null : (
      <>
        <ListingTable view={{}} listings={data} columns={columns} />
        <Paging view={{}} pagination={pagination} path={`/dealers/${dealerId}`} />
      </>
    )}
  </section>
);

type Profile = AnswerOf<"getDealer">["data"];

const DealerHead = ({ dealer }: { readonly dealer: Profile }): JSX.Element => (
  <header class="detail-head">
    <h1>{dealer.name}</h1>
    <p>
      {plainWords(
        dealer.type === null ? null : `${dealer.type === "franchise" ? "Franchise" : "Independent"} dealer`,
        dealer.address?.line1,
        dealer.city,
        dealer.state,
        dealer.postal_code,
      )}
    </p>
    <p class="links">
      <ExternalLink url={dealer.website === null ? null : websiteUrl(dealer.website)}>Website</ExternalLink>
      <a href={viewPath({ dealer_id: dealer.dealer_id })}>Explore its inventory</a>
      <a href={viewPath({ dealer_id: dealer.dealer_id, inventory_status: "sold" })}>Sold by it</a>
      <span class="muted">{plainWords(dealer.phone, dealer.makes.join(", "))}</span>
    </p>
  </header>
);

/** Returns the URL of a website, which is stored without a scheme. */
const websiteUrl = (website: string): string => (website.includes("://") ? website : `https://${website}`);

interface MixProps {
  readonly dealerId: string;
  readonly counts: AnswerOf<"getFacets">["data"];
}

const Mix = ({ dealerId, counts }: MixProps): JSX.Element | null => {
  const { price, miles, days_on_market: days } = counts.stats;
  if (counts.total === 0) return null;
  return (
    <section>
      <h2>Mix and prices</h2>
      <div class="fact-lists">
        <FactList
          title="Prices"
          facts={[
            ["Median price", dollars(rounded(price?.median))],
            ["Lowest price", dollars(price?.min)],
            ["Highest price", dollars(price?.max)],
            ["Median miles", count(rounded(miles?.median))],
            ["Median days on market", text(rounded(days?.median))],
          ]}
        />
        {mixFacets.map((name) => (
          <Shares key={name} name={name} dealerId={dealerId} buckets={counts.facets[name] ?? []} />
        ))}
      </div>
    </section>
  );
};

const rounded = (value: number | null | undefined): number | null =>
  value === null || value === undefined ? null : Math.round(value);

interface SharesProps {
  readonly name: (typeof mixFacets)[number];
  readonly dealerId: string;
  readonly buckets: readonly ValueBucket[];
}

const Shares = ({ name, dealerId, buckets }: SharesProps): JSX.Element => (
  <section class="fact-list">
    <h3>{titleOf(name)}</h3>
    <dl>
      {buckets.map(({ value, count: listings }) => (
        <div key={value}>
          <dt>
            {value.includes(",") ? value : <a href={viewPath({ dealer_id: dealerId, [name]: value })}>{value}</a>}
          </dt>
          <dd>{count(listings)}</dd>
        </div>
      ))}
    </dl>
  </section>
);
