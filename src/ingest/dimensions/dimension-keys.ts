/**
 * Assigns keys to dealers, builds, tokens and options. Rows that the lake already has keep their key. New rows are numbered from the manifest's
 * greatest key on, in the order of their content, so that the same feeds produce the same keys. A dealer whose row changed gets a new key; earlier keys
 * keep their earlier row.
 */
import { projectPath } from "../../base/project-files.ts";
import type { Session } from "../../db/duckdb.ts";
import { all, ident, join, literal, pathLiteral, type Sql, sql } from "../../db/sql.ts";
import { caseFold } from "../../db/text-matching.ts";
import { rowsOfFiles } from "../../lake/derived-relations.ts";
import type { DimensionTable, TableFiles } from "../../lake/manifest.ts";
import { buildColumns, dealerColumns, tokenKinds } from "../../lake/tables.ts";
import { type AttributeName, attributeOf, type NameOf, namesIn, tokensNames } from "../../listing/schema.ts";
import { isSpelled, listingVocabularies, type Spellings, valuesAsRows } from "../normalize/vocabularies.ts";

const dimensions: readonly DimensionTable[] = ["builds", "dealers", "tokens", "options"];

/** Creates the tables `lake_<dimension>` with all rows of a lake's dimensions. The days ingested later add theirs. */
export async function loadDimensions(session: Session, lake: string, tables: TableFiles): Promise<void> {
  for (const table of dimensions)
    await session.createTempTable(`lake_${table}`, rowsOfFiles(table, tables[table], lake));
}

/** Creates the table `new_<dimension>` with rows to append, and adds them to `lake_<dimension>`. */
export async function appendRows(session: Session, table: DimensionTable, rows: Sql): Promise<void> {
  await session.createTempTable(`new_${table}`, rows);
  await session.run(sql`INSERT INTO ${ident(`lake_${table}`)} BY NAME FROM ${ident(`new_${table}`)}`);
}

const columns = Object.keys(buildColumns).map((column) => ident(column));

/** Normalized build columns that listings repeat, as `<column>_spelled` beside the raw values. */
const sortKeyColumns = namesIn("builds")
  .filter((column) => attributeOf(column).isSortKey === true)
  .map((column) => sql`${ident("lake_builds", column)} AS ${ident(`${column}_spelled`)}`);

/** A condition: two relations agree in all build columns. */
const buildColumnsMatch = (left: Sql, right: Sql): Sql =>
  all(columns.map((column) => sql`${left}.${column} IS NOT DISTINCT FROM ${right}.${column}`));

/**
 * Creates the tables `raw_builds` (each combination of build values in the delivery, with `uses`, the number of its rows, and
 * `raw_build_id`) and `raw_lists` (each distinct list, with its attribute, `uses` and `list_id`).
 */
export async function createRawBuildsAndLists(session: Session): Promise<void> {
  await session.createTempTable(
    "raw_builds",
    sql`SELECT row_number() OVER () AS raw_build_id, * FROM (SELECT ${join(columns)}, count(*) AS uses FROM parsed_inventory GROUP BY ALL)`,
  );
  const lists = tokensNames.map(
    (attribute) => sql`SELECT ${literal(attribute)} AS attribute, ${ident(attribute)} AS list, count(*) AS uses
      FROM parsed_inventory WHERE ${ident(attribute)} IS NOT NULL GROUP BY ALL`,
  );
  await session.createTempTable(
    "raw_lists",
    sql`SELECT row_number() OVER () AS list_id, * FROM (${join(lists, sql` UNION ALL `)})`,
  );
}

