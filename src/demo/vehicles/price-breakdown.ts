/** What a part of the dealers' providers show beside the price: totals, and the rows that they are made of. */
import { literal, numberLiteral, type Sql, sql } from "../../db/sql.ts";
import type { MarketShape } from "../market-shape.ts";
import type { RandomDraws } from "../random.ts";

const providerShare = { new: 0.25, other: 0.1 } as const;

/** The pricing fields of a row of `inventory`, null where the provider shows none of them. */
export function pricingOf(draws: RandomDraws, format: MarketShape["format"]): Readonly<Record<string, Sql>> {
  const car = sql`car`;
  const isShown = draws.occurs(
    "provider",
    car,
    sql`if(kind = 'new', ${numberLiteral(providerShare.new)}, ${numberLiteral(providerShare.other)})`,
  );
  const fee = sql`(199 + 50 * ${draws.integerBelow("doc fee", sql`dealer`, 15)})`;
  const rebate = sql`if(kind = 'new' AND ${draws.occurs("rebate", car, 0.4)}, 500 + 250 * ${draws.integerBelow("rebate amount", car, 9)}, 0)`;
  const list = sql`(base_msrp + options_msrp)`;
  const shown = (value: Sql): Sql => sql`CASE WHEN ${isShown} THEN ${value} END`;
  const line = (
    key: string,
    order: number,
    amount: Sql,
    label: string,
    role: string,
    applicability: string,
    direction: string,
  ): Sql =>
    sql`struct_pack(amount_usd := (${amount})::DOUBLE, raw_label := ${literal(label)}, role := ${literal(role)}, applicability := ${literal(applicability)},
      direction := ${literal(direction)}, row_key := ${literal(key)}, row_order := ${numberLiteral(order)}, subtype := NULL::VARCHAR)`;
  const lines = sql`list_filter([
    if(kind = 'new', ${line("msrp", 1, list, "MSRP", "msrp", "all", "none")}, NULL),
    if(kind = 'new' AND ${list} > price, ${line("discount", 2, sql`${list} - price`, "Dealer Discount", "dealer_discount", "all", "subtract")}, NULL),
    ${line("doc", 3, fee, "Documentation Fee", "doc_fee", "all", "add")},
    if(${rebate} > 0, ${line("rebate", 4, rebate, "Manufacturer Customer Cash", "manufacturer_incentive", "conditional", "subtract")}, NULL)], lambda row: row IS NOT NULL)`;
  return {
    displayed_provider_current_price_usd: shown(sql`price`),
    seller_total_before_taxes_and_registration_usd: shown(sql`price + ${fee} - ${rebate}`),
    seller_total_before_manufacturer_incentives_usd: shown(sql`price + ${fee}`),
    dealer_adjusted_vehicle_price_usd: shown(sql`price`),
    line_items: format === "csv" ? sql`CASE WHEN ${isShown} THEN to_json(${lines})::VARCHAR END` : shown(lines),
  };
}
