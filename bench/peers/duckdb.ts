/**
 * Plain DuckDB over one flat Parquet file for each relation: the alternative to running a service. The files have the sort order of
 * Carquet's, and the engine has Carquet's settings.
 */
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { DuckDatabase, engineVersion } from "../../src/db/duckdb.ts";
import { Job } from "../../src/db/job.ts";
import { SessionPool, sessionsMax } from "../../src/db/session-pool.ts";
import { ident, literal, Sql, sql } from "../../src/db/sql.ts";
import { relations } from "../dataset/flat-rows.ts";
import { historyRelations } from "../dataset/history-rows.ts";
import { type Dialect, isTokenList, type OpenPeer, quoteString } from "./peer.ts";

export const openDuckdb: OpenPeer = async ({ flat, history }) => {
  const database = await DuckDatabase.open({ threads: availableParallelism() });
  await database.using(async (session) => {
    const files = [
      ...relations.map((relation) => ({ relation, folder: flat })),
      ...historyRelations.map((relation) => ({ relation, folder: history })),
    ];
    for (const { relation, folder } of files) {
      const path = literal(join(folder, `${relation}.parquet`));
      await session.run(sql`CREATE VIEW ${ident(relation)} AS FROM read_parquet(${path})`);
    }
  });
  const pool = await SessionPool.open(database, {
    sessions: sessionsMax,
    waitingQueries: 10_000,
  });
  let requests = 0;
  /** An account for each request: the pool shares its sessions between accounts. */
  const nextJob = (): Job => {
    requests += 1;
    return new Job(String(requests));
  };
  return {
    name: "duckdb",
    version: engineVersion,
    dialect,
    levels: "history",
    rows: (statement) => pool.engineOf(nextJob()).rows(new Sql([statement], [])),
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
  hasToken: (list, token) => `list_contains(${list}, ${quoteString(token)})`,
  valueCounts(facets, from, where, limit) {
    const counts = facets.map((facet) => {
      const values = isTokenList(facet) ? `(SELECT unnest(${facet}) AS "${facet}" FROM matches)` : "matches";
      return `
        (SELECT '${facet}' AS facet, "${facet}"::VARCHAR AS value, count(*)::INTEGER AS listings FROM ${values}
         WHERE "${facet}" IS NOT NULL GROUP BY "${facet}" ORDER BY listings DESC, "${facet}" LIMIT ${limit})`;
    });
    const isFiltered = where !== "true";
    return `
      WITH matches AS ${isFiltered ? "" : "NOT"} MATERIALIZED (
        SELECT ${facets.map((facet) => `"${facet}"`).join(", ")} FROM ${from} WHERE ${where})
      ${counts.join(" UNION ALL ")}`;
  },
  percentile: (column, fraction) => `quantile_cont(${column}, ${fraction})`,
  stddev: (column) => `stddev_samp(${column})`,
  integerDivision: (column, divisor) => `(${column} // ${divisor})::INTEGER`,
  unnest: (list) => `unnest(${list})`,
};
