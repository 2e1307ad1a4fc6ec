/** The rows of a comparison, in groups: the texts of cars, which cars are best in a row, and where all agree. */
import type { ComponentChildren } from "preact";
import type { AnswerOf } from "../../../contract/types.ts";
import { type AttributeName, shownIn } from "../../../listing/schema.ts";
import { count, day, dollars, plainWords, text } from "../../shell/format.ts";
import { titleOf, valueText } from "../attributes.ts";
import { ExternalLink } from "../listing/listing-head.tsx";
import type { ShownListing } from "../listing-fields.tsx";
import { PriceRuler, RatingBadge, ratingLooks } from "../value.tsx";

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
  /** What a cell shows in place of its text. */
  readonly cell?: (car: ComparedCar) => ComponentChildren;
  /** A number that every buyer prefers lower; its lowest is best. */
  readonly lower?: (car: ComparedCar) => number | null;
}

/** Returns true if a car can be bought: only such a car is best. */
export const isForSale = ({ listing, supersededBy }: ComparedCar): boolean =>
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

const priceRows: readonly ComparedRow[] = [
  { title: titleOf("price"), text: ({ listing }) => dollars(listing.price), lower: ({ listing }) => listing.price },
  {
    title: "All in, stated fees",
    text: ({ listing }) => dollars(listing.all_in_price),
    lower: ({ listing }) => listing.all_in_price,
  },
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

const headNames: readonly AttributeName[] = ["year", "make", "model", "trim"];

const vehicleRows: readonly ComparedRow[] = [
  {
    title: titleOf("year"),
    text: ({ listing }) => text(listing.vehicle.build.year),
    lower: ({ listing: { vehicle } }) => (vehicle.build.year === null ? null : -vehicle.build.year),
  },
  { title: titleOf("miles"), text: ({ listing }) => count(listing.miles), lower: ({ listing }) => listing.miles },
  { title: titleOf("inventory_type"), text: ({ listing }) => text(listing.inventory_type) },
  ...[...shownIn("vehicle"), ...shownIn("build")]
    .filter((name) => !headNames.includes(name))
    .map((name) => ({
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
  { title: titleOf("price_at_listing"), text: ({ listing }) => dollars(listing.price_at_listing) },
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

/** Equipment by how many of the cars have it: those in all are one text, the others a row for each car's. */
export interface Equipment {
  readonly inAll: readonly string[];
  readonly rows: readonly ComparedRow[];
}

export function sharedEquipment(cars: readonly ComparedCar[]): Equipment {
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
  const shared = [...counts].filter(([, owners]) => owners === known.length).map(([feature]) => feature);
  return {
    inAll: wordsOf(shared).split(", ").filter(Boolean),
    rows: [
      row("Only here", (owners) => owners === 1),
      ...(known.length > 2 ? [row("Also here, not in all", (owners) => owners > 1 && owners < known.length)] : []),
    ],
  };
}

/** Returns the rows of some cars in their groups. */
export const comparedGroups = (
  equipment: Equipment,
): readonly (readonly [title: string, rows: readonly ComparedRow[]])[] => [
  ["Price and value", priceRows],
  ["Vehicle", vehicleRows],
  ["Equipment", equipment.rows],
  ["Dealer", dealerRows],
  ["History", historyRows],
];
