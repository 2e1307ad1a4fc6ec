/**
 * PostgreSQL, as its users would set it up for these queries: a table for each relation, an index for each attribute that queries filter or sort by, a
 * GIN index for the features, a pattern index for VINs, analyzed. It is filled at each start.
 */
import { chmod, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Pool, types } from "pg";
import { DuckDatabase } from "../../src/db/duckdb.ts";
import { Sql } from "../../src/db/sql.ts";
import { type ColumnKind, peerColumns } from "../dataset/columns.ts";
import type { Dataset } from "../dataset/dataset.ts";
import { type Relation, relations } from "../dataset/flat-rows.ts";
import { startPostgres } from "../servers/postgres.ts";
import { type Dialect, isTokenList, type OpenPeer, quoteString } from "./peer.ts";

export const openPostgres: OpenPeer = async (dataset, log) => {
  const server = await startPostgres(tuning);
  // The driver returns BIGINT and NUMERIC as texts.
  for (const type of [types.builtins.INT8, types.builtins.NUMERIC]) types.setTypeParser(type, Number);
  const pool = new Pool({ connectionString: server.url, max: 16 });
  log("filling PostgreSQL");
  await fill(pool, dataset);
  return {
    name: "postgres",
    version: server.version.replace("PostgreSQL ", ""),
    dialect,
    levels: "history",
    rows: async (statement) => (await pool.query(statement)).rows,
    close: async () => {
      await pool.end();
      await server.stop();
    },
  };
};

/** A quarter of the memory would be usual; this holds all tables and indexes of a million listings. */
const tuning = ["shared_buffers=4GB", "work_mem=64MB", "effective_cache_size=8GB", "random_page_cost=1.1", "jit=off"];

const columnTypes: Readonly<Record<ColumnKind, string>> = {
  category: "text",
  text: "text",
  integer: "integer",
  real: "double precision",
  timestamp: "timestamp",
  date: "date",
  tokens: "text[]",
  texts: "text[]",
};

const kinds: readonly (readonly [column: string, kind: ColumnKind])[] = Object.entries(peerColumns);

/** The columns, or expressions over them, of each index. */
const indexes: readonly string[] = [
  ...[
    "id",
    "vin",
    "vin text_pattern_ops",
    "make, model, price",
    "model",
    "state, price",
    "dealer_id",
    "price, position",
  ],
  ...["days_on_market, position", "miles, position", "sold_on_record", "latitude, longitude"],
];

async function fill(pool: Pool, { flat }: Dataset): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), "carquet-postgres-rows-"));
  // The server reads the files as another user.
  await chmod(folder, 0o755);
  try {
    for (const relation of relations) {
      const file = join(folder, `${relation}.csv`);
      await writeCsv(join(flat, `${relation}.parquet`), file);
      await pool.query(
        `CREATE TABLE ${relation} (${kinds.map(([name, kind]) => `"${name}" ${columnTypes[kind]}`).join(", ")})`,
      );
      await pool.query(`COPY ${relation} FROM ${quoteString(file)} (FORMAT csv)`);
      for (const statement of indexesOf(relation)) await pool.query(statement);
      await pool.query(`VACUUM ANALYZE ${relation}`);
      await rm(file);
    }
  } finally {
    await rm(folder, { recursive: true });
  }
}

const indexesOf = (relation: Relation): readonly string[] => [
  ...indexes.map((columns) => `CREATE INDEX ON ${relation} (${columns})`),
  `CREATE INDEX ON ${relation} USING gin (features)`,
];

/** Writes rows as the server reads them: a list as its array literal. */
async function writeCsv(parquet: string, file: string): Promise<void> {
  const quoted = `lambda item: '"' || replace(replace(item, '\\', '\\\\'), '"', '\\"') || '"'`;
  const columns = kinds.map(([name, kind]) =>
    kind === "tokens" || kind === "texts"
      ? `'{' || array_to_string(list_transform("${name}", ${quoted}), ',') || '}' AS "${name}"`
      : `"${name}"`,
  );
  const database = await DuckDatabase.open();
  try {
    await database.using((session) =>
      session.run(
        new Sql(
          [
            `COPY (SELECT ${columns.join(", ")} FROM read_parquet(${quoteString(parquet)})) TO ${quoteString(file)} (HEADER false)`,
          ],
          [],
        ),
      ),
    );
  } finally {
    database.close();
  }
  await chmod(file, 0o644);
}

const quoteName = (name: string): string => `"${name}"`;

const dialect: Dialect = {
  page: ({ columns, from, where, order, limit, offset }) => `
    SELECT ${columns.map(quoteName).join(", ")} FROM ${from} WHERE ${where} ORDER BY ${order}, position LIMIT ${limit} OFFSET ${offset}`,
  hasToken: (list, token) => `${list} @> ARRAY[${quoteString(token)}]`,
  valueCounts(facets, from, where, limit) {
    const counts = facets.map((facet) => {
      const values = isTokenList(facet) ? `(SELECT unnest(${facet}) AS "${facet}" FROM matches) AS tokens` : "matches";
      return `
        (SELECT '${facet}' AS facet, "${facet}"::text AS value, count(*)::integer AS listings FROM ${values}
         WHERE "${facet}" IS NOT NULL GROUP BY "${facet}" ORDER BY listings DESC, "${facet}" LIMIT ${limit})`;
    });
    const names = facets.map(quoteName).join(", ");
    return `WITH matches AS (SELECT ${names} FROM ${from} WHERE ${where}) ${counts.join(" UNION ALL ")}`;
  },
  percentile: (column, fraction) => `percentile_cont(${fraction}) WITHIN GROUP (ORDER BY ${column})`,
  stddev: (column) => `stddev_samp(${column})`,
  integerDivision: (column, divisor) => `(${column} / ${divisor})::integer`,
  unnest: (list) => `unnest(${list})`,
};
