/** Charges for an answer that is ready; it may be sent when this resolves, which is when the charge is on the disk. Who has left is not charged. */
import type { Accounts } from "../accounts/accounts.ts";
import { pricingVersion } from "../accounts/prices.ts";
import { type Charge, identityOf } from "./exchange.ts";

export const charge =
  (accounts: Accounts): Charge =>
  async (exchange, hold) => {
    if (exchange.res.closed || exchange.socket.destroyed) {
      exchange.res.destroy();
      return;
    }
    await accounts.charge(identityOf(exchange), hold, exchange.state.requestId);
    exchange.set({
      "X-Usage-Class": hold.usageClass,
      "X-Usage-Cost-Micros": String(hold.micros),
      "X-Pricing-Version": pricingVersion,
    });
  };
