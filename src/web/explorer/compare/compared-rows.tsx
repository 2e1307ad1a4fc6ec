/** The rows of a comparison, in groups: the texts of cars, which cars are best in a row, and where all agree. */
import type { ComponentChildren } from "preact";
import type { AnswerOf } from "../../../contract/types.ts";
import { type AttributeName, shownIn } from "../../../listing/schema.ts";
import { count, day, dollars, plainWords, text } from "../../shell/format.ts";
import { titleOf, valueText } from "../attributes.ts";
import type { ShownListing } from "../listing-fields.tsx";
import { PriceRuler, RatingBadge, ratingLooks } from "../value.tsx";
import { ExternalLink } from "./external-link.tsx";

export interface ComparedCar {
  readonly listing: AnswerOf<"getListing">["data"];
  /** The listing that replaced this one, which ended without a sale. */
  readonly supersededBy: string | undefined;
  /** What searches know and details do not; undefined for a listing in no search. */
  readonly summary: Pick<ShownListing, "features" | "days_on_market"> | undefined;
}

export interface ComparedRow {
  readonly title: string;
  /** Cars with equal texts agree. */
  readonly text: (car: ComparedCar) => string;
  /** What a cell shows instead of its text. */
  readonly cell?: (car: ComparedCar) => ComponentChildren;
  /** A number that every buyer prefers lower; its lowest is best. */
  readonly lower?: (car: ComparedCar) => number | null;
}

/** Returns true if a car can be bought: only such a car is best. */
const isForSale = ({ listing, supersededBy }: ComparedCar): boolean =>
  listing.vehicle.status === "active" && listing.status === "active" && supersededBy === undefined;

export const agree = ({ text: textOf }: ComparedRow, cars: readonly ComparedCar[]): boolean =>
  new Set(cars.map(textOf)).size === 1;

/** Returns the best cars of a row: none if all are equal, or if the number of a car for sale is unknown. */
export function bestOf({ lower }: ComparedRow, cars: readonly ComparedCar[]): readonly ComparedCar[] {
  const offered = cars.filter(isForSale);
  const numbers = offered.map((car) => lower?.(car) ?? Number.NaN);
  const lowest = Math.min(...numbers);
  const best = offered.filter((_, index) => numbers[index] === lowest);
  return best.length < offered.length ? best : [];
}

/** Formats a difference in dollars. */
function difference(amount: number | null): string {
  if (amount === null || amount === 0) return amount === null ? text(null) : "none";
  return amount > 0 ? `+${dollars(amount)}` : dollars(amount);
}

type ListingName = keyof ComparedCar["listing"] & AttributeName;

/** Returns the row of an attribute of the listing. */
const rowOf = (name: ListingName): ComparedRow => ({
  title: titleOf(name),
  text: ({ listing }) => valueText(name, listing[name]),
});

const priceRows: readonly ComparedRow[] = [
  { ...rowOf("price"), lower: ({ listing }) => listing.price },
  { ...rowOf("all_in_price"), title: "All in, stated fees", lower: ({ listing }) => listing.all_in_price },
  {
    title: "Value",
    text: ({ listing: { value_rating: rating } }) => (rating === null ? "No rating" : ratingLooks[rating][1]),
    cell: ({ listing }) => (
      <>
        <RatingBadge rating={listing.value_rating} />
        {listing.market_value === null ? null : <PriceRuler valued={listing} />}
      </>
    ),
  },
  {
    title: "Estimate, 80% of prices",
    text: ({ listing: { market_value: value, market_value_low: low, market_value_high: high } }) =>
      value === null ? text(null) : `${dollars(value)}, ${dollars(low)} to ${dollars(high)}`,
  },
  {
    title: "Against the estimate",
    text: ({ listing: { price, market_value: value } }) =>
      difference(price === null || value === null ? null : price - value),
  },
];

