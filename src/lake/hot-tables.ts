/**
 * The tables of a hot copy: the active listings, with what they are searched and counted by; the first of them in each order, among which
 * most searches find their page; how many have which key; and the values that repeat.
 *
 * Colors are the same from car to car, and so is much equipment. Where they are, a listing carries the key of the value beside it: what is
 * asked of tokens is asked of some ten thousand sets instead of millions of lists, and words are counted by their keys.
 */
import { createHash } from "node:crypto";
import { bounds } from "../base/bounds.ts";
import { Failure } from "../base/failure.ts";
import { integerIn } from "../base/json.ts";
import { join, name, type Sql, sql, type } from "../base/sql.ts";
import { engineVersion, type Session } from "./duckdb.ts";
import { layoutOf, type RepeatingColumn, repeatingColumns, tokenKinds } from "./layout.ts";
import { inOrder, type OrderName, orders } from "./orders.ts";

/** The newest storage keeps the dictionaries of short words. */
export const hotStorage = sql`STORAGE_VERSION 'latest'`;

/** The columns of the lake that listings are searched and counted by; pages and details have the others from the row copies. */
const searched: readonly string[] = [
  ...(["id", "vin", "build_key", "dealer_key", "make", "model", "year", "listed_at", "days_on_market"] as const),
  ...(["price", "miles", "msrp", "discount_from_msrp", "inventory_type", "availability_status"] as const),
  ...(["exterior_color", "interior_color", "base_exterior_color", "base_interior_color"] as const),
  ...(["features", "options_packages", "keywords"] as const),
];

/** A column of listings that holds a key: of their build, of their dealer, or of a value. */
export type ListingKey = "build_key" | "dealer_key" | `${RepeatingColumn}_key`;

/** The column that holds the key of a value; the type that numbers the values has the same name. */
export const keyOf = (column: RepeatingColumn): ListingKey => `${column}_key`;

/** The table of the values of a column: `key` and `value`. */
export const valuesOf = (catalog: string, column: RepeatingColumn): Sql => name(catalog, `${column}_values`);

/** The table of a key, where listings have one, and how many `listings` have it. */
export const countsOf = (catalog: string, key: ListingKey): Sql => name(catalog, `listings by ${key}`);

/** The table of the first listings in an order, with their `row_number`. */
export const firstsOf = (catalog: string, order: OrderName): Sql => name(catalog, `first by ${order}`);

/**
 * Makes the tables in a catalog, unless it is told to stop, of listings with their `row_number`. They keep their order, so that a row's
 * place is its `row_number`.
 */
export async function makeHotTables(
  session: Session,
  catalog: string,
  listings: Sql,
  isStopped: () => boolean = () => false,
): Promise<void> {
  const columns: RepeatingColumn[] = [];
  for (const column of repeatingColumns) if (await repeats(session, column, listings)) columns.push(column);
  for (const statement of making(catalog, listings, columns)) {
    if (isStopped()) throw new Failure("The making of the hot copy was stopped.");
    await session.run(statement);
  }
  await compare(session, catalog, listings);
}

/** Whether a column has so few values that it pays to number them. */
async function repeats(session: Session, column: RepeatingColumn, listings: Sql): Promise<boolean> {
  const counted = await session.row(
    sql`SELECT approx_count_distinct(hash(${name(column)}))::INTEGER AS "values", count(*)::INTEGER AS listings FROM (${listings})`,
  );
  return integerIn(counted, "values") <= bounds.repeatingShare * integerIn(counted, "listings");
}

