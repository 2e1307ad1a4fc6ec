/**
 * ClickHouse, embedded in this process. Each relation is a MergeTree sorted by make and model, with LowCardinality strings, Nullable only
 * for columns that contain nulls, Bloom filters for look-ups, and min-max indexes for the sorts of pages.
 */
import { join } from "node:path";
import type { Row } from "../../src/base/json.ts";
import { messageOf, UserError } from "../../src/base/user-error.ts";
import { DuckDatabase } from "../../src/db/duckdb.ts";
import { Sql } from "../../src/db/sql.ts";
import { type ColumnKind, type ColumnName, columnNames, kindOf } from "../dataset/columns.ts";
import { type Dataset, type Log, peerFolder } from "../dataset/dataset.ts";
import { type Relation, relations } from "../dataset/flat-rows.ts";
import { type Dialect, haversineMiles, inBoundingBox, isTokenList, type OpenPeer, quoteString } from "./peer.ts";

/** Reads wide columns only for the rows of a page. The query condition cache is off: answers are measured uncached. */
const settings = "SETTINGS query_plan_max_limit_for_lazy_materialization = 1000, use_query_condition_cache = 0";

export const openClickhouse: OpenPeer = async (dataset, log) => {
  const chdb = await importChdb();
  const path = await fillClickhouse(dataset, chdb, log);
  const session = new chdb.Session(path);
  const rows = async (statement: string): Promise<readonly Row[]> => {
    const result = await session.queryAsync(`${statement} ${settings}`, { format: "JSON" });
    return result.json<{ readonly data: readonly Row[] }>().data;
  };
  const [versionRow] = await rows("SELECT version() AS version");
  return {
    name: "clickhouse",
    version: String(versionRow?.version),
    dialect,
    rows,
    close: async () => {
      session.close();
      await chdb.drainPending();
    },
  };
};

type Chdb = typeof import("chdb");

const importChdb = (): Promise<Chdb> =>
  import("chdb").catch((thrown: unknown) => {
    throw new UserError(
      `Cannot load ClickHouse (${messageOf(thrown).split("\n")[0]}): expected the packages of "npm ci --prefix bench". Use --peers duckdb,sqlite,solr to leave it out.`,
    );
  });

/** Returns the database folder. Fills a new one from the flat rows if it does not exist yet. */
function fillClickhouse(dataset: Dataset, { drainPending, Session }: Chdb, log: Log): Promise<string> {
  return peerFolder(dataset, "clickhouse", log, async (unfinished) => {
    const session = new Session(unfinished);
    const run = (statement: string) => session.queryAsync(statement, { format: "Null" });
    const columnList = columnNames.map((column) => `\`${column}\``).join(", ");
    for (const relation of relations) {
      const file = join(dataset.flat, `${relation}.parquet`);
      await run(await createTable(relation, file));
      await run(`INSERT INTO ${relation} SELECT ${columnList} FROM file(${quoteString(file)}, Parquet)`);
      await run(`OPTIMIZE TABLE ${relation} FINAL`);
    }
    session.close();
    await drainPending();
  });
}

const columnTypes: Readonly<Record<ColumnKind, string>> = {
  category: "String",
  text: "String",
  integer: "Int32",
  real: "Float64",
  timestamp: "DateTime('UTC')",
  date: "Date",
  tokens: "Array(LowCardinality(String))",
  texts: "Array(String)",
};

/** Returns the CREATE TABLE statement of a relation. Nullability follows from the flat rows in `file`. */
async function createTable(relation: Relation, file: string): Promise<string> {
  const nullable = await columnsWithNulls(file);
  const typeOf = (column: ColumnName): string => {
    const kind = kindOf(column);
    const type = nullable.has(column) ? `Nullable(${columnTypes[kind]})` : columnTypes[kind];
    return kind === "category" ? `LowCardinality(${type})` : type;
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
      const nullCounts = columnNames.map((column) => `count(*) - count("${column}") AS "${column}"`).join(", ");
      const [row = {}] = await session.rows(
        new Sql([`SELECT ${nullCounts} FROM read_parquet(${quoteString(file)})`], []),
      );
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
  hasToken: (list, token) => `has(${list}, ${quoteString(token)})`,
  distanceMiles: haversineMiles,
  withinRadius: (origin, miles) => `${inBoundingBox(origin, miles)} AND ${haversineMiles(origin)} <= ${miles}`,
  valueCounts: (facets, from, where, limit) =>
    facets
      .map((facet) => {
        const [expression, condition] = isTokenList(facet)
          ? [`arrayJoin(${facet})`, ""]
          : [facet, `AND ${facet} IS NOT NULL`];
        return `
          SELECT * FROM (SELECT '${facet}' AS facet, toString(${expression} AS facet_value) AS value, count() AS listings
          FROM ${from} WHERE ${where} ${condition} GROUP BY facet_value ORDER BY listings DESC, facet_value LIMIT ${limit})`;
      })
      .join(" UNION ALL "),
  percentile: (column, fraction) => `quantileExactInclusive(${fraction})(${column})`,
  stddev: (column) => `stddevSampStable(${column})`,
  integerDivision: (column, divisor) => `intDiv(${column}, ${divisor})`,
};
