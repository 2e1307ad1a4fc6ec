/**
 * SQLite. Each relation is a table of narrow rows, a table of wide columns that pages join, and a table of tokens; there is an index for
 * every filter, sort and facet, and statistics for the planner (ANALYZE).
 */
import { join } from "node:path";
import type { Json, Row } from "../../src/base/json.ts";
import { DuckDatabase } from "../../src/db/duckdb.ts";
import { Sql } from "../../src/db/sql.ts";
import { SqliteEngine } from "../../src/db/sqlite.ts";
import { type ColumnKind, type ColumnName, columnNames, isWide, kindOf } from "../dataset/columns.ts";
import { peerFolder } from "../dataset/dataset.ts";
import { type Relation, relations } from "../dataset/flat-rows.ts";
import { type Dialect, haversineMiles, isTokenList, type OpenPeer, quoteString } from "./peer.ts";

type SqliteFile = InstanceType<typeof SqliteEngine>;

export const openSqlite: OpenPeer = async (dataset, log) => {
  const folder = await peerFolder(dataset, "sqlite", log, (unfinished) =>
    fillSqlite(join(unfinished, "listings.db"), dataset.flat),
  );
  const file = new SqliteEngine(join(folder, "listings.db"), { readOnly: true });
  file.exec("PRAGMA mmap_size = 68719476736");
  file.exec("PRAGMA cache_size = -262144");
  file.exec("PRAGMA temp_store = MEMORY");
  const [versionRow] = rowsOf(file, "SELECT sqlite_version() AS version");
  return {
    name: "sqlite",
    version: String(versionRow?.version),
    dialect,
    levels: "history",
    rows: async (statement) => rowsOf(file, statement),
    close: async () => {
      file.close();
    },
  };
};

function rowsOf(file: SqliteFile, statement: string): readonly Row[] {
  return file.prepare(statement).all();
}

const columnTypes: Readonly<Record<ColumnKind, string>> = {
  category: "TEXT",
  text: "TEXT",
  integer: "INTEGER",
  real: "REAL",
  timestamp: "TEXT",
  date: "TEXT",
  tokens: "TEXT",
  texts: "TEXT",
};

const narrowColumns = columnNames.filter((column) => !isWide(column) && !isTokenList(column) && column !== "position");
const wideColumns = columnNames.filter((column) => isWide(column) || isTokenList(column));

/** Columns that are filtered together, followed by the column that their matches are sorted by. */
const indexes: readonly (readonly ColumnName[])[] = [
  ["id"],
  ["vin"],
  ["make", "model", "price"],
  ["make", "days_on_market"],
  ["make", "discount_from_msrp"],
  ["state", "days_on_market"],
  ["dealer_id", "days_on_market"],
  ["days_on_market"],
  ["price"],
  ["miles"],
  ["msrp"],
  ["sold_on_record", "days_on_market"],
  ["model"],
  ["year"],
  ["trim"],
  ["version"],
  ["body_type"],
  ["drivetrain"],
  ["fuel_type"],
  ["transmission"],
  ["engine"],
  ["cylinders"],
  ["doors"],
  ["seating_capacity"],
  ["assembly_location"],
  ["assembly_country"],
  ["exterior_color"],
  ["interior_color"],
  ["base_exterior_color"],
  ["base_interior_color"],
  ["availability_status"],
  ["inventory_type"],
  ["dealer_type"],
];

const batchRows = 50_000;

async function fillSqlite(path: string, flat: string): Promise<void> {
  const file = new SqliteEngine(path);
  file.exec("PRAGMA journal_mode = MEMORY");
  file.exec("PRAGMA synchronous = OFF");
  file.exec("PRAGMA cache_size = -1048576");
  file.exec(
    "CREATE TABLE tokens (token_key INTEGER PRIMARY KEY, list TEXT NOT NULL, token TEXT NOT NULL, UNIQUE (list, token))",
  );
  const tokenKey = tokenKeysIn(file);
  const database = await DuckDatabase.open();
  await database.using(async (session) => {
    const query = (statement: string): Promise<readonly Row[]> => session.rows(new Sql([statement], []));
    const selectList = columnNames.map((column) => `${readExpression(column)} AS "${column}"`).join(", ");
    for (const relation of relations) {
      createTables(file, relation);
      const source = `read_parquet(${quoteString(join(flat, `${relation}.parquet`))})`;
      const [countRow] = await query(`SELECT count(*)::INTEGER AS listings FROM ${source}`);
      for (let from = 0; from < Number(countRow?.listings); from += batchRows) {
        const inBatch = `position BETWEEN ${from} AND ${from + batchRows - 1}`;
        insertRows(file, relation, await query(`SELECT ${selectList} FROM ${source} WHERE ${inBatch}`), tokenKey);
      }
      createIndexes(file, relation);
    }
  });
  database.close();
  file.exec("ANALYZE");
  file.close();
}

/** Returns the DuckDB expression that reads a column: token lists as lists, other lists as JSON, dates and timestamps as text. */
function readExpression(column: ColumnName): string {
  const kind = kindOf(column);
  if (kind === "texts") return `to_json("${column}")::VARCHAR`;
  return kind === "timestamp" || kind === "date" ? `"${column}"::VARCHAR` : `"${column}"`;
}

function createTables(file: SqliteFile, relation: Relation): void {
  const definitions = (columns: readonly ColumnName[]): string =>
    columns.map((column) => `"${column}" ${columnTypes[kindOf(column)]}`).join(", ");
  file.exec(`CREATE TABLE ${relation} (position INTEGER PRIMARY KEY, ${definitions(narrowColumns)})`);
  file.exec(`CREATE TABLE ${relation}_wide (position INTEGER PRIMARY KEY, ${definitions(wideColumns)})`);
  file.exec(
    `CREATE TABLE ${relation}_tokens (position INTEGER, token_key INTEGER, PRIMARY KEY (position, token_key)) WITHOUT ROWID`,
  );
}

