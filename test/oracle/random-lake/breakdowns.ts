/** Random price breakdowns: line items of every direction, applicability and role, with and without totals. */
import { Chance } from "../../support/chance.ts";
import type { FeedRow } from "../../support/lakes/feeds.ts";

const roles = [
  "doc_fee",
  "dealer_add_on",
  "Sales_Tax",
  "title_fee",
  "registration",
  "msrp",
  "license_fee",
  "titled",
  "",
];
const applicabilities = [{ applicability: "all" }, { applicability: "All" }, { applicability: "conditional" }, {}];

/** Returns the pricing columns of a row; empty for most. Equal prices have equal breakdowns. */
export function breakdownOf(price: number): FeedRow {
  const chance = new Chance(price);
  if (chance.happens(0.6)) return {};
  const items = Array.from({ length: chance.integer(0, 4) }, (_, index) => ({
    amount_usd: chance.pick([199, 349.5, 0, 1_000_000]),
    raw_label: `item ${index}`,
    role: chance.pick(roles),
    ...chance.pick(applicabilities),
    direction: chance.pick(["add", "add", "subtract", "none"]),
  }));
  return {
    line_items: chance.happens(0.8) ? JSON.stringify(items) : "",
    seller_total_before_manufacturer_incentives_usd: chance.happens(0.4) ? price + 500 : "",
    dealer_adjusted_vehicle_price_usd: chance.happens(0.6) ? price : "",
  };
}
