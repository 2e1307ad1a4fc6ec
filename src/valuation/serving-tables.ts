/** The tables of the index of today that values and comparables are read from: `comparables` and `price_effects`. */
import { ident, type Sql, sql } from "../db/sql.ts";

/** The rows of the lake's tables `valuations` and `price_effects`. */
export type MarketRows = Readonly<Record<"valuations" | "effects", Sql>>;

/** Returns the statements that create the tables: the listings of a model and its years are stored together. */
export const marketStatements = (catalog: string, { valuations, effects }: MarketRows): readonly Sql[] => [
  sql`CREATE TABLE ${ident(catalog, "comparables")} AS
    SELECT * REPLACE (id::UUID AS id, latitude::FLOAT AS latitude, longitude::FLOAT AS longitude)
    FROM (${valuations}) ORDER BY make, model, "year", id`,
  sql`CREATE TABLE ${ident(catalog, "price_effects")} AS FROM (${effects})`,
];
