/**
 * DuckDB over one flat Parquet file for each relation: what somebody would do who has the file and no service. The file is sorted as
 * Carquet's own are, and the engine is set as Carquet sets it.
 */
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { bounds } from "../../src/base/bounds.ts";
import { DuckDatabase, engineVersion } from "../../src/db/duckdb.ts";
import { SessionPool } from "../../src/db/session-pool.ts";
import { ident, literal, Sql, sql } from "../../src/db/sql.ts";
import { relations } from "../dataset/flat-rows.ts";
import { type Dialect, inBoxAround, isList, type OpenPeer, peerMilesFrom, text } from "./peer.ts";

export const openDuckdb: OpenPeer = async ({ flat }) => {
  const database = await DuckDatabase.open({ threads: availableParallelism() });
  await database.using(async (session) => {
    for (const relation of relations) {
      const path = literal(join(flat, `${relation}.parquet`));
      await session.run(sql`CREATE VIEW ${ident(relation)} AS FROM read_parquet(${path})`);
    }
  });
  const pool = await SessionPool.open(database, {
    sessions: bounds.sessions,
    waitingQueries: 10_000,
    deadlineMs: 600_000,
  });
  return {
    name: "duckdb",
    version: engineVersion,
    dialect,
    rows: (statement) => pool.rows(new Sql([statement], [])),
    close: async () => {
      pool.close();
      database.close();
    },
  };
};

const dialect: Dialect = {
  page: ({ columns, from, where, order, limit, offset }) => `
    SELECT ${columns.map((column) => `"${column}"`).join(", ")} FROM ${from} WHERE ${where}
    ORDER BY ${order}, position LIMIT ${limit} OFFSET ${offset}`,
  carries: (list, token) => `list_contains(${list}, ${text(token)})`,
  miles: peerMilesFrom,
  within: (origin, miles) => `${inBoxAround(origin, miles)} AND ${peerMilesFrom(origin)} <= ${miles}`,
  counts(facets, from, where, limit) {
    const counted = facets.map((facet) => {
      const values = isList(facet) ? `(SELECT unnest(${facet}) AS "${facet}" FROM matches)` : "matches";
      return `
        (SELECT '${facet}' AS facet, "${facet}"::VARCHAR AS value, count(*)::INTEGER AS listings FROM ${values}
         WHERE "${facet}" IS NOT NULL GROUP BY "${facet}" ORDER BY listings DESC, "${facet}" LIMIT ${limit})`;
    });
    const isFiltered = where !== "true";
    return `
      WITH matches AS ${isFiltered ? "" : "NOT"} MATERIALIZED (
        SELECT ${facets.map((facet) => `"${facet}"`).join(", ")} FROM ${from} WHERE ${where})
      ${counted.join(" UNION ALL ")}`;
  },
  percentile: (column, share) => `quantile_cont(${column}, ${share})`,
  deviation: (column) => `stddev_samp(${column})`,
  quotient: (number, by) => `(${number} // ${by})::INTEGER`,
};
