/**
 * Holds the price of a validated request while it runs, so that concurrent requests cannot overspend the balance. The request
 * decides the usage class; as an argument, it forces `validate` to run first.
 */
import type { Accounts } from "../../accounts/accounts.ts";
import { type MeteredId, usageClassOf } from "../../accounts/policy/prices.ts";
import { identityOf, type OperationContext, type PricedMiddleware, type ValidatedMiddleware } from "../context.ts";
import { idempotentRequestOf } from "./idempotency-key.ts";

export const holdPrice =
  <Id extends MeteredId>(accounts: Accounts, id: Id, next: PricedMiddleware<Id>): ValidatedMiddleware<Id> =>
  async (context: OperationContext, request) => {
    const [identity, usageClass] = [identityOf(context), usageClassOf(id, request.query)];
    const idempotent = idempotentRequestOf(context, id, request);
    const hold =
      idempotent === undefined
        ? accounts.hold(identity, usageClass)
        : await accounts.holdOnce(identity, usageClass, idempotent);
    try {
      await next(context, request, hold);
    } finally {
      hold.release();
    }
  };
