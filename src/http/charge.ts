/** Charges for an answer that is ready, and lets it go when the charge is on the disk. Who has left is not charged. */
import type { Accounts } from "../accounts/accounts.ts";
import { pricingVersion } from "../accounts/prices.ts";
import { identityOf, type Step } from "./exchange.ts";

export const charge =
  (accounts: Accounts): Step =>
  async (exchange) => {
    const { hold, requestId } = exchange.state;
    if (hold === undefined) throw new TypeError("No price is held.");
    if (exchange.res.closed || exchange.socket.destroyed) {
      exchange.res.destroy();
      return;
    }
    await accounts.charge(identityOf(exchange), hold, requestId);
    exchange.set({
      "X-Usage-Class": hold.usageClass,
      "X-Usage-Cost-Micros": String(hold.micros),
      "X-Pricing-Version": pricingVersion,
    });
  };