/** Appends new builds and creates the table `build_keys` (each combination of raw values in the delivery, with its build_key). */
export async function assignBuildKeys(session: Session, greatestKey: number): Promise<void> {
  const spelled = Object.keys(buildColumns).filter(isSpelled);
  const normalized = Object.keys(buildColumns).map((column) =>
    isSpelled(column)
      ? sql`any_value(spelling) FILTER (vocabulary = ${literal(column)}) AS ${ident(column)}`
      : sql`any_value(raw_builds.${ident(column)}) AS ${ident(column)}`,
  );
  await session.createTempTable(
    "spelled_builds",
    sql`SELECT raw_build_id, ${join(normalized)} FROM raw_builds
        LEFT JOIN (SELECT raw_build_id, vocabulary, value AS raw_value FROM (${valuesAsRows(spelled, sql`raw_builds`, sql`raw_build_id`)})) AS texts
          USING (raw_build_id)
        LEFT JOIN spellings USING (vocabulary, raw_value) GROUP BY raw_build_id`,
  );
  await appendRows(
    session,
    "builds",
    sql`SELECT ${greatestKey} + row_number() OVER (ORDER BY ${join(columns)}) AS build_key, ${join(columns)}
        FROM (SELECT DISTINCT ${join(columns)} FROM spelled_builds) AS today
        WHERE NOT EXISTS (FROM lake_builds AS existing WHERE ${buildColumnsMatch(sql`existing`, sql`today`)})`,
  );
  await session.createTempTable(
    "build_keys",
    sql`SELECT raw_builds.* EXCLUDE (raw_build_id, uses), lake_builds.build_key, ${join(sortKeyColumns)}
        FROM raw_builds JOIN spelled_builds USING (raw_build_id)
        JOIN lake_builds ON ${buildColumnsMatch(sql`lake_builds`, sql`spelled_builds`)}`,
  );
  await session.drop("raw_builds", "spelled_builds");
}

export const matchesBuild = (row: Sql): Sql => buildColumnsMatch(sql`build_keys`, row);

/** Appends new tokens, with the spellings of colors, and creates the table `token_keys` (each distinct raw list of an attribute in the delivery, with its sorted token keys). */
export async function assignTokenKeys(session: Session, greatestKey: number): Promise<void> {
  const ofListings = listingVocabularies.map((name) => [name, name] as const);
  const kinds = [...Object.entries(tokenKinds), ...ofListings].map(
    ([column, kind]) => sql`(${literal(column)}, ${literal(kind)})`,
  );
  await session.createTempTable(
    "token_by_value",
    sql`SELECT vocabulary AS attribute, raw_value, kind, spelling AS token FROM spellings
        JOIN (VALUES ${join(kinds)}) AS kinds(vocabulary, kind) USING (vocabulary) WHERE spelling IS NOT NULL`,
  );
  await appendRows(
    session,
    "tokens",
    sql`SELECT ${greatestKey} + row_number() OVER (ORDER BY kind, token) AS token_key, kind, token
        FROM (SELECT DISTINCT kind, token FROM token_by_value
              SEMI JOIN (SELECT attribute, unnest(list) AS raw_value FROM raw_lists UNION ALL
                         SELECT vocabulary, raw_value FROM spellings WHERE list_contains(${listingVocabularies}, vocabulary)) USING (attribute, raw_value)) AS today
        WHERE NOT EXISTS (FROM lake_tokens AS existing WHERE existing.kind = today.kind AND existing.token = today.token)`,
  );
  const keyByValue = sql`SELECT attribute, raw_value, token_key FROM token_by_value
    JOIN lake_tokens USING (kind, token)`;
  await session.createTempTable(
    "token_keys",
    sql`SELECT attribute, list, coalesce(keys, []) AS keys FROM raw_lists
        LEFT JOIN (SELECT list_id, list(DISTINCT token_key ORDER BY token_key) AS keys
                   FROM (SELECT list_id, attribute, unnest(list) AS raw_value FROM raw_lists) JOIN (${keyByValue}) USING (attribute, raw_value)
                   GROUP BY list_id) USING (list_id)`,
  );
  await session.drop("raw_lists", "token_by_value");
}

/**
 * Appends options that are new or changed and creates the table `options_total` (make, list, total: the sum of the prices of the known
 * options of a raw list, in whole dollars).
 */
export async function assignOptionKeys(session: Session, spellings: Spellings, greatestKey: number): Promise<void> {
  if (await session.hasRows(sql`FROM parsed_options`)) await appendOptions(session, spellings, greatestKey);
  else await session.createTempTable("new_options", sql`FROM lake_options LIMIT 0`);
  if (await session.hasRows(sql`FROM lake_options`)) return createOptionsTotal(session, spellings);
  await session.run(sql`CREATE OR REPLACE TEMPORARY TABLE options_total (make VARCHAR, list VARCHAR[], total INTEGER)`);
}

