/** The columns of a table of listings. */
import type { ComponentChildren } from "preact";
import type { AnswerOf } from "../../contract/types.ts";
import { type AttributeName, attributeOf, shownIn } from "../../listing/schema.ts";
import { PriceBadge } from "../components/badge.tsx";
import { carName } from "../components/card.tsx";
import { cardDifference } from "../sentences/car.ts";
import { count, plainWords, text } from "../shell/format.ts";
import { titleOf, valueText } from "./attributes.ts";
import { listingPath, type ViewParameters } from "./view.ts";

export type ShownListing = AnswerOf<"searchListings">["data"][number];

interface ColumnDefinition {
  /** The name in the parameter `columns`. */
  readonly name: string;
  readonly title: string;
  /** The fields that the API returns for it. */
  readonly fields: readonly string[];
  readonly isNumber?: boolean;
  /** The order of the API by it. */
  readonly sort?: string | undefined;
  readonly value: (listing: ShownListing, view: ViewParameters) => ComponentChildren;
}

type ColumnName = keyof ShownListing & AttributeName;

/** Titles that are shorter above a column. */
const shortTitles: Readonly<Partial<Record<ColumnName, string>>> = {
  days_on_market: "Days",
  price_to_value: "To value",
};

const column = (name: ColumnName): ColumnDefinition => ({
  name,
  title: shortTitles[name] ?? titleOf(name),
  fields: [name],
  isNumber: attributeOf(name).search === "number",
  sort: name === "price_to_value" ? undefined : attributeOf(name).sort,
  value: (listing) => valueText(name, listing[name]),
});

const shownColumns: readonly ColumnName[] = shownIn("column");

/** Returns the year, make and model of a listing, or its VIN if none is known. */
export const nameOf = carName;

/** All columns of the table, in their order. */
export const columnDefinitions: readonly ColumnDefinition[] = [
  {
    name: "vehicle",
    title: "Vehicle",
    fields: ["year", "make", "model", "trim"],
    value: (listing, view) => (
      <>
        <a href={listingPath(listing.id, view)}>{nameOf(listing)}</a> <span class="mute">{listing.trim ?? ""}</span>
      </>
    ),
  },
  column("price"),
  {
    name: "judged",
    title: "Price judged",
    fields: ["price", "market_value", "value_rating", "keywords"],
    sort: "value",
    value: (listing) => <PriceBadge car={listing} />,
  },
  {
    name: "beside",
    title: "Than similar cars",
    fields: ["price", "market_value", "value_rating", "keywords"],
    value: (listing) => text(cardDifference(listing)),
  },
  ...shownColumns.filter((name) => name !== "price").map(column),
  {
    name: "dealer",
    title: "Dealer",
    fields: ["dealer_id", "dealer_name"],
    value: ({ dealer_id, dealer_name }) =>
      dealer_id === null || dealer_id === undefined ? (
        text(dealer_name)
      ) : (
        <a href={`/dealers/${dealer_id}`}>{text(dealer_name)}</a>
      ),
  },
  {
    name: "place",
    title: "Place",
    fields: ["city", "state"],
    value: ({ city, state }) => text(plainWords(city, state)),
  },
  {
    name: "distance_miles",
    title: "Distance",
    fields: ["distance_miles"],
    isNumber: true,
    sort: "distance",
    value: ({ distance_miles }) => count(distance_miles, " mi"),
  },
  column("stock_number"),
  column("vin"),
];

const defaultColumns = ["vehicle", "price", "judged", "beside", "miles", "days_on_market", "dealer", "place"];

/** Returns the chosen columns; the default ones if none of the names is a column. */
export function chosenColumns(names: readonly string[]): readonly ColumnDefinition[] {
  const chosen = columnDefinitions.filter(({ name }) => names.includes(name));
  return chosen.length > 0 ? chosen : columnDefinitions.filter(({ name }) => defaultColumns.includes(name));
}
