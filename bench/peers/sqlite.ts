/**
 * SQLite: narrow rows, the wide columns of a page beside them, tokens by listing and by token, an index for each thing that is
 * asked for and for each facet, and statistics for the planner.
 */
import { join } from "node:path";
import type BetterSqlite from "better-sqlite3";
import type { Json, Row } from "../../src/base/json.ts";
import { DuckDatabase } from "../../src/db/duckdb.ts";
import { Sql } from "../../src/db/sql.ts";
import { Engine } from "../../src/db/sqlite.ts";
import { type ColumnName, columnNames, isWide, type Kind, kindOf } from "../dataset/columns.ts";
import { peerFolder } from "../dataset/dataset.ts";
import { type Relation, relations } from "../dataset/flat-rows.ts";
import { type Dialect, isList, type OpenPeer, peerMilesFrom, text } from "./peer.ts";

type File = BetterSqlite.Database;

export const openSqlite: OpenPeer = async (dataset, say) => {
  const folder = await peerFolder(dataset, "sqlite", say, (unfinished) =>
    fill(join(unfinished, "listings.db"), dataset.flat),
  );
  const file = new Engine(join(folder, "listings.db"), { readonly: true });
  file.pragma("mmap_size = 68719476736");
  file.pragma("cache_size = -262144");
  file.pragma("temp_store = MEMORY");
  const [about] = rowsOf(file, "SELECT sqlite_version() AS version");
  return {
    name: "sqlite",
    version: String(about?.version),
    dialect,
    rows: async (statement) => rowsOf(file, statement),
    close: async () => {
      file.close();
    },
  };
};

function rowsOf(file: File, statement: string): readonly Row[] {
  return file.prepare<[], Row>(statement).all();
}

const types: Readonly<Record<Kind, string>> = {
  word: "TEXT",
  text: "TEXT",
  whole: "INTEGER",
  real: "REAL",
  time: "TEXT",
  day: "TEXT",
  words: "TEXT",
  texts: "TEXT",
};

const narrow = columnNames.filter((column) => !isWide(column) && !isList(column) && column !== "position");
const wide = columnNames.filter((column) => isWide(column) || isList(column));

/** What is asked for together, and the order that it is wanted in. */
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
  ["sold_date", "days_on_market"],
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

async function fill(path: string, flat: string): Promise<void> {
  const file = new Engine(path);
  file.pragma("journal_mode = OFF");
  file.pragma("synchronous = OFF");
  file.pragma("cache_size = -1048576");
  file.exec(
    "CREATE TABLE tokens (token_key INTEGER PRIMARY KEY, list TEXT NOT NULL, token TEXT NOT NULL, UNIQUE (list, token))",
  );
  const keyOf = keysIn(file);
  const database = await DuckDatabase.open();
  await database.using(async (session) => {
    for (const relation of relations) {
      make(file, relation);
      const source = `read_parquet(${text(join(flat, `${relation}.parquet`))})`;
      const [counted] = await session.rows(new Sql([`SELECT count(*)::INTEGER AS rows FROM ${source}`], []));
      for (let from = 0; from < Number(counted?.rows); from += batch) {
        const listed = columnNames.map((column) => `${readAs(column)} AS "${column}"`).join(", ");
        const between = `position BETWEEN ${from} AND ${from + batch - 1}`;
        insert(
          file,
          relation,
          await session.rows(new Sql([`SELECT ${listed} FROM ${source} WHERE ${between}`], [])),
          keyOf,
        );
      }
      finish(file, relation);
    }
  });
  database.close();
  file.exec("ANALYZE");
  file.close();
}

const batch = 50_000;

/** Lists stay lists, for the tokens; what a page shows of them is text. */
function readAs(column: ColumnName): string {
  const kind = kindOf(column);
  if (kind === "texts") return `to_json("${column}")::VARCHAR`;
  return kind === "time" || kind === "day" ? `"${column}"::VARCHAR` : `"${column}"`;
}

function make(file: File, relation: Relation): void {
  const list = (columns: readonly ColumnName[]): string =>
    columns.map((column) => `"${column}" ${types[kindOf(column)]}`).join(", ");
  file.exec(`CREATE TABLE ${relation} (position INTEGER PRIMARY KEY, ${list(narrow)})`);
  file.exec(`CREATE TABLE ${relation}_wide (position INTEGER PRIMARY KEY, ${list(wide)})`);
  file.exec(
    `CREATE TABLE ${relation}_tokens (position INTEGER, token_key INTEGER, PRIMARY KEY (position, token_key)) WITHOUT ROWID`,
  );
}

