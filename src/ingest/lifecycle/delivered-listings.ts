/**
 * Builds listing rows from the delivery: one per VIN and dealer, with normalized colors, dimension keys and prices. Columns that depend
 * on earlier days (`listed_at`, price history, ...) are added in `lifecycle.ts`.
 */
import type { Session } from "../../db/duckdb.ts";
import { all, ident, integerLiteral, join, literal, type Sql, sql } from "../../db/sql.ts";
import { keywordBits, type TokenColumn } from "../../lake/tables.ts";
import { computedFeeds, type FeedKind } from "../../listing/attribute.ts";
import { pricingAmounts } from "../../listing/nested-types.ts";
import { attributeOf, attributes, type NameOf, namesIn, tokensNames } from "../../listing/schema.ts";
import { matchesBuild } from "../dimensions/dimension-keys.ts";
import type { Spellings } from "../normalize/vocabularies.ts";

const colors = ["exterior_color", "interior_color"] as const;

/** Not by the delivery alone. */
const laterKinds = ["history", ...computedFeeds] as const;
type LaterKind = (typeof laterKinds)[number];

/** Columns of listings that the delivery alone determines. */
type DeliveredColumn = Exclude<NameOf<{ readonly home: "listings" }>, NameOf<{ readonly feed: LaterKind }>>;

const deliveredColumns = namesIn("listings").filter(
  (column): column is DeliveredColumn => !laterKinds.some((kind) => kind === attributeOf(column).feed),
);
const spelledColumns = deliveredColumns.filter(
  (column): column is NameOf<{ readonly home: "listings"; readonly feed: "spelled" }> =>
    attributeOf(column).feed === "spelled",
);
/** Build columns that listings repeat because they are sorted by them. */
const sortKeyColumns = namesIn("builds").filter((column) => attributeOf(column).isSortKey === true);

const spellingOf = (column: string): string => `spelling_of_${column}`;

/** How a feed column becomes a listing column, by kind. */
const conversions: Readonly<Record<Exclude<FeedKind, "rule" | LaterKind>, (column: string) => Sql>> = {
  field: (column) => ident("inventory", column),
  spelled: (column) => ident(spellingOf(column), "spelling"),
  list: (column) => sql`coalesce(${ident("inventory", column)}, [])`,
  flag: (column) => sql`coalesce(${ident("inventory", column)}, false)`,
  tokens: (column) => sql`coalesce(${ident(`token_keys_of_${column}`, "keys")}, [])`,
  keywords: (column) => keywordMask(sql`coalesce(${ident("inventory", column)}, [])`),
};

/**
 * Creates the view `delivered_listings`: one row per claim delivered today, with the delivered columns of listings, `dealer_id`, `is_owner`
 * and `observed_at`.
 */
export async function createDeliveredListingsView(session: Session, spellings: Spellings, day: string): Promise<void> {
  await createColorSpellings(session);
  const observedAt = sql`coalesce(inventory.observed_at, ${literal(`${day} 00:00:00`)}::TIMESTAMP)`;
  const rules: Readonly<Record<NameOf<{ readonly home: "listings"; readonly feed: "rule" }>, Sql>> = {
    build_key: sql`build_keys.build_key`,
    dealer_key: sql`feeds.dealer_key`,
    msrp: sql`coalesce(inventory.msrp, inventory.base_msrp + coalesce(options_total.total, 0))`,
    base_exterior_color: baseColor("exterior_color"),
    base_interior_color: baseColor("interior_color"),
    pricing: pricing(),
    last_checked_at: sql`feeds.last_delivered_at`,
    filled_from_vin: sql`inventory.filled_from_vin`,
  };
  const columns = deliveredColumns.map((column) => {
    const { feed } = attributes[column];
    const value = feed === "rule" ? rules[column as keyof typeof rules] : conversions[feed](column);
    return sql`${value} AS ${ident(column)}`;
  });
  const buildSortKeys = sortKeyColumns.map(
    (column) => sql`${ident("build_keys", `${column}_spelled`)} AS ${ident(column)}`,
  );
  await session.createTempView(
    "delivered_listings",
    sql`
    SELECT inventory.dealer_id, is_owner, ${join([...columns, ...buildSortKeys])}, date_trunc('second', ${observedAt}) AS observed_at
    FROM parsed_inventory AS inventory
    JOIN (SELECT vin, dealer_id, is_owner FROM claims_today WHERE sighted_on = ${literal(day)}::DATE) AS claims
      ON claims.vin = inventory.vin AND claims.dealer_id = inventory.dealer_id
    JOIN build_keys ON ${matchesBuild(sql`inventory`)}
    JOIN feeds_today AS feeds ON feeds.dealer_id = inventory.dealer_id
    LEFT JOIN options_total ON options_total.make = inventory.make AND options_total.list = inventory.options_packages
    ${join([...tokensNames.map(tokenKeysJoin), ...spellingJoins(spellings)], sql` `)}`,
  );
}

