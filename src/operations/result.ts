/** The result of an operation, and its forms: JSON text for HTTP, an object for callers within the process. */
import type { AnswerOf } from "../contract/types.ts";
import type { EndpointId } from "./operation-request.ts";
import type { Pagination } from "./present.ts";

/** Listings as they are read from the row store: each is JSON text of schema `ListingSummary`. */
export class ListingTexts {
  constructor(readonly texts: readonly string[]) {}
}

export interface Result {
  readonly data: object;
  readonly pagination?: Pagination;
  readonly meta: object;
}

/** Returns the body of a response in JSON. Listings are joined without parsing. */
export function jsonOf({ data, pagination, meta }: Result): string {
  const text = data instanceof ListingTexts ? `[${data.texts.join()}]` : JSON.stringify(data);
  return `{"data":${text},${JSON.stringify({ pagination, meta }).slice(1)}`;
}

/** Returns `data` as an object. */
export const dataOf = ({ data }: Pick<Result, "data">): object =>
  data instanceof ListingTexts ? data.texts.map((text): object => JSON.parse(text)) : data;

/** Returns the body of a response as an object, which other callers may share. */
export const bodyOf = <Id extends EndpointId>({ pagination, meta, ...result }: Result): AnswerOf<Id> =>
  // What an endpoint returns is checked by the document's schemas in tests, not by the compiler.
  ({ data: dataOf(result), ...(pagination && { pagination }), meta }) as AnswerOf<Id>;