function insert(
  file: File,
  relation: Relation,
  rows: readonly Row[],
  keyOf: (list: string, token: string) => number,
): void {
  const into = (table: string, columns: number) =>
    file.prepare(`INSERT INTO ${table} VALUES (${Array(columns).fill("?").join(", ")})`);
  const [intoNarrow, intoWide] = [into(relation, narrow.length + 1), into(`${relation}_wide`, wide.length + 1)];
  const intoTokens = file.prepare(`INSERT OR IGNORE INTO ${relation}_tokens VALUES (?, ?)`);
  file.transaction(() => {
    for (const row of rows) {
      const bound = (columns: readonly ColumnName[]): readonly Json[] => columns.map((column) => storable(row[column]));
      intoNarrow.run(row.position, ...bound(narrow));
      intoWide.run(row.position, ...bound(wide));
      for (const list of columnNames.filter(isList)) {
        const tokens = row[list];
        if (Array.isArray(tokens)) for (const token of tokens) intoTokens.run(row.position, keyOf(list, String(token)));
      }
    }
  })();
}

const storable = (value: Json | undefined): Json => (Array.isArray(value) ? JSON.stringify(value) : (value ?? null));

/** Gives the key of a token, which is new when the token is. */
function keysIn(file: File): (list: string, token: string) => number {
  const keys = new Map<string, number>();
  const add = file.prepare("INSERT INTO tokens VALUES (?, ?, ?)");
  return (list, token) => {
    const known = keys.get(`${list} ${token}`);
    if (known !== undefined) return known;
    const key = keys.size + 1;
    keys.set(`${list} ${token}`, key);
    add.run(key, list, token);
    return key;
  };
}

function finish(file: File, relation: Relation): void {
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
  carries: (
    list,
    token,
    from,
  ) => `EXISTS (SELECT 1 FROM ${from}_tokens AS carried WHERE carried.position = ${from}.position
    AND carried.token_key = (SELECT token_key FROM tokens WHERE list = '${list}' AND token = ${text(token)}))`,
  miles: (origin) => scalar(peerMilesFrom(origin)),
  within: (origin, miles, from) =>
    `dealer_id IN (SELECT dealer_id FROM ${from}_places WHERE ${scalar(peerMilesFrom(origin))} <= ${miles})`,
  counts(facets, from, where, limit) {
    const isFiltered = where !== "true";
    const matches = isFiltered ? "matches" : from;
    const counted = facets.map((facet) => {
      const tokens = isFiltered ? `matches JOIN ${from}_tokens USING (position)` : `${from}_tokens`;
      const rows = isList(facet)
        ? `(SELECT token_key, count(*) AS listings FROM ${tokens} GROUP BY token_key) JOIN tokens USING (token_key) WHERE list = '${facet}'`
        : `${matches} WHERE "${facet}" IS NOT NULL GROUP BY "${facet}"`;
      const [value, count] = isList(facet) ? ["token", "listings"] : [`"${facet}"`, "count(*)"];
      return `SELECT * FROM (SELECT '${facet}' AS facet, ${value} AS value, ${count} AS listings FROM ${rows} ORDER BY 3 DESC, 2 LIMIT ${limit})`;
    });
    const kept = ["position", ...facets.filter((facet) => !isList(facet))].map((column) => `"${column}"`).join(", ");
    const keep = isFiltered ? `WITH matches AS MATERIALIZED (SELECT ${kept} FROM ${from} WHERE ${where})` : "";
    return `${keep} ${counted.join(" UNION ALL ")}`;
  },
  percentile: (column, share) => `percentile(${column}, ${share * 100})`,
  deviation: (column) =>
    `sqrt((count(${column}) * sum(1.0 * ${column} * ${column}) - pow(sum(1.0 * ${column}), 2)) / count(${column}) / (count(${column}) - 1))`,
  quotient: (number, by) => `(${number} / ${by})`,
};

/** The least of two, which other engines call \`least\`. */
const scalar = (expression: string): string => expression.replace("least(", "min(");
