/** Request and response types per operation, derived from the types that are generated from the document. */
import type { operations } from "./generated/document.gen.ts";

export type OperationId = keyof operations;

/** Query parameters with a default, which are never undefined after decoding. A test compares them with the document. */
export const parametersWithDefault = [
  "limit",
  "offset",
  "sort",
  "fields",
  "facet_mode",
  "facet_value_limit",
  "facet_limit",
  "by",
] as const;

type DefaultName = (typeof parametersWithDefault)[number];

type OrEmpty<T> = [NonNullable<T>] extends [never] ? Record<never, never> : NonNullable<T>;

type RawQueryOf<Id extends OperationId> = OrEmpty<operations[Id]["parameters"]["query"]>;

type WithDefaults<T, Name> = Omit<T, Extract<keyof T, Name>> & Required<Pick<T, Extract<keyof T, Name>>>;

/**
 * The parameters of an operation that have a default. `searchListingsByPage` has none for `limit` and `offset`; the `interval` of
 * `getTrends` has one, that of `getFacets` has none; only fit has a default `radius`.
 */
type DefaultNameOf<Id extends OperationId> = Id extends "searchListingsByPage"
  ? Exclude<DefaultName, "limit" | "offset">
  : Id extends "getTrends"
    ? DefaultName | "interval"
    : Id extends "findFittingDealers" | "findFittingModels"
      ? DefaultName | "radius"
      : DefaultName;

/** The decoded query parameters of an operation. */
export type QueryOf<Id extends OperationId> = WithDefaults<RawQueryOf<Id>, DefaultNameOf<Id>>;

export type PathOf<Id extends OperationId> = OrEmpty<operations[Id]["parameters"]["path"]>;

/** The JSON object that a request of an operation sends; never for one that sends none. */
export type BodyOf<Id extends OperationId> = operations[Id] extends {
  readonly requestBody: { readonly content: infer Content };
}
  ? JsonIn<Content>
  : never;

export interface RequestOf<Id extends OperationId> {
  readonly query: QueryOf<Id>;
  readonly path: PathOf<Id>;
}

/** The JSON body of an operation's 200 response; never for an operation whose response is a file. */
export type AnswerOf<Id extends OperationId> = JsonIn<operations[Id]["responses"][200]["content"]>;

type JsonIn<Content> = Content extends { readonly "application/json": infer Body } ? Body : never;

/** The filter parameters that listing search, facets and dealer inventory share. */
export type Filters = Omit<
  QueryOf<"getFacets">,
  | "format"
  | "csv_raw"
  | "data_version"
  | "facets"
  | "facet_value_limit"
  | "facet_value_prefix"
  | "facet_mode"
  | "interval"
  | "metric"
  | "sort"
>;
