/** Charges for an answer that is ready; it may be sent when this resolves, which is when the charge is on the disk. Who has left is not charged. */
import type { Accounts } from "../../accounts/accounts.ts";
import { pricingVersion } from "../../accounts/policy/prices.ts";
import { type ChargeRequest, identityOf } from "../context.ts";

export const charge =
  (accounts: Accounts): ChargeRequest =>
  async (context, hold) => {
    if (context.res.closed || context.socket.destroyed) {
      context.res.destroy();
      return;
    }
    await accounts.charge(identityOf(context), hold, context.state.requestId);
    if (context.res.headersSent) return;
    context.res
      .setHeader("X-Usage-Class", hold.usageClass)
      .setHeader("X-Usage-Cost-Micros", hold.micros)
      .setHeader("X-Pricing-Version", pricingVersion);
  };
