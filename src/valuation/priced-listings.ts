/** The listings that the valuation is fitted to: active ones, and those sold in the days before, each with its price. */
import { integerLiteral, literal, type Sql, sql } from "../db/sql.ts";
import { keywordBits } from "../lake/tables.ts";
import { rules } from "./rules.ts";

/** Relations of a version: listings in two states, and the dimensions. */
type PricedRelations = Readonly<Record<"active" | "sold" | "builds" | "dealers" | "tokens" | "options", Sql>>;

/**
 * Returns one row for each listing with a known price, mileage, condition, make, model and year, and for new cars MSRP. `y` is the logarithm of the price,
 * of a new car that of its price to MSRP.
 */
export function pricedListings({ active, sold, builds, dealers, tokens, options }: PricedRelations, day: string): Sql {
  const columns = sql`id, build_key, dealer_key, inventory_type, price, msrp, miles, keywords, options_packages`;
  const today = sql`DATE ${literal(day)}`;
  return sql`
    WITH worth AS (
      SELECT token_key, make, options.msrp FROM (${tokens}) AS tokens JOIN (${options}) AS options ON code = token
      WHERE kind = 'option' AND options.msrp IS NOT NULL
    ), listings AS (
      SELECT ${columns}, NULL::DATE AS sold_date FROM (${active})
      UNION ALL
      SELECT ${columns}, sold_date FROM (${sold})
      WHERE sold_date > ${today} - ${integerLiteral(rules.soldDays)} AND sold_date <= ${today}
    ), equipped AS (
      SELECT id, sum(worth.msrp)::INTEGER AS option_value
      FROM (SELECT id, make, unnest(options_packages) AS token_key FROM listings JOIN (${builds}) USING (build_key)) JOIN worth USING (token_key, make)
      GROUP BY id
    )
    SELECT id, inventory_type = 'new' AS is_new, (inventory_type = 'certified')::INTEGER AS certified, sold_date, price, msrp, miles,
           keywords & ${integerLiteral(keywordBits.branded)} <> 0 AS is_branded, coalesce(option_value, 0) AS option_value,
           make, model, coalesce(trim, '') AS trim, coalesce(version, '') AS version, "year",
           concat_ws(' ', body_type, powertrain_type) AS body, state, latitude, longitude,
           if(is_new, ln(price / msrp), ln(price)) AS y, miles / ${integerLiteral(rules.mileageUnit)} AS m,
           if(is_new, 0, coalesce(option_value, 0) / ${integerLiteral(rules.optionUnit)}) AS o
    FROM listings JOIN (${builds}) USING (build_key) JOIN (${dealers}) USING (dealer_key) LEFT JOIN equipped USING (id)
    WHERE price > 0 AND miles IS NOT NULL AND inventory_type IS NOT NULL AND make IS NOT NULL AND model IS NOT NULL AND "year" IS NOT NULL
      AND (inventory_type <> 'new' OR msrp > 0)`;
}