/** The statements that make the tables. Rows come past ENUMs to learn the keys of their values: a join would not keep their order. */
function making(catalog: string, listings: Sql, columns: readonly RepeatingColumn[]): readonly Sql[] {
  const table = name(catalog, "listings");
  const keys = columns.map(
    (column) => sql`enum_code(${name(column)}::VARCHAR::${keyName(column)})::INTEGER AS ${keyName(column)}`,
  );
  const counted: readonly ListingKey[] = ["build_key", "dealer_key", ...columns.map(keyOf)];
  return [
    ...columns.flatMap((column) => [
      sql`CREATE TABLE ${valuesOf(catalog, column)} AS
        SELECT (row_number() OVER (ORDER BY value) - 1)::INTEGER AS key, value
        FROM   (SELECT DISTINCT ${name(column)} AS value FROM (${listings}) WHERE ${name(column)} IS NOT NULL)`,
      sql`CREATE TYPE ${keyName(column)} AS ENUM (SELECT value::VARCHAR FROM ${valuesOf(catalog, column)} ORDER BY key)`,
    ]),
    sql`CREATE TABLE ${table} (${columnsOf(columns)})`,
    sql`INSERT INTO ${table} BY NAME SELECT ${join([...searched.map((column) => name(column)), ...keys])} FROM (${listings})`,
    ...columns.map((column) => sql`DROP TYPE ${keyName(column)}`),
    ...counted.map(
      (key) => sql`CREATE TABLE ${countsOf(catalog, key)} AS
        SELECT ${name(key)}, count(*)::INTEGER AS listings FROM ${table} WHERE ${name(key)} IS NOT NULL GROUP BY ALL ORDER BY ALL`,
    ),
    ...orderNames.map(
      (order) => sql`CREATE TABLE ${firstsOf(catalog, order)} AS
        SELECT rowid AS row_number, * FROM ${table} ORDER BY ${inOrder(orders[order])} LIMIT ${type(String(bounds.firsts))}`,
    ),
  ];
}

const keyName = (column: RepeatingColumn): Sql => name(keyOf(column));

const orderNames = Object.keys(orders) as readonly OrderName[];

/** Fails unless the copy holds the same listings at the same places. */
async function compare(session: Session, catalog: string, listings: Sql): Promise<void> {
  const places = (rows: Sql, place: Sql): Sql =>
    sql`SELECT count(*), bit_xor(hash(id, ${place}::BIGINT)) FROM (${rows})`;
  const differing = sql`(${places(listings, sql`row_number`)}) EXCEPT (${places(sql`SELECT id, rowid FROM ${name(catalog, "listings")}`, sql`rowid`)})`;
  if ((await session.row(differing)) !== undefined)
    throw new Failure("The hot copy has its listings in another order.");
}

/** The columns of the listings: those of the lake that are searched and counted by, and the keys of values. */
function columnsOf(numbered: readonly RepeatingColumn[]): Sql {
  const { columns } = layoutOf("snapshots");
  const ofLake = searched.map((column) => sql`${name(column)} ${type(columns[column] ?? "")}`);
  return join([...ofLake, ...numbered.map((column) => sql`${keyName(column)} INTEGER`)]);
}

/** The columns whose values are numbered in a copy that is open. */
export async function columnsNumbered(session: Session, catalog: string): Promise<readonly RepeatingColumn[]> {
  const found = await session.rows(sql`SELECT table_name FROM duckdb_tables() WHERE database_name = ${catalog}`);
  const tables = new Set(found.map(({ table_name }) => table_name));
  return repeatingColumns.filter((column) => tables.has(`${column}_values`));
}

/** Reads all but the lists once, so that the first requests find it in memory. */
export async function readOnce(session: Session, catalog: string, numbered: readonly RepeatingColumn[]): Promise<void> {
  const columns = searched.filter((column) => !Object.hasOwn(tokenKinds, column)).map((column) => name(column));
  const values = join([...columns, ...numbered.map(keyName)]);
  await session.run(sql`SELECT bit_xor(hash(${values})) FROM ${name(catalog, "listings")}`);
}

/** Tells the copies of this engine, this storage and these tables from all others. */
export const hotFormat: string = createHash("sha256")
  .update(engineVersion)
  .update(join([hotStorage, ...making("", sql``, repeatingColumns)]).text)
  .digest("hex")
  .slice(0, 8);
