/**
 * Holds the price of a validated request while it is answered, so that what is spent at the same time cannot be too much. The price
 * depends on the request: that it is an argument keeps this step after `validate`.
 */
import type { Accounts } from "../../accounts/accounts.ts";
import { type MeteredId, usageClassOf } from "../../accounts/policy/prices.ts";
import { identityOf, type PricedMiddleware, type RequestContext, type ValidatedMiddleware } from "../context.ts";

export const holdPrice =
  <Id extends MeteredId>(accounts: Accounts, id: Id, next: PricedMiddleware<Id>): ValidatedMiddleware<Id> =>
  async (context: RequestContext, request) => {
    const hold = accounts.hold(identityOf(context), usageClassOf(id, request.query));
    try {
      await next(context, request, hold);
    } finally {
      hold.release();
    }
  };
