/** Expansions: what parameter `include` adds to a listing in searches and details. They are never null. */

import type { Json } from "../base/json.ts";
import type { QueryOf } from "../contract/types.ts";
import type { ServedColumn } from "../lake/served-columns.ts";
import type { Dimensions } from "../serving/dimensions.ts";

export type Expansion = NonNullable<QueryOf<"getListing">["include"]>[number];

export const expansionColumn = {
  price_history: "price_history",
  options: "options_packages",
} as const satisfies Record<Expansion, ServedColumn>;

type Expand = (value: Json | undefined, make: Json | undefined, dimensions: Dimensions) => Json;

const expanders: Readonly<Record<Expansion, Expand>> = {
  /** A list of schema `PriceHistoryItem`, oldest first. */
  price_history: (value) => value ?? [],
  /** A list of schema `Option`, ordered by code. Codes that the make does not describe are omitted. */
  options: (value, make, dimensions) => dimensions.optionsOf(make, dimensions.wordsOf(value) ?? []),
};

/** Returns the response value of an expansion, from its column's value and the listing's make. */
export const expand = (
  expansion: Expansion,
  value: Json | undefined,
  make: Json | undefined,
  dimensions: Dimensions,
): Json => expanders[expansion](value, make, dimensions);
