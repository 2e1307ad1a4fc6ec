/**
 * Gives builds, tokens and options their keys: rows that the lake has keep theirs, new ones continue from the manifest's
 * maximum in the order of their content, so that the same feeds give the same keys.
 */

import type { Session } from "../../db/duckdb.ts";
import { all, ident, join, type Sql, sql } from "../../db/sql.ts";
import type { DimensionTable } from "../../lake/manifest.ts";
import { buildColumns, type TokenColumn, tokenKinds } from "../../lake/tables.ts";
import { attributeOf, namesIn } from "../../listing/schema.ts";
import { isSpelled, type Spellings } from "../normalize/vocabularies.ts";

const columns = Object.keys(buildColumns).map((column) => ident(column));

/** What listings repeat of their builds, beside the values as delivered. */
const spelledKeys = namesIn("builds")
  .filter((column) => attributeOf(column).isSortKey === true)
  .map((column) => sql`${ident("all_builds", column)} AS ${ident(`${column}_spelled`)}`);

const sameIn = (left: Sql, right: Sql): Sql =>
  all(columns.map((column) => sql`${left}.${column} IS NOT DISTINCT FROM ${right}.${column}`));

/** Which build each combination of values as delivered is. Makes `new_builds` and `build_keys` (values, build_key). */
export async function assignBuildKeys(session: Session, spellings: Spellings, greatestKey: number): Promise<void> {
  const normalised = Object.keys(buildColumns).map((column) => {
    const asWritten = ident("was", column);
    return sql`${isSpelled(column) ? spellings.lookUp(column, asWritten) : asWritten} AS ${ident(column)}`;
  });
  await session.createTempTable(
    "variants",
    sql`SELECT row_number() OVER () AS variant, * FROM (SELECT DISTINCT ${join(columns)} FROM parsed_inventory)`,
  );
  await session.createTempTable("spelled_variants", sql`SELECT variant, ${join(normalised)} FROM variants AS was`);
  await session.createTempTable(
    "new_builds",
    sql`SELECT ${greatestKey} + row_number() OVER (ORDER BY ${join(columns)}) AS build_key, ${join(columns)}
        FROM (SELECT DISTINCT ${join(columns)} FROM spelled_variants) AS today
        WHERE NOT EXISTS (FROM lake_builds AS known WHERE ${sameIn(sql`known`, sql`today`)})`,
  );
  await session.createTempTable("all_builds", sql`FROM lake_builds UNION ALL BY NAME FROM new_builds`);
  await session.createTempTable(
    "build_keys",
    sql`SELECT variants.* EXCLUDE (variant), all_builds.build_key, ${join(spelledKeys)}
        FROM variants JOIN spelled_variants USING (variant)
        JOIN all_builds ON ${sameIn(sql`all_builds`, sql`spelled_variants`)}`,
  );
  await session.drop("variants", "spelled_variants");
}

/** Joins a row of the inventory, as delivered, to its build. */
export const matchesBuild = (row: Sql): Sql => sameIn(sql`build_keys`, row);

