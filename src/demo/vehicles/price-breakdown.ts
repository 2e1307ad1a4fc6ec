/** Provider price breakdowns of demo cars: totals and the line items that add up to them. */
import { join, literal, numberLiteral, type Sql, sql } from "../../db/sql.ts";
import type { MarketShape } from "../market-shape.ts";
import type { RandomDraws } from "../random.ts";

const providerShare = { new: 0.25, other: 0.1 } as const;

/** Returns the pricing fields of an inventory row; all null if the provider shows no breakdown. */
export function pricingOf(draws: RandomDraws, format: MarketShape["format"]): Readonly<Record<string, Sql>> {
  const car = sql`car`;
  const isShown = draws.occurs(
    "provider",
    car,
    sql`if(kind = 'new', ${numberLiteral(providerShare.new)}, ${numberLiteral(providerShare.other)})`,
  );
  const fee = sql`(199 + 50 * ${draws.integerBelow("doc fee", sql`dealer`, 15)})`;
  const rebate = sql`if(kind = 'new' AND ${draws.occurs("rebate", car, 0.4)}, 500 + 250 * ${draws.integerBelow("rebate amount", car, 9)}, 0)`;
  const ifShown = (value: Sql): Sql => sql`CASE WHEN ${isShown} THEN ${value} END`;
  const items = lineItems(fee, rebate);
  return {
    displayed_provider_current_price_usd: ifShown(sql`price`),
    seller_total_before_taxes_and_registration_usd: ifShown(sql`price + ${fee} - ${rebate}`),
    seller_total_before_manufacturer_incentives_usd: ifShown(sql`price + ${fee}`),
    dealer_adjusted_vehicle_price_usd: ifShown(sql`price`),
    line_items: format === "csv" ? sql`CASE WHEN ${isShown} THEN to_json(${items})::VARCHAR END` : ifShown(items),
  };
}

/** The line items of a breakdown, as a list of structs. Items that do not apply to a car are left out. */
function lineItems(fee: Sql, rebate: Sql): Sql {
  const listPrice = sql`(base_msrp + options_msrp)`;
  const discount = sql`${listPrice} - price`;
  const items: readonly (readonly [condition: Sql, item: Sql])[] = [
    [sql`kind = 'new'`, lineItem({ key: "msrp", order: 1, label: "MSRP", role: "msrp", direction: "none" }, listPrice)],
    [
      sql`kind = 'new' AND ${listPrice} > price`,
      lineItem(
        { key: "discount", order: 2, label: "Dealer Discount", role: "dealer_discount", direction: "subtract" },
        discount,
      ),
    ],
    [sql`true`, lineItem({ key: "doc", order: 3, label: "Documentation Fee", role: "doc_fee", direction: "add" }, fee)],
    [
      sql`${rebate} > 0`,
      lineItem(
        {
          key: "rebate",
          order: 4,
          label: "Manufacturer Customer Cash",
          role: "manufacturer_incentive",
          applicability: "conditional",
          direction: "subtract",
        },
        rebate,
      ),
    ],
  ];
  return sql`list_filter([${join(items.map(([condition, item]) => sql`if(${condition}, ${item}, NULL)`))}], lambda item: item IS NOT NULL)`;
}

interface LineItem {
  readonly key: string;
  readonly order: number;
  readonly label: string;
  readonly role: string;
  /** Default: `all`. */
  readonly applicability?: string;
  readonly direction: "add" | "subtract" | "none";
}

function lineItem({ key, order, label, role, applicability = "all", direction }: LineItem, amount: Sql): Sql {
  return sql`struct_pack(amount_usd := (${amount})::DOUBLE, raw_label := ${literal(label)}, role := ${literal(role)}, applicability := ${literal(applicability)},
      direction := ${literal(direction)}, row_key := ${literal(key)}, row_order := ${numberLiteral(order)}, subtype := NULL::VARCHAR)`;
}
