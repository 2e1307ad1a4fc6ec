/** What a car is: its facts, packages and features, the parts of its price, its other listings, and its dealer. */
import type { ComponentChildren, JSX } from "preact";
import { Badge, hasBrandedTitle } from "../components/badge.tsx";
import { type CardListing, carName } from "../components/card.tsx";
import { Sheet, Spec } from "../components/sheet.tsx";
import { DataTable } from "../components/table.tsx";
import { CarDrawing } from "../drawings/car-drawing.tsx";
import { dealerSentence, type NoRating, whyNoRating } from "../sentences/car.ts";
import { things } from "../sentences/words.ts";
import { count, day, dollars, plainWords, shortDay, text, webUrl } from "../shell/format.ts";
import { Words } from "../shell/verdict.tsx";
import { valueName } from "../shop/filter-words.ts";
import type { CarParts, ListingDetail } from "./car-data.ts";
import { drawnCar } from "./car-hero.tsx";

interface FactsProps {
  readonly listing: ListingDetail;
  readonly parts: Pick<CarParts, "own">;
  readonly asOf: string;
  /** Whether a photo has taken the stage: then the drawing is among the facts. */
  readonly hasPhoto: boolean;
}

export const CarFacts = ({ hasPhoto, ...props }: FactsProps): JSX.Element => (
  <Sheet
    title="What it is"
    end={
      hasPhoto ? (
        <span class="aside">
          <CarDrawing car={drawnCar(props.listing, props.parts)} look="mini" />
        </span>
      ) : undefined
    }
  >
    <Spec facts={factsOf(props)} />
    <Packages listing={props.listing} />
    <Elsewhere listing={props.listing} hasPhoto={hasPhoto} />
  </Sheet>
);

type Facts = readonly (readonly [name: string, value: ComponentChildren])[];

function factsOf({ listing, parts: { own }, asOf }: Omit<FactsProps, "hasPhoto">): Facts {
  const { vehicle, price_drops: cuts } = listing;
  const { build } = vehicle;
  const { seating_capacity: seats, window_sticker_verified: isVerified } = build;
  const rows = own?.features?.includes("third_row_seats") === true ? " in 3 rows" : "";
  const title = own !== undefined && hasBrandedTitle(own) ? <Badge look="branded">branded</Badge> : undefined;
  const facts: Facts = [
    ["Trim", plainWords(build.trim, build.drivetrain)],
    ["Engine", plainWords(engineName(build.engine), build.transmission)],
    ["Miles", listing.miles === null ? "" : count(listing.miles)],
    ["Seats", seats === null ? "" : `${seats}${rows}`],
    ["Color", build.exterior_color ?? build.base_exterior_color],
    ["Inside", build.interior_color ?? build.base_interior_color],
    ["Sticker when new", build.combined_msrp === null ? "" : dollars(build.combined_msrp)],
    ["Built in", build.assembly_location],
    ["Fuel", build.fuel_type],
    ["Doors", build.doors],
    ["VIN", listing.vin],
    ["Stock number", listing.stock_number],
    ["Listed", listing.inventory_date === null ? "" : day(listing.inventory_date)],
    ["Checked", `${shortDay(listing.last_checked_at, asOf)}, ${listing.last_checked_at.slice(11, 16)} UTC`],
    ["Fees", feesOf(listing)],
    ["Sticker", isVerified ? "verified" : "not verified"],
    ...(title === undefined ? [] : [["Title", title] as const]),
    ...(title === undefined ? [] : [["Price cuts", cuts === 0 ? "none" : cuts] as const]),
  ];
  return facts.filter(([, value]) => value !== null && value !== "");
}

/** Returns an engine in words: `2.5L I4` is a `2.5L 4-cylinder`. */
const engineName = (engine: string | null): string | null => engine?.replace(/\bI(\d)\b/, "$1-cylinder") ?? null;

const feesOf = ({ seller_fees: fees, all_in_price: total }: ListingDetail): string =>
  fees === null ? "none stated" : `${dollars(fees)}${total === null ? "" : `, ${dollars(total)} in all`}`;

/** The decoded options, with their prices when new. */
const Packages = ({ listing }: Pick<FactsProps, "listing">): JSX.Element | null => {
  const options = listing.vehicle.build.options ?? [];
  return options.length === 0 ? null : (
    <>
      <h3>Packages</h3>
      <p class="packages">
        {options
          .map(({ name, code, msrp }) => `${name ?? code}${msrp === null ? "" : `, ${dollars(msrp)} when new`}`)
          .join(" · ")}
      </p>
    </>
  );
};

