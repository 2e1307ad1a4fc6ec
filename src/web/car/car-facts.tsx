/** What a car is: its facts, packages and features; and its dealer. */
import type { ComponentChildren, JSX } from "preact";
import { Badge, hasBrandedTitle } from "../components/badge.tsx";
import { Sheet, Spec } from "../components/sheet.tsx";
import { CarDrawing } from "../drawings/car-drawing.tsx";
import { dealerSentence } from "../sentences/car.ts";
import { things } from "../sentences/words.ts";
import { count, day, dollars, plainWords, shortDay, text, webUrl } from "../shell/format.ts";
import { Words } from "../shell/verdict.tsx";
import { valueName } from "../shop/filter-words.ts";
import type { ListingDetail, ShownCar } from "./car-data.ts";
import { drawnCar } from "./car-hero.tsx";

interface FactsProps {
  readonly car: ShownCar;
  /** Whether a photo has taken the stage: then the drawing is among the facts. */
  readonly hasPhoto: boolean;
}

export const CarFacts = ({ car, hasPhoto }: FactsProps): JSX.Element => (
  <Sheet
    title="What it is"
    end={
      hasPhoto ? (
        <span class="aside">
          <CarDrawing car={drawnCar(car)} look="mini" />
        </span>
      ) : undefined
    }
    tools={linksOf(car.listing, hasPhoto)}
  >
    <Spec facts={factsOf(car)} />
    <Packages listing={car.listing} />
  </Sheet>
);

/** Returns the known facts of a car, each with its name. */
export function factsOf({ listing, own, asOf }: Pick<ShownCar, "listing" | "own" | "asOf">) {
  const { build } = listing.vehicle;
  const rows = own?.features?.includes("third_row_seats") === true ? " in 3 rows" : "";
  const facts: readonly (readonly [string, ComponentChildren])[] = [
    ["Trim", plainWords(build.trim, build.drivetrain)],
    ["Engine", plainWords(engineName(build.engine), build.transmission)],
    ["Miles", listing.miles === null ? "" : count(listing.miles)],
    ["Seats", build.seating_capacity === null ? "" : `${build.seating_capacity}${rows}`],
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
    ["Sticker", build.window_sticker_verified ? "verified" : "not verified"],
    ["Title", own !== undefined && hasBrandedTitle(own) ? <Badge look="branded">branded</Badge> : ""],
  ];
  return facts.filter(([, value]) => value !== null && value !== "");
}

/** Returns an engine in words: `2.5L I4` is a `2.5L 4-cylinder`. */
const engineName = (engine: string | null): string | null => engine?.replace(/\bI(\d)\b/, "$1-cylinder") ?? null;

const feesOf = ({ seller_fees: fees, all_in_price: total }: ListingDetail): string =>
  fees === null ? "none stated" : `${dollars(fees)}${total === null ? "" : `, ${dollars(total)} in all`}`;

/** The decoded options, with their prices when new. */
const Packages = ({ listing }: Pick<ShownCar, "listing">): JSX.Element | null => {
  const names = (listing.vehicle.build.options ?? []).map(
    ({ name, code, msrp }) => `${name ?? code}${msrp === null ? "" : `, ${dollars(msrp)} when new`}`,
  );
  return names.length === 0 ? null : (
    <>
      <h3>Packages</h3>
      <p class="packages">{names.join(" · ")}</p>
    </>
  );
};

/** Links to what other hosts have of the car: its page at the dealer, its history report, and photos that pages do not show. */
function linksOf(listing: ListingDetail, hasPhoto: boolean): readonly JSX.Element[] | undefined {
  const links = [
    ["The dealer's page", listing.vdp_url],
    ["History report", listing.vhr_url],
    ...(hasPhoto ? [] : listing.photo_urls.map((url, index) => [`Photo ${index + 1}`, url] as const)),
  ] as const;
  const known = links.flatMap(([name, url]) => {
    const href = webUrl(url);
    if (href === undefined) return [];
    return [
      <a key={name} href={href} rel="noopener noreferrer nofollow">
        {name}
      </a>,
    ];
  });
  return known.length === 0 ? undefined : known;
}

export const FeatureSheet = ({ features }: { readonly features: readonly string[] }): JSX.Element => (
  <Sheet title={things(features.length, "feature")}>
    <ul class="cols">
      {features.map((feature) => (
        <li key={feature}>{valueName("features", feature)}</li>
      ))}
    </ul>
  </Sheet>
);

export const DealerSheet = ({ car: { listing, stock } }: { readonly car: ShownCar }): JSX.Element => {
  const { dealer_id: id, name, latitude, longitude } = listing.dealer;
  const hrefs = { cars: `/dealers/${id}`, good: `/shop?dealer_id=${id}&value_rating=great,good` };
  const map = `https://www.openstreetmap.org/?mlat=${latitude}&mlon=${longitude}#map=14/${latitude}/${longitude}`;
  return (
    <Sheet title={text(name)} of={stock && <Words sentence={dealerSentence({ ...stock, hrefs })} />} isTinted>
      <p>
        <a href={hrefs.cars}>See this dealer</a>
        {latitude === null || longitude === null ? null : (
          <>
            {" · "}
            <a href={map} rel="noopener noreferrer">
              Map
            </a>
          </>
        )}
      </p>
    </Sheet>
  );
};