/** Creates the table `color_spellings`: those of reported colors, each with the base color that it implies (first known color word). */
const createColorSpellings = (session: Session): Promise<void> =>
  session.createTempTable(
    "color_spellings",
    sql`
    SELECT vocabulary, raw_value, spelling, base_color FROM spellings
    LEFT JOIN (SELECT vocabulary, raw_value, arg_min(base_color, position) AS base_color
               FROM (SELECT vocabulary, raw_value, generate_subscripts(words, 1) AS position, unnest(words) AS word
                     FROM (SELECT *, regexp_extract_all(lower(raw_value), '[a-z]+') AS words FROM spellings WHERE ${isColor}))
               JOIN color_words USING (word) GROUP BY ALL) USING (vocabulary, raw_value)
    WHERE ${isColor}`,
  );

const isColor = sql`vocabulary IN (${join(colors.map((color) => literal(color)))})`;

/** The delivered base color, else the base color of the reported color. */
const baseColor = (color: (typeof colors)[number]): Sql =>
  sql`coalesce(${ident(spellingOf(`base_${color}`), "spelling")}, ${ident(spellingOf(color), "base_color")})`;

const spellingJoins = (spellings: Spellings): readonly Sql[] => [
  ...spelledColumns
    .filter((column) => !colors.some((color) => color === column))
    .map((column) => valueJoin(column, spellings.table(column))),
  ...colors.flatMap((color) => [
    valueJoin(color, sql`(FROM color_spellings WHERE vocabulary = ${literal(color)})`),
    valueJoin(`base_${color}`, spellings.table(`base_${color}`)),
  ]),
];

const valueJoin = (column: string, relation: Sql): Sql =>
  sql`LEFT JOIN ${relation} AS ${ident(spellingOf(column))} ON ${ident(spellingOf(column), "raw_value")} = ${ident("inventory", column)}`;

function tokenKeysJoin(list: TokenColumn): Sql {
  const keys = ident(`token_keys_of_${list}`);
  return sql`LEFT JOIN (SELECT list, keys FROM token_keys WHERE attribute = ${literal(list)}) AS ${keys}
    ON ${keys}.list = ${ident("inventory", list)}`;
}

function keywordMask(keywords: Sql): Sql {
  const bits = Object.entries(keywordBits).map(
    ([keyword, bit]) => sql`if(list_contains(${keywords}, ${literal(keyword)}), ${integerLiteral(bit)}, 0)`,
  );
  return join(bits, sql` + `);
}

/** The provider's price breakdown as a struct; null if the delivery has no part of it. */
function pricing(): Sql {
  const fields = [...pricingAmounts, "line_items"].map((field) => ident("inventory", field));
  const isAbsent = all(fields.map((field) => sql`${field} IS NULL`));
  const amounts = pricingAmounts.map((field) => sql`${ident(field)} := ${ident("inventory", field)}`);
  return sql`CASE WHEN NOT ${isAbsent} THEN struct_pack(${join(amounts)}, line_items := coalesce(inventory.line_items, [])) END`;
}
