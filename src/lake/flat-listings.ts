/**
 * Flat listings: the star's columns in the specification's names.
 *
 * This is the one place that knows how the star becomes a listing. Analysts' views join it in SQL; pages of the API take the few
 * rows that they show and look up the rest in `Dimensions`.
 */
import { ident, integerLiteral, join, literal, type Sql, sql } from "../db/sql.ts";
import { type AttributeName, attributeOf, namesIn, tokensNames } from "../listing/schema.ts";
import { jsonValue } from "./served-columns.ts";
import { keywordBits, type TokenColumn } from "./tables.ts";

/** Where a column comes from: the listing itself (as SQL over `facts`), its build, its dealer, or the words of its token keys. */
export type ListingOrigin =
  | { readonly of: "facts"; readonly value: Sql }
  | { readonly of: "builds" | "dealers"; readonly column: string }
  | { readonly of: "tokens"; readonly column: TokenColumn };

const keywords = join(
  Object.entries(keywordBits).map(
    ([keyword, bit]) => sql`CASE WHEN facts.keywords & ${integerLiteral(bit)} <> 0 THEN ${literal(keyword)} END`,
  ),
);

/** Where an attribute comes from. */
function originOf(attribute: AttributeName): ListingOrigin {
  const { home, column, ...row } = attributeOf(attribute);
  const list = tokensNames.find((name) => name === attribute);
  if (list !== undefined) return { of: "tokens", column: list };
  if (home !== "listings") return { of: home, column };
  if (row.search === "keywords")
    return { of: "facts", value: sql`list_filter([${keywords}], lambda keyword: keyword IS NOT NULL)` };
  return { of: "facts", value: jsonValue(column, row) };
}

const isShown = (attribute: AttributeName): boolean => !["key", "none"].includes(attributeOf(attribute).serve ?? "");

/** Every column of a flat listing, by the specification's name, and where it comes from. */
export const flatColumns: Readonly<Record<string, ListingOrigin>> = {
  row_number: { of: "facts", value: sql`facts.row_number` },
  ...Object.fromEntries(
    (["id", "vin", ...namesIn("builds"), ...namesIn("listings"), ...namesIn("dealers")] as const)
      .filter(isShown)
      .map((attribute) => [attribute, originOf(attribute)]),
  ),
};

/** All tokens as one list, in the order of their keys: they count from 1 without a gap, so a key is an index. */
export const tokensInOrder = sql`SELECT list(token ORDER BY token_key) AS words FROM tokens`;

/**
 * Listings of the star as flat rows, which need `builds`, `dealers` and `tokens_in_order`. `facts` are listings with their
 * `row_number`; `more` are further columns of theirs that the flat rows keep. Each listing has its build and its dealer; the left
 * joins keep the engine from joining the list of all tokens to every dealer first.
 */
export function flatListings(facts: Sql, more: readonly Sql[] = []): Sql {
  const columns = Object.entries(flatColumns).map(([column, origin]) => sql`${sqlOf(origin)} AS ${ident(column)}`);
  return sql`SELECT ${join([...columns, ...more])}
    FROM (${facts}) AS facts
    LEFT JOIN builds USING (build_key)
    LEFT JOIN dealers USING (dealer_key)
    CROSS JOIN tokens_in_order`;
}

function sqlOf(origin: ListingOrigin): Sql {
  if (origin.of === "facts") return origin.value;
  if (origin.of !== "tokens") return ident(origin.of, origin.column);
  return sql`list_transform(${ident("facts", origin.column)}, lambda token_key: tokens_in_order.words[token_key])`;
}
