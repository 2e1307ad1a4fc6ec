/** Holds the price of a validated request while it is answered, so that what is spent at the same time cannot be too much. */
import type { Accounts } from "../accounts/accounts.ts";
import { type MeteredId, usageClassOf } from "../accounts/prices.ts";
import type { RequestOf } from "../contract/types.ts";
import { type Exchange, identityOf, type Step } from "./exchange.ts";

export const holdPrice =
  <Id extends MeteredId>(accounts: Accounts, id: Id, requests: WeakMap<Exchange, RequestOf<Id>>): Step =>
  async (exchange, next) => {
    const hold = accounts.hold(identityOf(exchange), usageClassOf(id, requests.get(exchange)?.query ?? {}));
    exchange.state.hold = hold;
    try {
      await next();
    } finally {
      hold.release();
    }
  };
