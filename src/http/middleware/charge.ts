/** Charges for an answer that is ready; it may be sent when this resolves, which is when the charge is on the disk. Who has left is not charged. */
import type { Accounts } from "../../accounts/accounts.ts";
import { pricingVersion } from "../../accounts/policy/prices.ts";
import { type Charge, identityOf } from "../context.ts";

export const charge =
  (accounts: Accounts): Charge =>
  async (exchange, hold) => {
    if (exchange.res.closed || exchange.socket.destroyed) {
      exchange.res.destroy();
      return;
    }
    await accounts.charge(identityOf(exchange), hold, exchange.state.requestId);
    if (exchange.res.headersSent) return;
    exchange.res
      .setHeader("X-Usage-Class", hold.usageClass)
      .setHeader("X-Usage-Cost-Micros", hold.micros)
      .setHeader("X-Pricing-Version", pricingVersion);
  };
