/** Charges for a computed response and sets the usage headers. A client that has disconnected is not charged; its request is abandoned. */
import type { Accounts } from "../../accounts/accounts.ts";
import { pricingVersion } from "../../accounts/policy/prices.ts";
import { Abandoned } from "../../db/job.ts";
import { type ChargeRequest, identityOf } from "../context.ts";

/** Resolves when the charge is on disk; only then may the response be sent. */
export const charge =
  (accounts: Accounts): ChargeRequest =>
  async (context, hold) => {
    if (context.res.closed || context.socket.destroyed) throw new Abandoned("The client has disconnected.");
    const micros = await accounts.charge(identityOf(context), hold, context.state.requestId);
    if (context.res.headersSent) return;
    context.res
      .setHeader("X-Usage-Class", hold.usageClass)
      .setHeader("X-Usage-Cost-Micros", micros)
      .setHeader("X-Pricing-Version", pricingVersion);
    if (micros === 0) context.res.setHeader("Idempotent-Replayed", "true");
  };