/** What other hosts have of the car: its page at the dealer, its history report, and photos that pages do not show. */
const Elsewhere = ({ listing, hasPhoto }: Pick<FactsProps, "listing" | "hasPhoto">): JSX.Element | null => {
  const links = [
    [listing.vdp_url, "The dealer's page"],
    [listing.vhr_url, "History report"],
    ...(hasPhoto ? [] : listing.photo_urls.map((url, index) => [url, `Photo ${index + 1}`] as const)),
  ] as const;
  const known = links.flatMap(([url, name]) => {
    const href = webUrl(url);
    return href === undefined ? [] : [{ href, name }];
  });
  return known.length === 0 ? null : (
    <p class="tools">
      {known.map(({ href, name }) => (
        <a key={name} href={href} rel="noopener noreferrer nofollow">
          {name}
        </a>
      ))}
    </p>
  );
};

export const FeatureSheet = ({ features }: { readonly features: readonly string[] }): JSX.Element | null =>
  features.length === 0 ? null : (
    <Sheet title={things(features.length, "feature")}>
      <ul class="cols">
        {features.map((feature) => (
          <li key={feature}>{valueName("features", feature)}</li>
        ))}
      </ul>
    </Sheet>
  );

export const WhyNoRating = ({ reason }: { readonly reason: NoRating }): JSX.Element => {
  const { title, text: why } = whyNoRating(reason);
  return (
    <section class="fig tint rose">
      <h2>{title}</h2>
      <p>{why}</p>
    </section>
  );
};

interface DealerProps {
  readonly dealer: ListingDetail["dealer"];
  readonly stock: NonNullable<CarParts["stock"]> | undefined;
}

export const DealerSheet = ({ dealer, stock }: DealerProps): JSX.Element => {
  const { dealer_id: id, latitude, longitude } = dealer;
  const path = `/dealers/${id}`;
  const hrefs = { cars: path, good: `/shop?dealer_id=${id}&value_rating=great,good` };
  return (
    <Sheet title={text(dealer.name)} of={stock && <Words sentence={dealerSentence({ ...stock, hrefs })} />} isTinted>
      <p>
        <a href={path}>See this dealer</a>
        {latitude === null || longitude === null ? null : (
          <>
            {" · "}
            <a
              href={`https://www.openstreetmap.org/?mlat=${latitude}&mlon=${longitude}#map=14/${latitude}/${longitude}`}
              rel="noopener noreferrer"
            >
              Map
            </a>
          </>
        )}
      </p>
    </Sheet>
  );
};

/** The parts of a price; nothing if the provider does not say. */
export const PriceParts = ({ pricing }: Pick<ListingDetail, "pricing">): JSX.Element | null => {
  if (pricing === null) return null;
  const items = pricing.line_items.map(({ raw_label, role, applicability, direction, amount_usd: amount }) => ({
    name: raw_label,
    kind: plainWords(role, applicability).replaceAll("_", " "),
    amount: direction === "subtract" ? -amount : amount,
  }));
  const totals = [
    ["Displayed price", pricing.displayed_provider_current_price_usd],
    ["Seller's total before taxes and registration", pricing.seller_total_before_taxes_and_registration_usd],
    ["Seller's total before manufacturer incentives", pricing.seller_total_before_manufacturer_incentives_usd],
    ["Vehicle price after the dealer's adjustments", pricing.dealer_adjusted_vehicle_price_usd],
  ] as const;
  return (
    <Sheet title="The parts of the price" of="As the dealer states it, before taxes and registration.">
      <DataTable
        label="Parts of the price"
        columns={[
          { title: "Part", cell: ({ name }) => name },
          { title: "Kind", cell: ({ kind }) => kind },
          { title: "Amount", isNumber: true, cell: ({ amount }) => dollars(amount) },
        ]}
        rows={[...items, ...totals.map(([name, amount]) => ({ name, kind: "", amount }))]}
      />
    </Sheet>
  );
};

/** The other listings of the car, for sale or sold; nothing without any. */
export const OtherListings = ({ cars, asOf }: { readonly cars: readonly CardListing[]; readonly asOf: string }) =>
  cars.length === 0 ? null : (
    <Sheet title="This car, listed elsewhere" of="Listings with the same VIN.">
      <DataTable
        label="Other listings of this car"
        columns={[
          { title: "Car", cell: (car) => <a href={`/listings/${car.id}`}>{carName(car)}</a> },
          { title: "Where", cell: (car) => text(plainWords(car.dealer_name, car.city, car.state)) },
          { title: "Miles", isNumber: true, cell: (car) => count(car.miles) },
          { title: "Price", isNumber: true, cell: (car) => dollars(car.price) },
          {
            title: "State",
            cell: (car) =>
              car.sold_date == null ? (
                <Badge look="petrol">for sale</Badge>
              ) : (
                <Badge>sold {shortDay(car.sold_date, asOf)}</Badge>
              ),
          },
        ]}
        rows={cars}
      />
    </Sheet>
  );
