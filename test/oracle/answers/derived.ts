/** Oracle of the attributes that follow from the price history and the price breakdown of a listing. */
import assert from "node:assert/strict";
import { isObject, type Json, type Row } from "../../../src/base/json.ts";

/** Charges of governments, which no seller asks. */
const isGovernmentRole = (role: unknown): boolean =>
  String(role ?? "")
    .toLowerCase()
    .split("_")
    .some((word) => ["tax", "taxes", "title", "registration", "license", "lien", "government"].includes(word));

const rowsIn = (value: unknown): readonly Row[] =>
  Array.isArray(value) ? value.filter((one): one is Row => isObject(one)) : [];

const amount = (value: Json | undefined): number | null => (typeof value === "number" ? value : null);

/** Returns the derived attributes of a row with `price`, `price_history` and `pricing`; times are as stored. */
export function derivedOf(row: Row) {
  const history = rowsIn(row.price_history);
  const price = amount(row.price);
  const [first] = history;
  const initial = first === undefined ? price : (amount(first.price_before) ?? amount(first.price) ?? price);
  const drop = price === null || initial === null ? null : Math.max(0, initial - price);
  const drops = history.filter(
    ({ price: after, price_before: before }) =>
      typeof after === "number" && typeof before === "number" && after < before,
  );
  return {
    price_at_listing: initial,
    price_drop: drop,
    price_drop_percent: drop === null || !initial ? null : Math.floor((10_000 * drop) / initial) / 100,
    price_drops: drops.length,
    price_changed_at: history.at(-1)?.changed_at ?? null,
    ...costsOf(row.pricing),
  };
}

function costsOf(pricing: Json | undefined) {
  if (pricing === null || pricing === undefined) return { seller_fees: null, all_in_price: null };
  assert.ok(isObject(pricing), JSON.stringify(pricing));
  const items = rowsIn(pricing.line_items);
  const additions = items.filter(
    ({ direction, applicability, role }) =>
      direction === "add" && String(applicability ?? "all").toLowerCase() === "all" && !isGovernmentRole(role),
  );
  const sum = additions.reduce((before, { amount_usd }) => before + (amount(amount_usd) ?? 0), 0);
  const fees = items.length === 0 ? null : Math.round(sum);
  const vehicle = amount(pricing.dealer_adjusted_vehicle_price_usd);
  const total = amount(pricing.seller_total_before_manufacturer_incentives_usd);
  return { seller_fees: fees, all_in_price: total ?? (vehicle === null || fees === null ? null : vehicle + fees) };
}
