/** Everything that is known about a listing: facts by name, the observed price breakdown, and the options. */
import type { JSX } from "preact";
import type { AnswerOf } from "../../../contract/types.ts";
import { type AttributeName, shownIn } from "../../../listing/schema.ts";
import { day, dollars, plainWords, text } from "../../shell/format.ts";
import { titleOf, valueText } from "../attributes.ts";

type Details = AnswerOf<"getListing">["data"];
type Fact = readonly [name: string, value: string];

export const ListingDetails = ({ listing }: { readonly listing: Details }): JSX.Element => (
  <section>
    <h2>Details</h2>
    <div class="fact-lists">
      <FactList title="Vehicle" facts={vehicleFacts(listing)} />
      <FactList title="Build" facts={buildFacts(listing.vehicle.build)} />
      <FactList title="Listing" facts={listingFacts(listing)} />
    </div>
  </section>
);

export const FactList = ({
  title,
  facts,
}: {
  readonly title: string;
  readonly facts: readonly Fact[];
}): JSX.Element => (
  <section class="fact-list">
    <h3>{title}</h3>
    <dl>
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

const vehicleFacts = ({ vin, vehicle: { status, build } }: Details): readonly Fact[] => [
  [titleOf("vin"), vin],
  ["State", status],
  ...factsOf(build, shownIn("vehicle")),
];

const buildFacts = (build: Details["vehicle"]["build"]): readonly Fact[] => [
  ...factsOf(build, shownIn("build")),
  ["MSRP with options", dollars(build.combined_msrp)],
  ["Window sticker", build.window_sticker_verified ? "verified" : "not verified"],
];

const listingFacts = (listing: Details): readonly Fact[] => [
  ...factsOf(listing, shownIn("listing")),
  ["Status", listing.status],
  ["First observed", day(listing.inventory_date)],
  ["Last observed", `${listing.last_checked_at.slice(0, 16)} UTC`],
  ...factsOf(listing, ["sold_date", "stock_number"]),
  ["Dealer", listing.dealer.name],
  ["Phone", text(listing.dealer.phone)],
  ["Place", text(plainWords(listing.dealer.city, listing.dealer.state, listing.dealer.postal_code))],
  ["Listing id", listing.id],
];

/** The price breakdown; nothing if the provider has none. */
export const PricingTable = ({ pricing }: Pick<Details, "pricing">): JSX.Element | null => {
  if (pricing === null) return null;
  const totals: readonly (readonly [string, number | null])[] = [
    ["Displayed price", pricing.displayed_provider_current_price_usd],
    ["Seller's total before taxes and registration", pricing.seller_total_before_taxes_and_registration_usd],
    ["Seller's total before manufacturer incentives", pricing.seller_total_before_manufacturer_incentives_usd],
    ["Vehicle price after the dealer's adjustments", pricing.dealer_adjusted_vehicle_price_usd],
  ];
  return (
    <section>
      <h2>Price breakdown</h2>
      <table>
        <tbody>
          {pricing.line_items.map((item) => (
            <tr key={item.row_order}>
              <th scope="row">{item.raw_label}</th>
              <td class="muted">{plainWords(item.role, item.applicability)}</td>
              <td class="num">{dollars(item.direction === "subtract" ? -item.amount_usd : item.amount_usd)}</td>
            </tr>
          ))}
          {totals.map(([name, amount]) => (
            <tr key={name}>
              <th scope="row">{name}</th>
              <td />
              <td class="num">{dollars(amount)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
};

/** The features of the vehicle; nothing if none is known. */
export const FeatureList = ({ features }: { readonly features: readonly string[] }): JSX.Element | null =>
  features.length === 0 ? null : (
    <section>
      <h2>Features</h2>
      <ul class="features">
        {features.map((feature) => (
          <li key={feature}>{feature.replaceAll("_", " ")}</li>
        ))}
      </ul>
    </section>
  );

type Options = NonNullable<Details["vehicle"]["build"]["options"]>;

/** The decoded options; nothing without options. */
export const OptionTable = ({ options }: { readonly options: Options }): JSX.Element | null =>
  options.length === 0 ? null : (
    <section>
      <h2>Options</h2>
      <table>
        <tbody>
          {options.map(({ code, name, msrp }) => (
            <tr key={code}>
              <th scope="row">{code}</th>
              <td>{name}</td>
              <td class="num">{dollars(msrp)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
