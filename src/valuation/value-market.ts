/**
 * Values the market of a version that is about to be published: fits prices to active listings and those sold in the days before, writes tables `valuations`
 * and `price_effects`, and names the tables of the search index that values and comparables are read from.
 */
import { ident, integerLiteral, literal, type Sql, sql } from "../db/sql.ts";
import { pricedOptions, rowsOfFiles } from "../lake/derived-relations.ts";
import type { Manifest } from "../lake/manifest.ts";
import { activeOn, unorderedListings } from "../lake/market.ts";
import { keywordBits } from "../lake/tables.ts";
import { writeSplit } from "../lake/writer/table-files.ts";
import type { Writer } from "../lake/writer/writer.ts";
import { withFit } from "./fit.ts";
import { rules } from "./rules.ts";

/** Returns the manifest of a version without the valuations of the one before it. */
export const withoutValuations = (manifest: Manifest): Manifest => ({
  ...manifest,
  tables: { ...manifest.tables, valuations: [], price_effects: [] },
});

/** Returns the manifest with the valuations of its published day; with none if the market is too small. */
export async function withValuations(writer: Writer, manifest: Manifest): Promise<Manifest> {
  const { lake, session } = writer;
  const { tables, as_of, version } = manifest;
  const bare = withoutValuations(manifest);
  if ((manifest.days[as_of] ?? 0) < rules.marketMin) return bare;
  const rows = (table: "sold" | "builds" | "dealers" | "tokens" | "options") => rowsOfFiles(table, tables[table], lake);
  const priced = pricedListings(
    {
      active: unorderedListings(activeOn(bare, as_of), { folder: lake, hasFeeds: false }),
      sold: rows("sold"),
      builds: rows("builds"),
      dealers: rows("dealers"),
      tokens: rows("tokens"),
      options: rows("options"),
    },
    as_of,
  );
  return withFit(session, priced, async () => {
    const write = (table: "valuations" | "price_effects") =>
      writeSplit(writer, version, { table, partition: null, rows: sql`FROM ${ident(table)}` });
    return {
      ...bare,
      tables: { ...tables, valuations: await write("valuations"), price_effects: await write("price_effects") },
    };
  });
}

/** The rows of the lake's tables `valuations` and `price_effects`. */
export type MarketRows = Readonly<Record<"valuations" | "effects", Sql>>;

/** Returns the statements that create the tables: the listings of a model and its years are stored together. */
export const marketStatements = (catalog: string, { valuations, effects }: MarketRows): readonly Sql[] => [
  sql`CREATE TABLE ${ident(catalog, "comparables")} AS
    SELECT * REPLACE (id::UUID AS id, latitude::FLOAT AS latitude, longitude::FLOAT AS longitude)
    FROM (${valuations}) ORDER BY make, model, "year", id`,
  sql`CREATE TABLE ${ident(catalog, "price_effects")} AS FROM (${effects})`,
];

/** Relations of a version: listings in two states, and the dimensions. */
type PricedRelations = Readonly<Record<"active" | "sold" | "builds" | "dealers" | "tokens" | "options", Sql>>;

/**
 * Returns one row for each car, its newest listing, with a known price, mileage, condition, make, model and year, and for new cars MSRP. `y` is the logarithm of the price,
 * of a new car that of its price to MSRP.
 */
export function pricedListings({ active, sold, builds, dealers, tokens, options }: PricedRelations, day: string): Sql {
  const columns = sql`id, vin, build_key, dealer_key, inventory_type, price, msrp, miles, keywords, options_packages`;
  const today = sql`DATE ${literal(day)}`;
  return sql`
    WITH worth AS (
      SELECT token_key, make, msrp FROM (${tokens}) JOIN (${pricedOptions(options)}) ON code = token WHERE kind = 'option'
    ), listings AS (
      SELECT ${columns}, NULL::DATE AS sold_date FROM (${active})
      UNION ALL
      SELECT ${columns}, sold_date FROM (${sold})
      WHERE sold_date > ${today} - ${integerLiteral(rules.soldDays)} AND sold_date <= ${today}
    ), newest AS (FROM listings QUALIFY row_number() OVER (PARTITION BY vin ORDER BY sold_date DESC NULLS FIRST, id) = 1
    ), equipped AS (
      SELECT id, sum(worth.msrp)::INTEGER AS option_value
      FROM (SELECT id, make, unnest(options_packages) AS token_key FROM newest JOIN (${builds}) USING (build_key)) JOIN worth USING (token_key, make)
      GROUP BY id
    )
    SELECT id, inventory_type = 'new' AS is_new, (inventory_type = 'certified')::INTEGER AS certified, sold_date, price, msrp, miles,
           keywords & ${integerLiteral(keywordBits.branded)} <> 0 AS is_branded, coalesce(option_value, 0) AS option_value,
           make, model, coalesce(trim, '') AS trim, coalesce(version, '') AS version, "year",
           concat_ws(' ', body_type, powertrain_type) AS body, state, latitude, longitude,
           if(is_new, ln(price / msrp), ln(price)) AS y, miles / ${integerLiteral(rules.mileageUnit)} AS m,
           if(is_new, 0, coalesce(option_value, 0) / ${integerLiteral(rules.optionUnit)}) AS o
    FROM newest JOIN (${builds}) USING (build_key) JOIN (${dealers}) USING (dealer_key) LEFT JOIN equipped USING (id)
    WHERE price > 0 AND miles IS NOT NULL AND inventory_type IS NOT NULL AND make IS NOT NULL AND model IS NOT NULL AND "year" IS NOT NULL
      AND (inventory_type <> 'new' OR msrp > 0)`;
}
