/**
 * ClickHouse embedded in this process: a MergeTree for each relation, sorted by make and model, words as LowCardinality, no column
 * nullable that has no nulls, Bloom filters on what is looked up, min-max indexes on what pages are sorted by.
 */
import { join } from "node:path";
import type { Row } from "../../src/base/json.ts";
import { messageOf, UserError } from "../../src/base/user-error.ts";
import { DuckDatabase } from "../../src/db/duckdb.ts";
import { Sql } from "../../src/db/sql.ts";
import { type ColumnName, columnNames, type Kind, kindOf } from "../dataset/columns.ts";
import { peerFolder } from "../dataset/dataset.ts";
import { type Relation, relations } from "../dataset/flat-rows.ts";
import { type Dialect, inBoxAround, isList, type OpenPeer, peerMilesFrom, text } from "./peer.ts";

/** Wide columns are read for the rows of a page only; a condition that was asked before is not remembered: answers are uncached. */
const settings = "SETTINGS query_plan_max_limit_for_lazy_materialization = 1000, use_query_condition_cache = 0";

export const openClickhouse: OpenPeer = async (dataset, say) => {
  const { drainPending, Session } = await import("chdb").catch((thrown: unknown) => {
    throw new UserError(
      `ClickHouse does not load (${messageOf(thrown).split("\n")[0]}): npm install --prefix bench, or leave it out with --peers duckdb,sqlite.`,
    );
  });
  const path = await peerFolder(dataset, "clickhouse", say, async (unfinished) => {
    const session = new Session(unfinished);
    for (const relation of relations) {
      const file = join(dataset.flat, `${relation}.parquet`);
      await session.queryAsync(await tableOf(relation, file), { format: "Null" });
      const list = columnNames.map((column) => `\`${column}\``).join(", ");
      await session.queryAsync(`INSERT INTO ${relation} SELECT ${list} FROM file(${text(file)}, Parquet)`, {
        format: "Null",
      });
      await session.queryAsync(`OPTIMIZE TABLE ${relation} FINAL`, { format: "Null" });
    }
    session.close();
    await drainPending();
  });
  const session = new Session(path);
  const rows = async (statement: string): Promise<readonly Row[]> => {
    const result = await session.queryAsync(`${statement} ${settings}`, { format: "JSON" });
    return result.json<{ readonly data: readonly Row[] }>().data;
  };
  const [about] = await rows("SELECT version() AS version");
  return {
    name: "clickhouse",
    version: String(about?.version),
    dialect,
    rows,
    close: async () => {
      session.close();
      await drainPending();
    },
  };
};

const types: Readonly<Record<Kind, string>> = {
  word: "String",
  text: "String",
  whole: "Int32",
  real: "Float64",
  time: "DateTime('UTC')",
  day: "Date",
  words: "Array(LowCardinality(String))",
  texts: "Array(String)",
};

/** The table of a relation, given the file that it is filled from. */
async function tableOf(relation: Relation, file: string): Promise<string> {
  const nullable = await columnsWithNulls(file);
  const typeOf = (column: ColumnName): string => {
    const kind = kindOf(column);
    const type = nullable.has(column) ? `Nullable(${types[kind]})` : types[kind];
    return kind === "word" ? `LowCardinality(${type})` : type;
  };
  return `
    CREATE TABLE ${relation} (
      ${columnNames.map((column) => `\`${column}\` ${typeOf(column)}`).join(", ")},
      INDEX by_id id TYPE bloom_filter(0.001) GRANULARITY 1,
      INDEX by_vin vin TYPE bloom_filter(0.001) GRANULARITY 1,
      INDEX by_days days_on_market TYPE minmax GRANULARITY 1,
      INDEX by_price price TYPE minmax GRANULARITY 1)
    ENGINE = MergeTree ORDER BY (make, model, year, position) SETTINGS allow_nullable_key = 1`;
}

async function columnsWithNulls(file: string): Promise<ReadonlySet<string>> {
  const database = await DuckDatabase.open();
  try {
    return await database.using(async (session) => {
      const counts = columnNames.map((column) => `count(*) - count("${column}") AS "${column}"`).join(", ");
      const [row = {}] = await session.rows(new Sql([`SELECT ${counts} FROM read_parquet(${text(file)})`], []));
      return new Set(Object.entries(row).flatMap(([column, nulls]) => (Number(nulls) > 0 ? [column] : [])));
    });
  } finally {
    database.close();
  }
}

const dialect: Dialect = {
  page: ({ columns, from, where, order, limit, offset }) => `
    SELECT ${columns.map((column) => `\`${column}\``).join(", ")} FROM ${from} WHERE ${where}
    ORDER BY ${order}, position LIMIT ${limit} OFFSET ${offset}`,
  carries: (list, token) => `has(${list}, ${text(token)})`,
  miles: peerMilesFrom,
  within: (origin, miles) => `${inBoxAround(origin, miles)} AND ${peerMilesFrom(origin)} <= ${miles}`,
  counts: (facets, from, where, limit) =>
    facets
      .map((facet) => {
        const [value, test] = isList(facet) ? [`arrayJoin(${facet})`, ""] : [facet, `AND ${facet} IS NOT NULL`];
        return `
          SELECT * FROM (SELECT '${facet}' AS facet, toString(${value} AS word) AS value, count() AS listings
          FROM ${from} WHERE ${where} ${test} GROUP BY word ORDER BY listings DESC, word LIMIT ${limit})`;
      })
      .join(" UNION ALL "),
  percentile: (column, share) => `quantileExactInclusive(${share})(${column})`,
  deviation: (column) => `stddevSampStable(${column})`,
  quotient: (number, by) => `intDiv(${number}, ${by})`,
};
