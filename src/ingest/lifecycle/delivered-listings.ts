/** What today's delivery says of each VIN at each dealer that has it, in the row shape of listings. */

import type { Session } from "../../db/duckdb.ts";
import { all, ident, integerLiteral, join, literal, type Sql, sql } from "../../db/sql.ts";
import { keywordBits, type TokenColumn } from "../../lake/tables.ts";
import {
  attributeOf,
  attributes,
  type FeedKind,
  type NameOf,
  namesIn,
  pricingAmounts,
  tokensNames,
} from "../../listing/schema.ts";
import { matchesBuild } from "../dimensions/dimension-keys.ts";
import { createSpellingTable, spellingTable } from "../normalize/spellings.ts";

const colors = ["exterior_color", "interior_color"] as const;

type Described = Exclude<NameOf<{ readonly home: "listings" }>, NameOf<{ readonly feed: "history" }>>;

const described = namesIn("listings").filter((column): column is Described => attributeOf(column).feed !== "history");
const spelledColumns = described.filter((column) => attributeOf(column).feed === "spelled");
const repeated = namesIn("builds").filter((column) => attributeOf(column).isSortKey === true);

/** How each column of the feed becomes a column of listings. */
const filled: Readonly<Record<Exclude<FeedKind, "rule" | "history">, (column: string) => Sql>> = {
  field: (column) => ident("inventory", column),
  spelled: (column) => ident(spellingTable(column), "spelling"),
  list: (column) => sql`coalesce(${ident("inventory", column)}, [])`,
  flag: (column) => sql`coalesce(${ident("inventory", column)}, false)`,
  tokens: (column) => sql`coalesce(${ident(`keys_of_${column}`, "keys")}, [])`,
  keywords: (column) => keywordMask(sql`coalesce(${ident("inventory", column)}, [])`),
};

/** Makes `vehicles`, a view: a row for each claim sighted today, with all of a listing but what its history decides, and `is_owner`. */
export async function createDeliveredListingsView(session: Session, day: string): Promise<void> {
  for (const column of spelledColumns) await spellColumn(session, column);
  for (const color of colors) await spellBaseColor(session, color);
  const observedAt = sql`coalesce(inventory.observed_at, ${literal(`${day} 00:00:00`)}::TIMESTAMP)`;
  const rules: Readonly<Record<NameOf<{ readonly home: "listings"; readonly feed: "rule" }>, Sql>> = {
    build_key: sql`build_keys.build_key`,
    dealer_key: sql`dealer_keys.dealer_key`,
    msrp: sql`coalesce(inventory.msrp, inventory.base_msrp + coalesce(options_total.total, 0))`,
    base_exterior_color: baseColor("exterior_color"),
    base_interior_color: baseColor("interior_color"),
    pricing: pricing(),
    last_checked_at: sql`greatest(${observedAt}, deliveries.delivered_at)`,
  };
  const columns = described.map((column) => {
    const { feed } = attributes[column];
    const value = feed === "rule" ? rules[column as keyof typeof rules] : filled[feed](column);
    return sql`${value} AS ${ident(column)}`;
  });
  const ofBuild = repeated.map((column) => sql`${ident("build_keys", `${column}_spelled`)} AS ${ident(column)}`);
  await session.createTempView(
    "vehicles",
    sql`
    SELECT inventory.dealer_id, is_owner, ${join([...columns, ...ofBuild])}, date_trunc('second', ${observedAt}) AS observed_at
    FROM parsed_inventory AS inventory
    JOIN (SELECT vin, dealer_id, is_owner FROM claims_today WHERE sighted_on = ${literal(day)}::DATE) AS claims
      ON claims.vin = inventory.vin AND claims.dealer_id = inventory.dealer_id
    JOIN build_keys ON ${matchesBuild(sql`inventory`)}
    JOIN dealer_keys ON dealer_keys.dealer_id = inventory.dealer_id
    JOIN deliveries_today AS deliveries ON deliveries.dealer_id = inventory.dealer_id
    LEFT JOIN options_total ON options_total.make = inventory.make AND options_total.list = inventory.options_packages
    ${join([...tokensNames.map(keysJoin), ...spelledColumns.map((column) => spellingJoin(column)), ...colors.flatMap(baseColorJoins)], sql` `)}`,
  );
}

/** Decides the spellings of a column of listings. */
async function spellColumn(session: Session, column: string): Promise<void> {
  await createSpellingTable(session, {
    attribute: column,
    inUse: sql`SELECT ${ident(column)} AS value, count(*) AS n FROM parsed_inventory GROUP BY value`,
    inLake: sql`SELECT ${ident(column)} AS value FROM lake_active`,
  });
}

/** Decides the spellings of a base color, and the base color that a reported one implies. */
async function spellBaseColor(session: Session, color: (typeof colors)[number]): Promise<void> {
  const given = sql`SELECT ${ident(`base_${color}`)} AS value, count(*) AS n FROM parsed_inventory GROUP BY value`;
  const known = sql`SELECT ${ident(`base_${color}`)} AS value FROM lake_active`;
  await createSpellingTable(session, { attribute: "base_color", inUse: given, inLake: known });
  await session.createTempTable(spellingTable(`base_${color}`), sql`FROM ${ident(spellingTable("base_color"))}`);
  await session.createTempTable(
    `base_of_${color}`,
    sql`
    SELECT as_written, arg_min(base_color, place) AS base_color
    FROM (SELECT as_written, generate_subscripts(words, 1) AS place, unnest(words) AS word
          FROM (SELECT DISTINCT as_written, regexp_extract_all(lower(as_written), '[a-z]+') AS words FROM ${ident(spellingTable(color))}))
    JOIN color_words USING (word) GROUP BY as_written`,
  );
}

/** A base color as it is given, or else as the reported color implies it. */
const baseColor = (color: (typeof colors)[number]): Sql =>
  sql`coalesce(${ident(spellingTable(`base_${color}`), "spelling")}, ${ident(`base_of_${color}`, "base_color")})`;

const baseColorJoins = (color: (typeof colors)[number]): readonly Sql[] => [
  spellingJoin(`base_${color}`),
  spellingJoin(color, `base_of_${color}`),
];

/** Joins a table of values as written to the inventory. */
const spellingJoin = (column: string, table = spellingTable(column)): Sql =>
  sql`LEFT JOIN ${ident(table)} ON ${ident(table, "as_written")} = ${ident("inventory", column)}`;

function keysJoin(list: TokenColumn): Sql {
  const keys = ident(`keys_of_${list}`);
  return sql`LEFT JOIN ${keys} ON ${keys}.list = ${ident("inventory", list)}`;
}

function keywordMask(keywords: Sql): Sql {
  const bits = Object.entries(keywordBits).map(
    ([keyword, bit]) => sql`if(list_contains(${keywords}, ${literal(keyword)}), ${integerLiteral(bit)}, 0)`,
  );
  return join(bits, sql` + `);
}

/** Provider data of the specification's section 2.5; null where the provider shows none of it. */
function pricing(): Sql {
  const parts = [...pricingAmounts, "line_items"].map((field) => ident("inventory", field));
  const isAbsent = all(parts.map((part) => sql`${part} IS NULL`));
  const packed = pricingAmounts.map((field) => sql`${ident(field)} := ${ident("inventory", field)}`);
  return sql`CASE WHEN NOT ${isAbsent} THEN struct_pack(${join(packed)}, line_items := coalesce(inventory.line_items, [])) END`;
}
