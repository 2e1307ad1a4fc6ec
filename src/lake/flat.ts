/**
 * Flat listings: the star's columns in the specification's names.
 *
 * This is the one place that knows how the star becomes a listing. Analysts' views join it in SQL; pages of the API take the few
 * rows that they show and look up the rest in `Dimensions`.
 */
import { integerLiteral, join, literal, name, type Sql, sql } from "../base/sql.ts";
import { buildColumns, keywordBits, type TokenColumn } from "./layout.ts";
import { readings } from "./readings.ts";

/** Where a column comes from: the listing itself (as SQL over `facts`), its build, its dealer, or the words of its token keys. */
export type Origin =
  | { readonly of: "facts"; readonly value: Sql }
  | { readonly of: "builds" | "dealers"; readonly column: string }
  | { readonly of: "tokens"; readonly column: TokenColumn };

const keywords = join(
  Object.entries(keywordBits).map(
    ([keyword, bit]) => sql`CASE WHEN facts.keywords & ${integerLiteral(bit)} <> 0 THEN ${literal(keyword)} END`,
  ),
);

const facts = (value: Sql): Origin => ({ of: "facts", value });
const own = (...columns: readonly string[]): Readonly<Record<string, Origin>> =>
  Object.fromEntries(columns.map((column) => [column, facts(name("facts", column))]));
const from = (of: "builds" | "dealers", ...columns: readonly string[]): Readonly<Record<string, Origin>> =>
  Object.fromEntries(columns.map((column) => [column, { of, column }]));

/** Every column of a flat listing, by the specification's name, and where it comes from. */
export const flatColumns: Readonly<Record<string, Origin>> = {
  row_number: facts(sql`facts.row_number`),
  id: facts(readings.id),
  ...own("vin"),
  ...from("builds", ...Object.keys(buildColumns)),
  ...own("exterior_color", "interior_color", "base_exterior_color", "base_interior_color"),
  ...own("base_msrp", "msrp", "price", "miles", "days_on_market", "listed_at", "availability_status", "inventory_type"),
  ...own("stock_number", "vdp_url", "vhr_url", "photo_urls", "sold_date", "missing_since", "last_checked_at"),
  ...own("window_sticker_verified", "price_history", "pricing", "days_seen"),
  discount_from_msrp: facts(readings.discount_from_msrp),
  features: { of: "tokens", column: "features" },
  options_packages: { of: "tokens", column: "options_packages" },
  keywords: facts(sql`list_filter([${keywords}], lambda keyword: keyword IS NOT NULL)`),
  dealer_name: { of: "dealers", column: "name" },
  dealer_type: { of: "dealers", column: "type" },
  dealer_phone: { of: "dealers", column: "phone" },
  ...from("dealers", "dealer_id", "city", "state", "postal_code", "latitude", "longitude"),
};

/** All tokens as one list, in the order of their keys: they count from 1 without a gap, so a key is an index. */
export const tokensInOrder = sql`SELECT list(token ORDER BY token_key) AS words FROM tokens`;

/**
 * Listings of the star as flat rows, which need `builds`, `dealers` and `tokens_in_order`. `facts` are listings with their
 * `row_number`; `more` are further columns of theirs that the flat rows keep. Each listing has its build and its dealer; the left
 * joins keep the engine from joining the list of all tokens to every dealer first.
 */
export function flat(facts: Sql, more: readonly Sql[] = []): Sql {
  const columns = Object.entries(flatColumns).map(([column, origin]) => sql`${sqlOf(origin)} AS ${name(column)}`);
  return sql`SELECT ${join([...columns, ...more])}
    FROM (${facts}) AS facts
    LEFT JOIN builds USING (build_key)
    LEFT JOIN dealers USING (dealer_key)
    CROSS JOIN tokens_in_order`;
}

function sqlOf(origin: Origin): Sql {
  if (origin.of === "facts") return origin.value;
  if (origin.of !== "tokens") return name(origin.of, origin.column);
  return sql`list_transform(${name("facts", origin.column)}, lambda token_key: tokens_in_order.words[token_key])`;
}