/** The attributes of a build in their order; the head of a column has the others. */
const buildNames = [...shownIn("vehicle"), ...shownIn("build")].filter(
  (name) => !["year", "make", "model", "trim"].includes(name),
);

const vehicleRows: readonly ComparedRow[] = [
  {
    title: titleOf("year"),
    text: ({ listing }) => text(listing.vehicle.build.year),
    lower: ({ listing: { vehicle } }) => (vehicle.build.year === null ? null : -vehicle.build.year),
  },
  { ...rowOf("miles"), lower: ({ listing }) => listing.miles },
  rowOf("inventory_type"),
  ...buildNames.map((name) => ({
    title: titleOf(name),
    text: ({ listing }: ComparedCar) => valueText(name, listing.vehicle.build[name]),
  })),
  { title: "MSRP with options", text: ({ listing }) => dollars(listing.vehicle.build.combined_msrp) },
];

const dealerRows: readonly ComparedRow[] = [
  {
    title: "Dealer",
    text: ({ listing: { dealer } }) => dealer.dealer_id,
    cell: ({ listing: { dealer } }) => <a href={`/dealers/${dealer.dealer_id}`}>{dealer.name}</a>,
  },
  { title: "Place", text: ({ listing: { dealer } }) => text(plainWords(dealer.city, dealer.state)) },
  { title: "Phone", text: ({ listing: { dealer } }) => text(dealer.phone) },
  {
    title: "Its page",
    text: ({ listing }) => text(listing.vdp_url),
    cell: ({ listing }) => <ExternalLink url={listing.vdp_url}>Dealer's page</ExternalLink>,
  },
];

const historyRows: readonly ComparedRow[] = [
  { title: titleOf("days_on_market"), text: ({ summary }) => count(summary?.days_on_market) },
  { title: "First observed", text: ({ listing }) => day(listing.inventory_date) },
  rowOf("price_at_listing"),
  {
    title: "Change since listing",
    text: ({ listing: { price_change_total: change, price_drops: drops } }) =>
      plainWords(difference(change), drops === null || drops < 2 ? null : `${drops} drops`),
  },
  { title: "Last price change", text: ({ listing }) => day(listing.price_changed_at) },
];

const wordsOf = (features: Iterable<string>): string =>
  [...features]
    .map((feature) => feature.replaceAll("_", " "))
    .sort()
    .join(", ");

/** Returns the equipment of cars: the features that all have, and rows of those that only some have. */
function equipmentOf(cars: readonly ComparedCar[]) {
  const known = cars.flatMap(({ summary }) => (summary?.features === undefined ? [] : [summary.features]));
  const counts = new Map<string, number>();
  for (const feature of known.flat()) counts.set(feature, (counts.get(feature) ?? 0) + 1);
  const row = (title: string, isShown: (owners: number) => boolean): ComparedRow => ({
    title,
    text: ({ summary }) =>
      summary?.features === undefined
        ? "unknown"
        : text(wordsOf(summary.features.filter((feature) => isShown(counts.get(feature) ?? 0)))),
  });
  const inAll = [...counts].filter(([, owners]) => owners === known.length).map(([feature]) => feature);
  return {
    inAll: wordsOf(inAll).split(", ").filter(Boolean),
    rows: [
      row("Only here", (owners) => owners === 1),
      ...(known.length > 2 ? [row("Also here, not in all", (owners) => owners > 1 && owners < known.length)] : []),
    ],
  };
}

export interface RowGroup {
  readonly title: string;
  readonly rows: readonly ComparedRow[];
  /** The features of all cars, of the group of equipment. */
  readonly inAll?: readonly string[];
}

/** Returns the rows of some cars in their groups. */
export const comparedGroups = (cars: readonly ComparedCar[]): readonly RowGroup[] => [
  { title: "Price and value", rows: priceRows },
  { title: "Vehicle", rows: vehicleRows },
  { title: "Equipment", ...equipmentOf(cars) },
  { title: "Dealer", rows: dealerRows },
  { title: "History", rows: historyRows },
];
