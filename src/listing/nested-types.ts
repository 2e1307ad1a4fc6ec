/** The types of attributes that hold lists and structs. */
import { listTypeOf, structTypeOf } from "../db/duck-type.ts";

export const lineItemsType = listTypeOf(
  structTypeOf({
    amount_usd: "DOUBLE",
    raw_label: "VARCHAR",
    role: "VARCHAR",
    applicability: "VARCHAR",
    direction: "VARCHAR",
    row_key: "VARCHAR",
    row_order: "INTEGER",
    subtype: "VARCHAR",
  }),
);

/** The type of a listing's price changes, oldest first. `price` is the price after a change. */
export const priceHistoryType = listTypeOf(
  structTypeOf({ changed_at: "TIMESTAMP", price: "INTEGER", price_before: "INTEGER", miles: "INTEGER" }),
);

/** The amounts of a provider's pricing, in whole dollars. Each one is a feed field. */
export const pricingAmounts = [
  "displayed_provider_current_price_usd",
  "seller_total_before_taxes_and_registration_usd",
  "seller_total_before_manufacturer_incentives_usd",
  "dealer_adjusted_vehicle_price_usd",
] as const;

export const pricingType = structTypeOf({
  ...Object.fromEntries(pricingAmounts.map((amount) => [amount, "INTEGER"])),
  line_items: lineItemsType,
});