async function appendOptions(session: Session, spellings: Spellings, greatestKey: number): Promise<void> {
  const options = sql`
    SELECT DISTINCT ON (make, code) make, code, name, msrp
    FROM (SELECT ${spellings.lookUp("make", sql`make`)} AS make, ${spellings.lookUp("options_packages", sql`code`)} AS code, name, msrp, file, "row"
          FROM parsed_options)
    WHERE make IS NOT NULL AND code IS NOT NULL ORDER BY make, code, file DESC, "row" DESC`;
  const newest = sql`SELECT DISTINCT ON (make, code) * FROM lake_options ORDER BY make, code, option_key DESC`;
  await appendRows(
    session,
    "options",
    sql`SELECT ${greatestKey} + row_number() OVER (ORDER BY make, code) AS option_key, * FROM (${options}) AS today
        WHERE NOT EXISTS (FROM (${newest}) AS existing WHERE existing.make = today.make AND existing.code = today.code
          AND existing.name IS NOT DISTINCT FROM today.name AND existing.msrp IS NOT DISTINCT FROM today.msrp)`,
  );
}

const createOptionsTotal = (session: Session, spellings: Spellings): Promise<void> =>
  session.createTempTable(
    "options_total",
    sql`SELECT make, list, sum(msrp)::INTEGER AS total FROM (
        SELECT DISTINCT lists.make, lists.list, options.code, options.msrp
        FROM (SELECT DISTINCT make, options_packages AS list, unnest(options_packages) AS value FROM parsed_inventory
              WHERE msrp IS NULL AND base_msrp IS NOT NULL) AS lists
        JOIN ${spellings.table("options_packages")} AS codes ON codes.raw_value = lists.value
        JOIN ${spellings.table("make")} AS makes ON makes.raw_value = lists.make
        JOIN (SELECT DISTINCT ON (make, code) * FROM lake_options ORDER BY make, code, option_key DESC) AS options ON options.make = makes.spelling AND options.code = codes.spelling
        ) GROUP BY ALL`,
  );

/** Returns the greatest key of each dimension after the new rows. `before` holds the greatest keys of the previous version. */
export async function maxKeys(
  session: Session,
  before: Readonly<Record<DimensionTable, number>>,
): Promise<Record<DimensionTable, number>> {
  const maxKey = async (table: DimensionTable): Promise<number> => {
    const row = await session.row(sql`SELECT count(*)::INTEGER AS n FROM ${ident(`new_${table}`)}`);
    return before[table] + Number(row?.n);
  };
  return {
    builds: await maxKey("builds"),
    dealers: await maxKey("dealers"),
    tokens: await maxKey("tokens"),
    options: await maxKey("options"),
  };
}

/**
 * Deduplicates `parsed_dealers` by dealer id and rejects inventory and delivery rows of unknown dealers. Must run before vocabularies
 * are normalized, which count the remaining rows.
 */
export async function normalizeDealers(session: Session): Promise<void> {
  if (await session.hasRows(sql`FROM parsed_dealers GROUP BY dealer_id HAVING count(*) > 1`))
    await mergeDuplicateDealers(session);
  await session.run(sql`
    INSERT INTO issues BY NAME
    SELECT 'noted' AS outcome, 'dealers' AS feed, file, "row", dealer_id, 'state' AS field, state AS "value", ${unknownState} AS reason
    FROM parsed_dealers LEFT JOIN canonical_of AS known ON known.attribute = 'country' AND known.key = ${caseFold(sql`country`)}
    WHERE state IS NOT NULL AND coalesce(known.canonical, country, 'US') IN ('US', 'CA')
      AND ${caseFold(sql`state`)} NOT IN (SELECT key FROM canonical_of WHERE attribute = 'state')`);
  const rows = sql`(SELECT dealer_id FROM parsed_inventory UNION ALL SELECT dealer_id FROM parsed_deliveries)`;
  if (!(await session.hasRows(sql`FROM ${rows} WHERE ${isUnknownDealer}`))) return;
  for (const table of ["inventory", "deliveries"] as const) await rejectUnknownDealers(session, table);
}

const unknownState = "not a state of the United States, nor a province of Canada";

const isUnknownDealer = sql`dealer_id NOT IN (SELECT dealer_id FROM lake_dealers UNION SELECT dealer_id FROM parsed_dealers)`;

