/**
 * Holds the price of a validated request while it is answered, so that what is spent at the same time cannot be too much. The price
 * depends on the request: that it is an argument keeps this step after `validate`.
 */
import type { Accounts } from "../../accounts/accounts.ts";
import { type MeteredId, usageClassOf } from "../../accounts/policy/prices.ts";
import { type Exchange, identityOf, type PricedStep, type RequestStep } from "../context.ts";

export const holdPrice =
  <Id extends MeteredId>(accounts: Accounts, id: Id, next: PricedStep<Id>): RequestStep<Id> =>
  async (exchange: Exchange, request) => {
    const hold = accounts.hold(identityOf(exchange), usageClassOf(id, request.query));
    try {
      await next(exchange, request, hold);
    } finally {
      hold.release();
    }
  };
