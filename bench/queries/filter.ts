/** Filters of benchmark queries as plain data, rendered as parameters of the API and as SQL. Solr's queries: `peers/solr/requests.ts`. */
import type { Zip } from "../dataset/sample-values.ts";
import { type Dialect, quoteString, withinRadius } from "../peers/peer.ts";

export type BenchFilter =
  | { readonly kind: "equals"; readonly column: "make" | "model" | "state"; readonly value: string }
  | { readonly kind: "maxPrice"; readonly price: number }
  | { readonly kind: "near"; readonly zip: Zip; readonly miles: number }
  | { readonly kind: "features"; readonly tokens: readonly string[] }
  /** `*` matches any number of characters, `?` exactly one. */
  | { readonly kind: "vinMask"; readonly mask: string }
  /** Part of the request path, not a parameter. */
  | { readonly kind: "dealer"; readonly id: string }
  | { readonly kind: "soldWithin"; readonly days: number; readonly after: string };

type FiltersByKind = { readonly [Kind in BenchFilter["kind"]]: Extract<BenchFilter, { readonly kind: Kind }> };

type EqualsFilter = FiltersByKind["equals"];

/** A filter on the columns that peers have of the past. */
export type TrendFilter = FiltersByKind["equals" | "maxPrice"];

export const equals = (column: EqualsFilter["column"], value: string): EqualsFilter => ({
  kind: "equals",
  column,
  value,
});

export type FilterRenderers<Arguments extends readonly unknown[], Result> = {
  readonly [Kind in keyof FiltersByKind]: (filter: FiltersByKind[Kind], ...rest: Arguments) => Result;
};

export function renderFilter<Arguments extends readonly unknown[], Result>(
  renderers: FilterRenderers<Arguments, Result>,
  filter: BenchFilter,
  ...rest: Arguments
): Result {
  const render = renderers[filter.kind] as (filter: BenchFilter, ...rest: Arguments) => Result;
  return render(filter, ...rest);
}

const parameterRenderers: FilterRenderers<[], string> = {
  equals: ({ column, value }) => `${column}=${encodeURIComponent(value)}`,
  maxPrice: ({ price }) => `max_price=${price}`,
  near: ({ zip, miles }) => `postal_code=${zip.code}&radius=${miles}`,
  features: ({ tokens }) => `features=${tokens.map(encodeURIComponent).join(",")}`,
  vinMask: ({ mask }) => `vin_pattern=${encodeURIComponent(mask)}`,
  dealer: () => "",
  soldWithin: ({ days }) => `sold_within_days=${days}`,
};

const conditionRenderers: FilterRenderers<[Dialect], string> = {
  equals: ({ column, value }) => `${column} = ${quoteString(value)}`,
  maxPrice: ({ price }) => `price <= ${price}`,
  near: ({ zip, miles }) => withinRadius(zip, miles),
  features: ({ tokens }, dialect) => tokens.map((token) => dialect.hasToken("features", token)).join(" AND "),
  vinMask: ({ mask }) => `vin LIKE ${quoteString(mask.replaceAll("?", "_").replaceAll("*", "%"))}`,
  dealer: ({ id }) => `dealer_id = ${quoteString(id)}`,
  soldWithin: ({ after }) => `sold_on_record > ${quoteString(after)}`,
};

/** Renders filters as parameters of the API. Filters that are part of the path are omitted. */
export const filterParameters = (filters: readonly BenchFilter[]): readonly string[] =>
  filters.map((filter) => renderFilter(parameterRenderers, filter)).filter((parameter) => parameter !== "");

/** Renders filters as a SQL condition in a peer's dialect; `true` for no filters. */
export const sqlCondition = (filters: readonly BenchFilter[], dialect: Dialect): string =>
  filters.length === 0
    ? "true"
    : filters.map((filter) => renderFilter(conditionRenderers, filter, dialect)).join(" AND ");
