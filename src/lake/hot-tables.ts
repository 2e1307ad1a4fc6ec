/**
 * The tables of a hot copy: the active listings, indexed by id and VIN, and the sets of tokens that occur in them.
 *
 * Much equipment is the same from car to car. Where it is, a listing carries the key of its set beside its list of tokens, and
 * what is asked of tokens is asked of the sets: some ten thousands instead of millions of lists.
 */
import { createHash } from "node:crypto";
import { bounds } from "../base/bounds.ts";
import { Failure } from "../base/failure.ts";
import { integerIn } from "../base/json.ts";
import { join, name, type Sql, sql, type } from "../base/sql.ts";
import { engineVersion, type Session } from "./duckdb.ts";
import { layoutOf, type TokenColumn, tokenColumns } from "./layout.ts";

/** What a copy is made from. */
export interface HotSource {
  /** The active listings, in the order of the snapshot, with their `row_number`. */
  readonly listings: Sql;
  /** The VINs of all past listings, as `vin`. */
  readonly past: Sql;
}

/** The newest storage keeps the dictionaries of short words; from small blocks a row that nobody has asked for yet comes sooner. */
export const hotStorage = sql`STORAGE_VERSION 'latest', BLOCK_SIZE 65536`;

/** The column of listings that holds the key of a set; the type that numbers the sets has the same name. */
export const setOf = (column: TokenColumn): Sql => name(`${column}_set`);

/** The table of the sets: `set_key` and `token_keys`. */
export const setsOf = (catalog: string, column: TokenColumn): Sql => name(catalog, `${column}_sets`);

/** Makes the tables in a catalog, unless it is told to stop. The rows keep their order, so that a row's place is its `row_number`. */
export async function makeHotTables(
  session: Session,
  catalog: string,
  source: HotSource,
  isStopped: () => boolean = () => false,
): Promise<void> {
  const columns: TokenColumn[] = [];
  for (const column of tokenColumns) if (await repeats(session, column, source)) columns.push(column);
  for (const statement of making(catalog, source, columns)) {
    if (isStopped()) throw new Failure("The making of the hot copy was stopped.");
    await session.run(statement);
  }
  await compare(session, catalog, source);
}

/** Whether so few sets occur that it pays to number them. */
async function repeats(session: Session, column: TokenColumn, { listings }: HotSource): Promise<boolean> {
  const counted = await session.row(
    sql`SELECT approx_count_distinct(hash(${name(column)}))::INTEGER AS sets, count(*)::INTEGER AS listings FROM (${listings})`,
  );
  return integerIn(counted, "sets") <= bounds.tokenSetsShare * integerIn(counted, "listings");
}

/**
 * The statements that make the tables. Rows come past ENUMs to learn the keys of their sets and whether their VIN has a past: a join
 * would not keep their order.
 */
function making(catalog: string, { listings, past }: HotSource, columns: readonly TokenColumn[]): readonly Sql[] {
  const table = name(catalog, "listings");
  const loneVin = sql`CASE WHEN TRY_CAST(vin AS listed_before) IS NULL THEN vin END AS lone_vin`;
  const keys = columns.map(
    (column) => sql`enum_code(${name(column)}::VARCHAR::${setOf(column)})::INTEGER AS ${setOf(column)}`,
  );
  return [
    sql`CREATE TYPE listed_before AS ENUM
      (SELECT DISTINCT vin FROM (${past}) WHERE vin IN (SELECT vin FROM (${listings})) ORDER BY vin)`,
    ...columns.flatMap((column) => [
      sql`CREATE TABLE ${setsOf(catalog, column)} AS
        SELECT (row_number() OVER (ORDER BY tokens) - 1)::INTEGER AS set_key, tokens AS token_keys
        FROM   (SELECT DISTINCT ${name(column)} AS tokens FROM (${listings}) WHERE ${name(column)} IS NOT NULL)`,
      sql`CREATE TYPE ${setOf(column)} AS ENUM (SELECT token_keys::VARCHAR FROM ${setsOf(catalog, column)} ORDER BY set_key)`,
    ]),
    sql`CREATE TABLE ${table} (${columnsOf(columns)})`,
    sql`INSERT INTO ${table} BY NAME SELECT ${join([sql`* EXCLUDE (row_number)`, loneVin, ...keys])} FROM (${listings})`,
    ...[sql`listed_before`, ...columns.map(setOf)].map((made) => sql`DROP TYPE ${made}`),
    sql`CREATE INDEX by_id ON ${table} (id)`,
    sql`CREATE INDEX by_vin ON ${table} (lone_vin)`,
  ];
}

/** Fails unless the copy holds the same listings at the same places. */
async function compare(session: Session, catalog: string, { listings }: HotSource): Promise<void> {
  const places = (rows: Sql, place: Sql): Sql =>
    sql`SELECT count(*), bit_xor(hash(id, ${place}::BIGINT)) FROM (${rows})`;
  const differing = sql`(${places(listings, sql`row_number`)}) EXCEPT (${places(sql`SELECT id, rowid FROM ${name(catalog, "listings")}`, sql`rowid`)})`;
  if ((await session.row(differing)) !== undefined)
    throw new Failure("The hot copy has its listings in another order.");
}

/** How texts that are read row by row are stored: as the engine would store them, each would cost the unpacking of thousands. */
const compressions: Readonly<Record<string, Sql>> = {
  stock_number: sql`USING COMPRESSION uncompressed`,
  vdp_url: sql`USING COMPRESSION zstd`,
  vhr_url: sql`USING COMPRESSION zstd`,
};

/** The columns of the listings: those of the lake, the VIN where it has no past listings, and the keys of sets. */
function columnsOf(withSets: readonly TokenColumn[]): Sql {
  const ofLake = Object.entries(layoutOf("snapshots").columns).map(
    ([column, of]) => sql`${name(column)} ${type(of)} ${compressions[column] ?? sql``}`,
  );
  return join([...ofLake, sql`lone_vin VARCHAR`, ...withSets.map((column) => sql`${setOf(column)} INTEGER`)]);
}

/** Which columns have sets in a copy that is open. */
export async function columnsWithSets(session: Session, catalog: string): Promise<readonly TokenColumn[]> {
  const found = await session.rows(sql`SELECT table_name FROM duckdb_tables() WHERE database_name = ${catalog}`);
  const tables = new Set(found.map(({ table_name }) => table_name));
  return tokenColumns.filter((column) => tables.has(`${column}_sets`));
}

/** Reads all that is not nested once, so that the first requests find it in memory. */
export async function readOnce(session: Session, catalog: string): Promise<void> {
  const columns = Object.entries(layoutOf("snapshots").columns).filter(([, of]) => !/\[\]$|^STRUCT/.test(of));
  const values = join(columns.map(([column]) => name(column)));
  await session.run(sql`SELECT bit_xor(hash(${values})) FROM ${name(catalog, "listings")}`);
}

/** Tells the copies of this engine, this storage and these tables from all others. */
export const hotFormat: string = createHash("sha256")
  .update(engineVersion)
  .update(join([hotStorage, ...making("", { listings: sql``, past: sql`` }, tokenColumns)]).text)
  .digest("hex")
  .slice(0, 8);
