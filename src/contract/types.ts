/** The types of requests and answers, taken from those generated from the document. */
import type { operations } from "./generated/document.gen.ts";

/** The operations' names in the document. */
export type OperationId = keyof operations;

/** The parameters that have a default in the document, and so always a value. A test holds this to the document. */
export const defaulted = ["limit", "offset", "sort", "fields", "facet_value_limit"] as const;

type Defaulted = (typeof defaulted)[number];

type Given<T> = [NonNullable<T>] extends [never] ? Record<never, never> : NonNullable<T>;

type RawQueryOf<Id extends OperationId> = Given<operations[Id]["parameters"]["query"]>;

type WithDefaults<T, Name> = Omit<T, Extract<keyof T, Name>> & Required<Pick<T, Extract<keyof T, Name>>>;

/** An operation's query parameters, decoded, validated, and with their defaults. A page by number has no limit until it is known. */
export type QueryOf<Id extends OperationId> = WithDefaults<
  RawQueryOf<Id>,
  Id extends "searchListingsByPage" ? Exclude<Defaulted, "limit" | "offset"> : Defaulted
>;

/** An operation's path parameters. */
export type PathOf<Id extends OperationId> = Given<operations[Id]["parameters"]["path"]>;

export interface RequestOf<Id extends OperationId> {
  readonly query: QueryOf<Id>;
  readonly path: PathOf<Id>;
}

/** The body of an operation's successful answer. */
export type AnswerOf<Id extends OperationId> = operations[Id]["responses"][200]["content"]["application/json"];

/** The filters that listing search, facets and dealer inventory have in common. */
export type Filters = Omit<QueryOf<"getFacets">, "facets" | "facet_value_limit" | "interval" | "metric" | "sort">;
