/**
 * Flat listings: listings joined with their build, dealer and tokens, with columns named as in the API.
 *
 * This module defines where each column of a flat listing comes from. Analyst views join the star schema in SQL. The API reads only
 * the rows of a page and resolves keys in memory through `Dimensions`.
 */
import { ident, join, type Sql, sql } from "../../db/sql.ts";
import { type AttributeName, attributeOf, namesIn, tokensNames, valuedNames } from "../../listing/schema.ts";
import { jsonValue, keywordsOf } from "../served-columns.ts";
import type { TokenColumn } from "../tables.ts";

/** The origin of a column: the listing, its build or its dealer, as SQL over that relation, or the tokens of a list of token keys. */
export type ListingOrigin =
  | { readonly of: "facts"; readonly value: Sql }
  | { readonly of: "builds" | "dealers"; readonly column: string; readonly value: Sql }
  | { readonly of: "tokens"; readonly column: TokenColumn };

function originOf(attribute: AttributeName): ListingOrigin {
  const row = attributeOf(attribute);
  const { home, column, search } = row;
  const list = tokensNames.find((name) => name === attribute);
  if (list !== undefined) return { of: "tokens", column: list };
  if (home !== "listings") return { of: home, column, value: jsonValue(row) };
  if (search === "keywords") return { of: "facts", value: keywordsOf(ident("facts", column)) };
  return { of: "facts", value: jsonValue(row) };
}

const isIncluded = (attribute: AttributeName): boolean => !["key", "none"].includes(attributeOf(attribute).serve ?? "");

/** The columns of a flat listing, by API name, with the origin of each. */
export const flatColumns: Readonly<Record<string, ListingOrigin>> = {
  row_number: { of: "facts", value: sql`facts.row_number` },
  ...Object.fromEntries(
    (["id", "vin", ...namesIn("builds"), ...namesIn("listings"), ...namesIn("dealers")] as const)
      .filter(isIncluded)
      .map((attribute) => [attribute, originOf(attribute)]),
  ),
};

/** The columns that only listings of the published day have. */
const isValued = (column: string): boolean => valuedNames.some((name) => name === column);

/** All tokens as one list in key order. Keys are contiguous from 1, so a key is a list index. */
export const tokensInOrder = sql`SELECT list(token ORDER BY token_key) AS words FROM tokens`;

/**
 * Joins listings with their build, their dealer and the tokens. Every listing has a build and a dealer: left joins only keep the engine from joining the
 * token list to every dealer first.
 */
export const starJoins = sql`LEFT JOIN builds USING (build_key) LEFT JOIN dealers USING (dealer_key) CROSS JOIN tokens_in_order`;

/**
 * Returns a query for flat listings. `facts` is a relation of listings with `row_number`; `extra` adds columns of `facts`. The relations
 * `builds`, `dealers` and `tokens_in_order` must exist. Without values, those
 * columns are left out.
 */
export function flatListings(facts: Sql, hasValues: boolean, extra: readonly Sql[] = []): Sql {
  const columns = Object.entries(flatColumns)
    .filter(([column]) => hasValues || !isValued(column))
    .map(([column, origin]) => sql`${expressionOf(origin)} AS ${ident(column)}`);
  return sql`SELECT ${join([...columns, ...extra])}
    FROM (${facts}) AS facts
    ${starJoins}`;
}

/** Returns the words of a list of token keys of `facts`. */
export const tokenWords = (column: string): Sql =>
  sql`list_transform(${ident("facts", column)}, lambda token_key: tokens_in_order.words[token_key])`;

const expressionOf = (origin: ListingOrigin): Sql =>
  origin.of === "tokens" ? tokenWords(origin.column) : origin.value;
