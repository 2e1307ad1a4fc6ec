/** What `include` adds to a listing, in searches and in details alike: never null, and served as it is. */

import type { Json } from "../base/json.ts";
import type { QueryOf } from "../contract/types.ts";
import type { ServedColumn } from "../lake/served-columns.ts";
import type { Dimensions } from "../serving/dimensions.ts";

export type Expansion = NonNullable<QueryOf<"getListing">["include"]>[number];

/** What is read of a listing for each. */
export const expansionColumn = {
  price_history: "price_history",
  options: "options_packages",
} as const satisfies Record<Expansion, ServedColumn>;

const served: Readonly<
  Record<Expansion, (read: Json | undefined, make: Json | undefined, dimensions: Dimensions) => Json>
> = {
  /** A list of `PriceHistoryItem`, in the order in which the price changed. */
  price_history: (read) => read ?? [],
  /** A list of `Option`, in the order of their codes; codes of which the make says nothing are left out. */
  options: (read, make, dimensions) => dimensions.optionsOf(make, dimensions.wordsOf(read) ?? []),
};

/** An expansion as it is served, given what was read of a listing for it, and its make. */
export const expanded = (
  expansion: Expansion,
  read: Json | undefined,
  make: Json | undefined,
  dimensions: Dimensions,
): Json => served[expansion](read, make, dimensions);