/** Makes `new_tokens`, `token_keys` (kind, value, token_key) and for each list of tokens `keys_of_<list>` (list, keys). */
export async function assignTokenKeys(session: Session, spellings: Spellings, greatestKey: number): Promise<void> {
  const kinds = Object.entries(tokenKinds) as readonly (readonly [TokenColumn, string])[];
  const used = kinds.map(
    ([attribute, kind]) =>
      sql`SELECT DISTINCT ${kind} AS kind, ${spellings.lookUp(attribute, sql`value`)} AS token
          FROM (SELECT DISTINCT unnest(${ident(attribute)}) AS value FROM parsed_inventory)`,
  );
  await session.createTempTable(
    "new_tokens",
    sql`SELECT ${greatestKey} + row_number() OVER (ORDER BY kind, token) AS token_key, kind, token
        FROM (${join(used, sql` UNION `)}) AS today
        WHERE token IS NOT NULL AND NOT EXISTS (FROM lake_tokens AS known WHERE known.kind = today.kind AND known.token = today.token)`,
  );
  await session.createTempTable("all_tokens", sql`FROM lake_tokens UNION ALL BY NAME FROM new_tokens`);
  for (const [attribute, kind] of kinds) {
    await session.createTempTable(
      "lists",
      sql`SELECT row_number() OVER () AS number, list
          FROM (SELECT DISTINCT ${ident(attribute)} AS list FROM parsed_inventory WHERE ${ident(attribute)} IS NOT NULL)`,
    );
    await session.createTempTable(
      "keys_of_words",
      sql`SELECT as_written, token_key FROM ${spellings.table(attribute)}
          JOIN all_tokens ON all_tokens.kind = ${kind} AND all_tokens.token = spelling`,
    );
    await session.createTempTable(
      `keys_of_${attribute}`,
      sql`SELECT list, coalesce(keys, []) AS keys FROM lists
          LEFT JOIN (SELECT number, list(DISTINCT token_key ORDER BY token_key) AS keys
                     FROM (SELECT number, unnest(list) AS as_written FROM lists) JOIN keys_of_words USING (as_written)
                     GROUP BY number) USING (number)`,
    );
  }
  await session.drop("lists", "keys_of_words");
}

/**
 * Makes `new_options` (rows to append: what is new or says something else than before) and `options_total` (make, list,
 * total): what the decoded options of a list cost together, in whole dollars.
 */
export async function assignOptionKeys(session: Session, spellings: Spellings, greatestKey: number): Promise<void> {
  const named = sql`
    SELECT DISTINCT ON (make, code) make, code, name, msrp
    FROM (SELECT ${spellings.lookUp("make", sql`make`)} AS make, ${spellings.lookUp("options_packages", sql`code`)} AS code, name, msrp, file, "row"
          FROM parsed_options)
    WHERE make IS NOT NULL AND code IS NOT NULL ORDER BY make, code, file DESC, "row" DESC`;
  const newest = sql`SELECT DISTINCT ON (make, code) * FROM lake_options ORDER BY make, code, option_key DESC`;
  await session.createTempTable(
    "new_options",
    sql`SELECT ${greatestKey} + row_number() OVER (ORDER BY make, code) AS option_key, * FROM (${named}) AS today
        WHERE NOT EXISTS (FROM (${newest}) AS known WHERE known.make = today.make AND known.code = today.code
          AND known.name IS NOT DISTINCT FROM today.name AND known.msrp IS NOT DISTINCT FROM today.msrp)`,
  );
  await session.createTempTable(
    "options_total",
    sql`SELECT make, list, sum(msrp)::INTEGER AS total FROM (
        SELECT DISTINCT lists.make, lists.list, options.code, options.msrp
        FROM (SELECT DISTINCT make, options_packages AS list, unnest(options_packages) AS value FROM parsed_inventory
              WHERE msrp IS NULL AND base_msrp IS NOT NULL) AS lists
        JOIN ${spellings.table("options_packages")} AS codes ON codes.as_written = lists.value
        JOIN ${spellings.table("make")} AS makes ON makes.as_written = lists.make
        JOIN (SELECT DISTINCT ON (make, code) * FROM (FROM lake_options UNION ALL BY NAME FROM new_options)
              ORDER BY make, code, option_key DESC) AS options ON options.make = makes.spelling AND options.code = codes.spelling
        ) GROUP BY ALL`,
  );
}

/** The greatest key of each dimension once its new rows are appended. */
export async function maxKeys(
  session: Session,
  before: Readonly<Record<DimensionTable, number>>,
): Promise<Record<DimensionTable, number>> {
  const added = async (table: DimensionTable): Promise<number> => {
    const row = await session.row(sql`SELECT count(*)::INTEGER AS n FROM ${ident(`new_${table}`)}`);
    return before[table] + Number(row?.n);
  };
  return {
    builds: await added("builds"),
    dealers: await added("dealers"),
    tokens: await added("tokens"),
    options: await added("options"),
  };
}
