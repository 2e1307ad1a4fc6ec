/** What `include` adds to a listing, in searches and in details alike: never null, and served as it is. */

import type { Json, Row } from "../base/json.ts";
import { name, type Sql, sql } from "../base/sql.ts";
import type { QueryOf } from "../contract/types.ts";
import type { Dimensions } from "../lake/dimensions.ts";

export type Expansion = NonNullable<QueryOf<"getListing">["include"]>[number];

interface Expanding {
  /** What the engine reads of the fact for it. */
  readonly read: Sql;
  /** What is served, given what was read. */
  readonly served: (read: Json | undefined, build: Row, dimensions: Dimensions) => Json;
}

const expansions: Readonly<Record<Expansion, Expanding>> = {
  /** A list of `PriceHistoryItem`, in the order in which the price changed. */
  price_history: {
    read: sql`list_transform(coalesce(price_history, []), lambda change: {
      changed_at: strftime(change.changed_at, '%Y-%m-%dT%H:%M:%SZ'), miles: change.miles,
      price_before: change.price_before, price_after: change.price_after})`,
    served: (read) => read ?? [],
  },
  /** A list of `Option`, in the order of their codes; codes of which the make says nothing are left out. */
  options: {
    read: sql`options_packages`,
    served: (read, { make }, dimensions) => dimensions.optionsOf(make, dimensions.wordsOf(read) ?? []),
  },
};

const columnOf = (expansion: Expansion): string => `read_${expansion}`;

/** What is read of a fact for some expansions, to select. */
export const expansionsRead = (include: readonly Expansion[]): readonly Sql[] =>
  include.map((expansion) => sql`${expansions[expansion].read} AS ${name(columnOf(expansion))}`);

/** An expansion as it is served, given a fact with what was read of it, and its build. */
export const expanded = (expansion: Expansion, fact: Row, build: Row, dimensions: Dimensions): Json =>
  expansions[expansion].served(fact[columnOf(expansion)], build, dimensions);

/** The price history as SQL over a fact, as it is served. */
export const priceHistory: Sql = expansions.price_history.read;
