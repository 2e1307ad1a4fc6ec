/**
 * The operations that are built. An endpoint gets a typed, validated request and the market of one version, and gives the body
 * of its answer: plan, query, present.
 */
import type { OperationId, RequestOf } from "../contract/types.ts";
import type { Market } from "../lake/market.ts";
import { planSearch, readTop, rowsOf, topOf } from "../query/search.ts";
import { pagination } from "./present.ts";

export type Endpoint<Id extends OperationId> = (request: RequestOf<Id>, market: Market) => Promise<object>;

/** Operation `searchListings` (section 4.1 of the specification). */
const searchListings: Endpoint<"searchListings"> = async ({ query }, market) => {
  const plan = planSearch(query, market);
  const top = readTop(await market.rows(topOf(plan)));
  const data = top.page.length === 0 ? [] : await market.rows(rowsOf(plan, top.page));
  return { data, pagination: pagination(plan, top.total), meta: market.meta };
};

/** What answers each operation; those that are missing here answer 501. */
export const endpoints: { readonly [Id in OperationId]?: Endpoint<Id> } = { searchListings };