/** Returns the key of a token, and inserts the token if it is new. */
type TokenKey = (list: string, token: string) => number;

function insertRows(file: SqliteFile, relation: Relation, rows: readonly Row[], tokenKey: TokenKey): void {
  const insertInto = (table: string, columns: number) =>
    file.prepare(`INSERT INTO ${table} VALUES (${Array(columns).fill("?").join(", ")})`);
  const insertNarrow = insertInto(relation, narrowColumns.length + 1);
  const insertWide = insertInto(`${relation}_wide`, wideColumns.length + 1);
  const insertToken = file.prepare(`INSERT OR IGNORE INTO ${relation}_tokens VALUES (?, ?)`);
  file.exec("BEGIN");
  for (const row of rows) {
    const valuesOf = (columns: readonly ColumnName[]): readonly Json[] =>
      columns.map((column) => toStorable(row[column]));
    insertNarrow.run(row.position, ...valuesOf(narrowColumns));
    insertWide.run(row.position, ...valuesOf(wideColumns));
    for (const list of columnNames.filter(isTokenList)) {
      const tokens = row[list];
      if (Array.isArray(tokens))
        for (const token of tokens) insertToken.run(row.position, tokenKey(list, String(token)));
    }
  }
  file.exec("COMMIT");
}

const toStorable = (value: Json | undefined): Json => (Array.isArray(value) ? JSON.stringify(value) : (value ?? null));

function tokenKeysIn(file: SqliteFile): TokenKey {
  const keys = new Map<string, number>();
  const insert = file.prepare("INSERT INTO tokens VALUES (?, ?, ?)");
  return (list, token) => {
    const known = keys.get(`${list} ${token}`);
    if (known !== undefined) return known;
    const key = keys.size + 1;
    keys.set(`${list} ${token}`, key);
    insert.run(key, list, token);
    return key;
  };
}

/** Creates the indexes of a relation, and `<relation>_places`, the distinct locations of dealers. */
function createIndexes(file: SqliteFile, relation: Relation): void {
  for (const columns of indexes) {
    const list = columns.map((column) => `"${column}"`).join(", ");
    file.exec(`CREATE INDEX ${relation}_by_${columns.join("_")} ON ${relation} (${list})`);
  }
  file.exec(`CREATE INDEX ${relation}_by_token ON ${relation}_tokens (token_key, position)`);
  file.exec(`CREATE TABLE ${relation}_places AS SELECT DISTINCT dealer_id, latitude, longitude FROM ${relation}`);
}

const dialect: Dialect = {
  page: ({ columns, from, where, order, limit, offset }) => `
    SELECT ${columns.map((column) => `"${column}"`).join(", ")}
    FROM (SELECT * FROM ${from} WHERE ${where} ORDER BY ${order}, position LIMIT ${limit} OFFSET ${offset})
    JOIN ${from}_wide USING (position)`,
  hasToken: (list, token, from) => `
    EXISTS (SELECT 1 FROM ${from}_tokens AS listing_tokens WHERE listing_tokens.position = ${from}.position
    AND listing_tokens.token_key = (SELECT token_key FROM tokens WHERE list = '${list}' AND token = ${quoteString(token)}))`,
  distanceMiles: (origin) => scalarMin(haversineMiles(origin)),
  withinRadius: (origin, miles, from) =>
    `dealer_id IN (SELECT dealer_id FROM ${from}_places WHERE ${scalarMin(haversineMiles(origin))} <= ${miles})`,
  valueCounts(facets, from, where, limit) {
    const isFiltered = where !== "true";
    const columns = ["position", ...facets.filter((facet) => !isTokenList(facet))].map((column) => `"${column}"`);
    const matches = isFiltered
      ? `WITH matches AS MATERIALIZED (SELECT ${columns.join(", ")} FROM ${from} WHERE ${where})`
      : "";
    const counts = facets.map((facet) => {
      if (isTokenList(facet)) return tokenCounts(facet, from, isFiltered, limit);
      return `SELECT * FROM (SELECT '${facet}' AS facet, "${facet}" AS value, count(*) AS listings
        FROM ${isFiltered ? "matches" : from} WHERE "${facet}" IS NOT NULL GROUP BY "${facet}" ORDER BY 3 DESC, 2 LIMIT ${limit})`;
    });
    return `${matches} ${counts.join(" UNION ALL ")}`;
  },
  percentile: (column, fraction) => `percentile(${column}, ${fraction * 100})`,
  stddev: (column) =>
    `sqrt((count(${column}) * sum(1.0 * ${column} * ${column}) - pow(sum(1.0 * ${column}), 2)) / count(${column}) / (count(${column}) - 1))`,
  integerDivision: (column, divisor) => `(${column} / ${divisor})`,
  unnest: () => {
    throw new Error("SQLite has no rows of the past: expected a case without trends.");
  },
};

/** Counts tokens by key before it joins their texts. */
function tokenCounts(list: string, from: string, isFiltered: boolean, limit: number): string {
  const listingTokens = isFiltered ? `matches JOIN ${from}_tokens USING (position)` : `${from}_tokens`;
  return `SELECT * FROM (SELECT '${list}' AS facet, token AS value, listings
    FROM (SELECT token_key, count(*) AS listings FROM ${listingTokens} GROUP BY token_key) JOIN tokens USING (token_key)
    WHERE list = '${list}' ORDER BY 3 DESC, 2 LIMIT ${limit})`;
}

/** Replaces `least` by SQLite's name for the smaller of two values. */
const scalarMin = (expression: string): string => expression.replace("least(", "min(");
