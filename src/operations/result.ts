/**
 * The result of an operation: its parts in the shapes of the document, and its forms, JSON text for HTTP and an object for callers within the process.
 */
import { redactKeys } from "../accounts/keys/api-key.ts";
import type { AnswerOf } from "../contract/types.ts";
import type { ListingLookUp, VinLookUp } from "../query/look-ups.ts";
import type { UnmatchedMeta } from "../query/unmatched.ts";
import type { EndpointId } from "./operation-request.ts";

interface PageWindow {
  readonly limit: number;
  readonly offset: number;
}

/** Schema `Pagination`. */
export type Pagination = AnswerOf<"searchListings">["pagination"];

/** Returns schema `Pagination`; `cursorAt` returns the cursor of an offset, of operations that have them. */
export function pagination(
  { limit, offset }: PageWindow,
  total: number,
  cursorAt?: (offset: number) => string,
): Pagination {
  const next = offset + limit;
  const next_offset = next < total ? next : null;
  const cursor = cursorAt && { next_cursor: next_offset === null ? null : cursorAt(next_offset) };
  return { limit, offset, total, next_offset, ...cursor };
}

/** The items of a page, each as JSON text: listings in the encoding of the row store, or changes. */
export class JsonTexts {
  constructor(readonly texts: readonly string[]) {}
}

/** Schema `ChangePagination`. */
type CursorPagination = AnswerOf<"listChanges">["pagination"];

export interface Result {
  readonly data: object;
  readonly pagination?: Pagination | CursorPagination;
  readonly meta: object;
}

/** Returns the body of a response in JSON. Texts are joined without parsing. */
export function jsonOf({ data, pagination, meta }: Result): string {
  const text = data instanceof JsonTexts ? `[${data.texts.join()}]` : JSON.stringify(data);
  return `{"data":${text},${JSON.stringify({ pagination, meta }).slice(1)}`;
}

export const dataOf = ({ data }: Pick<Result, "data">): object =>
  data instanceof JsonTexts ? data.texts.map((text): object => JSON.parse(text)) : data;

/** Returns the body of a response as an object, which other callers may share. */
export const bodyOf = <Id extends EndpointId>({ pagination, meta, ...result }: Result): AnswerOf<Id> =>
  // Tests check the results of endpoints against the document's schemas; the compiler does not.
  ({ data: dataOf(result), ...(pagination && { pagination }), meta }) as AnswerOf<Id>;

/** Returns schema `ListingDetail`. */
export function listingDetail({ vin, status, vinState, build, listing }: ListingLookUp): object {
  const { id, price_history, ...rest } = listing;
  return { id, vin, status, ...rest, vehicle: { vin, status: vinState, build }, price_history };
}

/** Returns schema `VinRecord`. */
export function vinRecord({ vin, state, build, listing }: VinLookUp): object {
  if (listing === null) return { vin, status: state, build, latest_listing: null };
  const { vin: _, ...latest } = listing;
  return { vin, status: state, build, latest_listing: latest };
}

/** Returns unmatched values without the API keys that were sent as values by mistake. */
export function redactApiKeys({ unmatched }: UnmatchedMeta): UnmatchedMeta {
  if (unmatched === undefined) return {};
  return { unmatched: unmatched.map((entry) => ({ ...entry, value: redactKeys(entry.value) })) };
}