/** Appends new and changed dealers and creates the table `dealer_keys` (dealer_id, dealer_key, makes: the newest row of every dealer). */
export async function assignDealerKeys(session: Session, spellings: Spellings, greatestKey: number): Promise<void> {
  const hasCoordinates = sql`latitude IS NOT NULL AND longitude IS NOT NULL`;
  const makes = sql`(SELECT coalesce(list(DISTINCT spelling ORDER BY spelling) FILTER (spelling IS NOT NULL), [])
    FROM unnest(makes) AS dealer_makes(raw_value) JOIN ${spellings.table("make")} USING (raw_value))`;
  // All other attributes keep their delivered value.
  const derived: Readonly<Record<NameOf<{ readonly home: "dealers"; readonly feed: "rule" | "spelled" }>, Sql>> = {
    state: spellings.lookUp("state", sql`state`),
    postal_code: sql`left(postal_code, 5)`,
    country: sql`coalesce(${spellings.lookUp("country", sql`country`)}, 'US')`,
    latitude: sql`CASE WHEN ${hasCoordinates} THEN latitude END`,
    longitude: sql`CASE WHEN ${hasCoordinates} THEN longitude END`,
    coordinates_source: sql`CASE WHEN ${hasCoordinates} THEN 'feed' END`,
    website: sql`regexp_replace(regexp_extract(lower(trim(website)), '^(?:https?://)?([^/?#:]+)', 1), '^www\\.', '')`,
    makes: sql`coalesce(${makes}, [])`,
  };
  const values = namesIn("dealers").map((attribute) => {
    const column = ident(attributeOf(attribute).column);
    const derivedValues: Readonly<Partial<Record<AttributeName, Sql>>> = derived;
    return sql`${derivedValues[attribute] ?? column} AS ${column}`;
  });
  await session.createTempTable("dealers_today", sql`SELECT ${join(values)} FROM parsed_dealers`);
  await deriveCoordinates(session);
  const columns = Object.keys(dealerColumns).map((column) => ident(column));
  const isUnchanged = all(columns.map((column) => sql`existing.${column} IS NOT DISTINCT FROM today.${column}`));
  const newest = sql`SELECT DISTINCT ON (dealer_id) * FROM lake_dealers ORDER BY dealer_id, dealer_key DESC`;
  await appendRows(
    session,
    "dealers",
    sql`SELECT ${greatestKey} + row_number() OVER (ORDER BY dealer_id) AS dealer_key, ${join(columns)} FROM dealers_today AS today
        WHERE NOT EXISTS (FROM (${newest}) AS existing WHERE ${isUnchanged})`,
  );
  await session.createTempTable("dealer_keys", sql`SELECT dealer_id, dealer_key, makes FROM (${newest})`);
}

/** Sets the coordinates of dealers in the US that have none to those of their ZIP. */
async function deriveCoordinates(session: Session): Promise<void> {
  const lacks = sql`dealers_today.latitude IS NULL AND dealers_today.country = 'US'`;
  if (!(await session.hasRows(sql`FROM dealers_today WHERE ${lacks} AND postal_code IS NOT NULL`))) return;
  const zips = sql`read_csv(${pathLiteral(projectPath("data/reference/zip_codes.csv"))}, header = true, all_varchar = true)`;
  await session.run(sql`
    UPDATE dealers_today SET latitude = zips.latitude::DOUBLE, longitude = zips.longitude::DOUBLE, coordinates_source = 'postal_code'
    FROM ${zips} AS zips WHERE zips.postal_code = dealers_today.postal_code AND ${lacks}`);
}

/** Keeps the last row of each dealer and records the others as merged. */
async function mergeDuplicateDealers(session: Session): Promise<void> {
  const replaced = sql`SELECT file, "row", dealer_id FROM parsed_dealers
    QUALIFY row_number() OVER (PARTITION BY dealer_id ORDER BY file DESC, "row" DESC) > 1`;
  await session.run(sql`
    INSERT INTO issues SELECT 'merged', 'dealers', file, "row", NULL, dealer_id, 'dealer_id', dealer_id, 'replaced by a later row of this dealer'
    FROM (${replaced})`);
  await session.run(sql`DELETE FROM parsed_dealers WHERE (file, "row") IN (SELECT (file, "row") FROM (${replaced}))`);
}

/** Rejects rows whose dealer is neither in the lake nor in the delivery. */
async function rejectUnknownDealers(session: Session, table: "inventory" | "deliveries"): Promise<void> {
  const rows = ident(`parsed_${table}`);
  const vin = table === "inventory" ? sql`vin` : sql`NULL`;
  await session.run(sql`
    INSERT INTO issues SELECT 'rejected', ${table}, file, "row", ${vin}, dealer_id, 'dealer_id', dealer_id, 'unknown dealer'
    FROM ${rows} WHERE ${isUnknownDealer}`);
  await session.run(sql`DELETE FROM ${rows} WHERE ${isUnknownDealer}`);
}
