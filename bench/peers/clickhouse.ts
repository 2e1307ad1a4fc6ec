/**
 * ClickHouse, embedded in this process. Each relation is a MergeTree sorted by make and model, with LowCardinality strings, Nullable only
 * for columns that contain nulls, Bloom filters for look-ups, and min-max indexes for the sorts of pages and for the days of the past.
 *
 * `clickhouse` has a row for each listing and day of the past, `clickhouse-intervals` Carquet's rows: one for each listing and interval.
 */
import { join } from "node:path";
import type { Row } from "../../src/base/json.ts";
import { messageOf, UserError } from "../../src/base/user-error.ts";
import { DuckDatabase } from "../../src/db/duckdb.ts";
import { Sql } from "../../src/db/sql.ts";
import { type ColumnKind, peerColumns } from "../dataset/columns.ts";
import { type Dataset, type Log, peerFolder } from "../dataset/dataset.ts";
import { type Relation, relations } from "../dataset/flat-rows.ts";
import { type HistoryRelation, historyColumns } from "../dataset/history-rows.ts";
import { type Dialect, isTokenList, type OpenPeer, quoteString, type SqlPeer } from "./peer.ts";

/** Reads wide columns only for the rows of a page. The query condition cache is off: answers are measured uncached. */
const settings = "SETTINGS query_plan_max_limit_for_lazy_materialization = 1000, use_query_condition_cache = 0";

export const openClickhouse: OpenPeer = (dataset, log) =>
  open(
    {
      name: "clickhouse",
      levels: "history",
      tables: [...listingTables(dataset), ...pastTables(dataset, ["history", "events"])],
    },
    dataset,
    log,
  );

export const openClickhouseIntervals: OpenPeer = (dataset, log) =>
  open(
    { name: "clickhouse-intervals", levels: "intervals", tables: pastTables(dataset, ["intervals", "events", "past"]) },
    dataset,
    log,
  );

interface Variant extends Pick<SqlPeer, "name" | "levels"> {
  readonly tables: readonly Table[];
}

async function open({ name, levels, tables }: Variant, dataset: Dataset, log: Log): Promise<SqlPeer> {
  const chdb = await importChdb();
  const path = await peerFolder(dataset, name, log, (unfinished) => fillClickhouse(unfinished, tables, chdb));
  const session = new chdb.Session(path);
  const rows = async (statement: string): Promise<readonly Row[]> => {
    const result = await session.queryAsync(`${statement} ${settings}`, { format: "JSON" });
    return result.json<{ readonly data: readonly Row[] }>().data;
  };
  const [versionRow] = await rows("SELECT version() AS version");
  return {
    name,
    version: String(versionRow?.version),
    dialect,
    levels,
    rows,
    close: async () => {
      session.close();
      await chdb.drainPending();
    },
  };
}

type Chdb = typeof import("chdb");

const importChdb = (): Promise<Chdb> =>
  import("chdb").catch((thrown: unknown) => {
    throw new UserError(
      `Cannot load ClickHouse (${messageOf(thrown).split("\n")[0]}): expected the packages of "npm ci --prefix bench". Use --peers duckdb,solr to leave it out.`,
    );
  });

/** Creates a database with tables that are filled from the flat rows. */
async function fillClickhouse(
  folder: string,
  tables: readonly Table[],
  { drainPending, Session }: Chdb,
): Promise<void> {
  const session = new Session(folder);
  const run = (statement: string) => session.queryAsync(statement, { format: "Null" });
  for (const table of tables) {
    const columnList = Object.keys(table.columns).map(quoteName).join(", ");
    await run(await createTable(table));
    await run(`INSERT INTO ${table.name} SELECT ${columnList} FROM file(${quoteString(table.file)}, Parquet)`);
    await run(`OPTIMIZE TABLE ${table.name} FINAL`);
  }
  session.close();
  await drainPending();
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

interface Table {
  readonly name: Relation | HistoryRelation;
  /** The flat rows that it is filled from. */
  readonly file: string;
  readonly columns: Readonly<Record<string, ColumnKind>>;
  readonly order: readonly string[];
  /** Skip indexes, each as a column and its type. */
  readonly indexes: Readonly<Record<string, string>>;
}

const bloomFilter = "bloom_filter(0.001)";

function listingTables({ flat }: Dataset): readonly Table[] {
  return relations.map((name) => ({
    name,
    columns: peerColumns,
    file: join(flat, `${name}.parquet`),
    order: ["make", "model", "year", "position"],
    indexes: { id: bloomFilter, vin: bloomFilter, days_on_market: "minmax", price: "minmax" },
  }));
}

const byDay = { day: "minmax" };
const byInterval = { valid_from: "minmax", valid_to: "minmax" };

/** The sort order and the skip indexes of each relation of the past. */
const pastLayouts: Readonly<Record<HistoryRelation, Pick<Table, "order" | "indexes">>> = {
  history: { order: ["make", "model", "day"], indexes: byDay },
  events: { order: ["make", "model", "day"], indexes: byDay },
  intervals: { order: ["make", "model", "valid_from"], indexes: byInterval },
  past: { order: ["make", "model", "year", "position"], indexes: { ...byInterval, price: "minmax" } },
};

const pastTables = ({ history }: Dataset, names: readonly HistoryRelation[]): readonly Table[] =>
  names.map((name) => ({
    name,
    columns: historyColumns[name],
    file: join(history, `${name}.parquet`),
    ...pastLayouts[name],
  }));

/** Returns the CREATE TABLE statement of a table. Nullability follows from its flat rows. */
async function createTable(table: Table): Promise<string> {
  const nullable = await columnsWithNulls(table);
  const columns = Object.entries(table.columns).map(([column, kind]) => {
    const type = nullable.has(column) ? `Nullable(${columnTypes[kind]})` : columnTypes[kind];
    return `${quoteName(column)} ${kind === "category" ? `LowCardinality(${type})` : type}`;
  });
  const indexes = Object.entries(table.indexes).map(
    ([column, type]) => `INDEX by_${column} ${column} TYPE ${type} GRANULARITY 1`,
  );
  return `
    CREATE TABLE ${table.name} (${[...columns, ...indexes].join(", ")})
    ENGINE = MergeTree ORDER BY (${table.order.join(", ")}) SETTINGS allow_nullable_key = 1`;
}

const quoteName = (name: string): string => `\`${name}\``;

async function columnsWithNulls({ columns, file }: Table): Promise<ReadonlySet<string>> {
  const database = await DuckDatabase.open();
  try {
    return await database.using(async (session) => {
      const nullCounts = Object.keys(columns)
        .map((column) => `count(*) - count("${column}") AS "${column}"`)
        .join(", ");
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
    SELECT ${columns.map(quoteName).join(", ")} FROM ${from} WHERE ${where}
    ORDER BY ${order}, position LIMIT ${limit} OFFSET ${offset}`,
  hasToken: (list, token) => `has(${list}, ${quoteString(token)})`,
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
  unnest: (list) => `arrayJoin(${list})`,
};
