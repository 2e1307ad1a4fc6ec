/** The rest of a listing's page: facts by name, the price breakdown, options, features, the vehicle's other listings, and the dealer. */
import type { ComponentChildren, JSX } from "preact";
import { type AttributeName, shownIn } from "../../../listing/schema.ts";
import { count, day, dollars, percent, plainWords, text } from "../../shell/format.ts";
import { titleOf, valueText } from "../attributes.ts";
import type { ShownListing } from "../listing-fields.tsx";
import type { DealerInventory, ListingDetail } from "./market.ts";

type Fact = readonly [name: string, value: string];

interface FactListProps {
  readonly title: string;
  readonly facts: readonly Fact[];
  /** What stands beside the title. */
  readonly children?: ComponentChildren;
}

export const FactList = ({ title, facts, children }: FactListProps): JSX.Element => (
  <section class="sheet pad">
    <div class="head">
      <h2>{title}</h2>
      {children}
    </div>
    <dl class="facts-grid">
      {facts.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  </section>
);

/** Returns the facts that are attributes. */
const factsOf = <T extends object>(values: T, names: readonly (keyof T & AttributeName)[]): readonly Fact[] =>
  names.map((name) => [titleOf(name), valueText(name, values[name])]);

/** What is known about the vehicle and its listing; unknown values are left out. */
export const ListingDetails = ({ listing }: { readonly listing: ListingDetail }): JSX.Element => {
  const { build } = listing.vehicle;
  const facts: readonly Fact[] = [
    ...factsOf(build, [...shownIn("vehicle"), ...shownIn("build")]),
    ["MSRP with options", dollars(build.combined_msrp)],
    ["To MSRP", belowMsrp(listing)],
    ["Window sticker", build.window_sticker_verified ? "verified" : "not verified"],
    ...factsOf(listing, ["miles", "inventory_type", "stock_number"]),
    ["First observed", day(listing.inventory_date)],
    ["Last observed", `${listing.last_checked_at.slice(0, 16)} UTC`],
    ["Dealer's phone", text(listing.dealer.phone)],
    ["Listing id", listing.id],
  ];
  return <FactList title="Vehicle" facts={facts.filter(([, value]) => value !== text(null))} />;
};

const belowMsrp = ({ price, vehicle: { build } }: ListingDetail): string =>
  percent(price === null || build.combined_msrp === null ? null : price / build.combined_msrp - 1);

interface DealerFactsProps {
  readonly dealer: ListingDetail["dealer"];
  readonly inventory: DealerInventory;
}

export const DealerFacts = ({ dealer, inventory }: DealerFactsProps): JSX.Element => {
  const { total, type, medianDays, rated, goodOrBetter } = inventory;
  const facts: readonly Fact[] = [
    ["Inventory", count(total)],
    ["Days on market, median", count(medianDays)],
    ["Prices rated great or good", rated === 0 ? text(null) : `${count(goodOrBetter)} of ${count(rated)}`],
  ];
  return (
    <FactList title={text(dealer.name)} facts={facts}>
      {type === undefined ? null : <span class="tag">{type}</span>}
      <span class="end">
        <a href={`/dealers/${dealer.dealer_id}`}>Its inventory</a>
      </span>
    </FactList>
  );
};

interface RowsProps {
  readonly title: string;
  /** The rows: a name, words, and an amount in dollars. */
  readonly rows: readonly (readonly [name: string, words: string, amount: number | null])[];
}

/** A table of amounts; nothing without rows. */
const Amounts = ({ title, rows }: RowsProps): JSX.Element | null =>
  rows.length === 0 ? null : (
    <section class="sheet pad">
      <h2>{title}</h2>
      <div class="scroll">
        <table>
          <tbody>
            {rows.map(([name, words, amount], index) => (
              <tr key={index}>
                <th scope="row">{name}</th>
                <td class="soft">{words}</td>
                <td class="num">{dollars(amount)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </section>
  );

/** The price breakdown; nothing if the provider has none. */
export const PricingTable = ({ pricing }: Pick<ListingDetail, "pricing">): JSX.Element | null => {
  if (pricing === null) return null;
  const rows = pricing.line_items.map(({ raw_label, role, applicability, direction, amount_usd: amount }) => {
    return [raw_label, plainWords(role, applicability), direction === "subtract" ? -amount : amount] as const;
  });
  const totals = [
    ["Displayed price", "", pricing.displayed_provider_current_price_usd],
    ["Seller's total before taxes and registration", "", pricing.seller_total_before_taxes_and_registration_usd],
    ["Seller's total before manufacturer incentives", "", pricing.seller_total_before_manufacturer_incentives_usd],
    ["Vehicle price after the dealer's adjustments", "", pricing.dealer_adjusted_vehicle_price_usd],
  ] as const;
  return <Amounts title="Price breakdown" rows={[...rows, ...totals]} />;
};

type Options = NonNullable<ListingDetail["vehicle"]["build"]["options"]>;

/** The decoded options; nothing without options. */
export const OptionTable = ({ options }: { readonly options: Options }): JSX.Element => (
  <Amounts title="Options" rows={options.map(({ code, name, msrp }) => [code, name, msrp])} />
);

/** The features of the vehicle; nothing if none is known. */
export const FeatureList = ({ features }: { readonly features: readonly string[] }): JSX.Element | null =>
  features.length === 0 ? null : (
    <section class="sheet pad">
      <h2>Features</h2>
      <ul class="features">
        {features.map((feature) => (
          <li key={feature}>{feature.replaceAll("_", " ")}</li>
        ))}
      </ul>
    </section>
  );

/** The other listings of the vehicle that are for sale or sold; nothing without any. */
export const OtherListings = ({ listings }: { readonly listings: readonly ShownListing[] }): JSX.Element | null =>
  listings.length === 0 ? null : (
    <section class="sheet pad">
      <h2>Other listings of this vehicle</h2>
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
    </section>
  );
