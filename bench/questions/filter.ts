/** Filters of listings as data. The API's parameters and SQL are rendered here; Solr's queries in its own folder. */
import type { Relation } from "../dataset/flat-rows.ts";
import type { Zip } from "../dataset/words.ts";
import { type Dialect, text } from "../peers/peer.ts";

export type QuestionFilter =
  | { readonly kind: "is"; readonly column: "make" | "model" | "state"; readonly value: string }
  | { readonly kind: "maxPrice"; readonly price: number }
  | { readonly kind: "near"; readonly zip: Zip; readonly miles: number }
  | { readonly kind: "features"; readonly tokens: readonly string[] }
  /** `*` stands for any characters, `?` for one. */
  | { readonly kind: "vinMask"; readonly mask: string }
  /** Named by the path, so it has no parameter. */
  | { readonly kind: "dealer"; readonly id: string }
  | { readonly kind: "soldWithin"; readonly days: number; readonly after: string };

/** The filter that an attribute has a value. */
export const is = (column: "make" | "model" | "state", value: string): QuestionFilter => ({
  kind: "is",
  column,
  value,
});

type Kinds = { readonly [Kind in QuestionFilter["kind"]]: Extract<QuestionFilter, { readonly kind: Kind }> };
export type PerFilter<Arguments extends readonly unknown[], Result> = {
  readonly [Kind in keyof Kinds]: (filter: Kinds[Kind], ...rest: Arguments) => Result;
};

/** Renders a filter by the row of its kind. */
export function renderFilter<Arguments extends readonly unknown[], Result>(
  table: PerFilter<Arguments, Result>,
  filter: QuestionFilter,
  ...rest: Arguments
): Result {
  const render = table[filter.kind] as (filter: QuestionFilter, ...rest: Arguments) => Result;
  return render(filter, ...rest);
}

const parameters: PerFilter<[], string> = {
  is: ({ column, value }) => `${column}=${encodeURIComponent(value)}`,
  maxPrice: ({ price }) => `max_price=${price}`,
  near: ({ zip, miles }) => `postal_code=${zip.code}&radius=${miles}`,
  features: ({ tokens }) => `features=${tokens.map(encodeURIComponent).join(",")}`,
  vinMask: ({ mask }) => `vin_pattern=${encodeURIComponent(mask)}`,
  dealer: () => "",
  soldWithin: ({ days }) => `sold_within_days=${days}`,
};

const conditions: PerFilter<[Dialect, Relation], string> = {
  is: ({ column, value }) => `${column} = ${text(value)}`,
  maxPrice: ({ price }) => `price <= ${price}`,
  near: ({ zip, miles }, dialect, from) => dialect.within(zip, miles, from),
  features: ({ tokens }, dialect, from) =>
    tokens.map((token) => dialect.carries("features", token, from)).join(" AND "),
  vinMask: ({ mask }) => `vin LIKE ${text(mask.replaceAll("?", "_").replaceAll("*", "%"))}`,
  dealer: ({ id }) => `dealer_id = ${text(id)}`,
  soldWithin: ({ after }) => `sold_date > ${text(after)}`,
};

/** The filters as parameters of the API; those that have none are left out. */
export const parametersOf = (filters: readonly QuestionFilter[]): readonly string[] =>
  filters.map((filter) => renderFilter(parameters, filter)).filter((parameter) => parameter !== "");

/** The filters as a condition in the words of an engine; `true` without filters. */
export const conditionOf = (filters: readonly QuestionFilter[], dialect: Dialect, from: Relation): string =>
  filters.length === 0
    ? "true"
    : filters.map((filter) => renderFilter(conditions, filter, dialect, from)).join(" AND ");
