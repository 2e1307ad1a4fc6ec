/** The rest of a listing's page: facts by name, the price breakdown, options, features, the vehicle's other listings, and the dealer. */
import type { ComponentChildren, JSX } from "preact";
import { type AttributeName, shownIn } from "../../../listing/schema.ts";
import { Block, DataTable } from "../../shell/blocks.tsx";
import { count, day, dollars, percent, plainWords, text } from "../../shell/format.ts";
import { titleOf, valueText } from "../../shop/attributes.ts";
import type { ShownListing } from "../../shop/columns.tsx";
import { ListingTable } from "../../shop/results.tsx";
import type { DealerInventory, ListingDetail } from "./market.ts";

type Fact = readonly [name: string, value: string];

interface FactListProps {
  readonly id: string;
  readonly title: ComponentChildren;
  readonly end?: ComponentChildren;
  readonly facts: readonly Fact[];
}

const FactList = ({ facts, ...block }: FactListProps): JSX.Element => (
  <Block {...block}>
    <dl class="facts-grid">
      {facts.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  </Block>
);

/** Returns the facts that are attributes. */
const factsOf = <T extends object>(values: T, names: readonly (keyof T & AttributeName)[]): readonly Fact[] =>
  names.map((name) => [titleOf(name), valueText(name, values[name])]);

/** What is known about the vehicle and its listing; unknown values are left out. */
export const ListingDetails = ({ listing }: { readonly listing: ListingDetail }): JSX.Element => {
  const { price, vehicle } = listing;
  const { build } = vehicle;
  const msrp = build.combined_msrp;
  const facts: readonly Fact[] = [
    ...factsOf(build, [...shownIn("vehicle"), ...shownIn("build")]),
    ["MSRP with options", dollars(msrp)],
    ["To MSRP", percent(price === null || msrp === null ? null : price / msrp - 1)],
    ["Window sticker", build.window_sticker_verified ? "verified" : "not verified"],
    ...factsOf(listing, ["miles", "inventory_type", "stock_number"]),
    ["First observed", day(listing.inventory_date)],
    ["Last observed", `${listing.last_checked_at.slice(0, 16)} UTC`],
    ["Dealer's phone", text(listing.dealer.phone)],
    ["Listing id", listing.id],
  ];
  return <FactList id="vehicle" title="Vehicle" facts={facts.filter(([, value]) => value !== text(null))} />;
};

interface DealerFactsProps {
  readonly dealer: ListingDetail["dealer"];
  readonly inventory: DealerInventory;
}

export const DealerFacts = ({ dealer, inventory }: DealerFactsProps): JSX.Element => {
  const { total, type, medianDays, rated, goodOrBetter } = inventory;
  return (
    <FactList
      id="dealer"
      title={
        <>
          {text(dealer.name)} {type === undefined ? null : <span class="tag">{type}</span>}
        </>
      }
      end={<a href={`/dealers/${dealer.dealer_id}`}>Its inventory</a>}
      facts={[
        ["Inventory", count(total)],
        ["Days on market, median", count(medianDays)],
        ["Prices rated great or good", rated === 0 ? text(null) : `${count(goodOrBetter)} of ${count(rated)}`],
      ]}
    />
  );
};

/** The price breakdown; nothing if the provider has none. */
export const PricingTable = ({ pricing }: Pick<ListingDetail, "pricing">): JSX.Element | null => {
  if (pricing === null) return null;
  const items = pricing.line_items.map(({ raw_label, role, applicability, direction, amount_usd: amount }) => [
    ...[raw_label, plainWords(role, applicability), dollars(direction === "subtract" ? -amount : amount)],
  ]);
  const totals = [
    ["Displayed price", pricing.displayed_provider_current_price_usd],
    ["Seller's total before taxes and registration", pricing.seller_total_before_taxes_and_registration_usd],
    ["Seller's total before manufacturer incentives", pricing.seller_total_before_manufacturer_incentives_usd],
    ["Vehicle price after the dealer's adjustments", pricing.dealer_adjusted_vehicle_price_usd],
  ] as const;
  const rows = [...items, ...totals.map(([name, amount]) => [name, "", dollars(amount)])];
  return (
    <Block id="pricing" title="Price breakdown">
      <DataTable label="Price breakdown" columns={["Item", "Kind", "#Amount"]} rows={rows} />
    </Block>
  );
};

type Options = NonNullable<ListingDetail["vehicle"]["build"]["options"]>;

/** The decoded options; nothing without options. */
export const OptionTable = ({ options }: { readonly options: Options }): JSX.Element | null =>
  options.length === 0 ? null : (
    <Block id="options" title="Options">
      <DataTable
        label="Options"
        columns={["Code", "Option", "#MSRP"]}
        rows={options.map(({ code, name, msrp }) => [code, name, dollars(msrp)])}
      />
    </Block>
  );

/** The features of the vehicle; nothing if none is known. */
export const FeatureList = ({ features }: { readonly features: readonly string[] }): JSX.Element | null =>
  features.length === 0 ? null : (
    <Block id="features" title="Features">
      <ul class="features">
        {features.map((feature) => (
          <li key={feature}>{feature.replaceAll("_", " ")}</li>
        ))}
      </ul>
    </Block>
  );

/** The columns of the vehicle's other listings. */
export const otherColumns = ["vehicle", "price", "miles", "sold_date", "dealer", "place"];

/** The other listings of the vehicle that are for sale or sold; nothing without any. */
export const OtherListings = ({ listings }: { readonly listings: readonly ShownListing[] }): JSX.Element | null =>
  listings.length === 0 ? null : (
    <section class="stack">
      <h2>Other listings of this vehicle</h2>
      <ListingTable view={{}} listings={listings} columns={otherColumns} />
    </section>
  );
