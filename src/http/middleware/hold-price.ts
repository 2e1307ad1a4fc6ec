/**
 * Holds the price of a validated request while it runs, so that concurrent requests cannot overspend the balance. The request
 * decides the usage class; as an argument, it forces `validate` to run first.
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
