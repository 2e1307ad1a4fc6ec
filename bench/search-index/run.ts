/**
 * Measures the query strategies of the search index against their alternatives, on the index of a lake:
 * `node --import tsx/esm bench/search-index/run.ts [--lake DIR] [--threads N] [--json FILE]`.
 *
 * Prints the median, the minimum and the processor time of each strategy in ms.
 */
import { join as joinPath } from "node:path";
import { parseArgs } from "node:util";
import { integerIn } from "../../src/base/json.ts";
import { UserError } from "../../src/base/user-error.ts";
import { DuckDatabase, type Session } from "../../src/db/duckdb.ts";
import { columnType, ident, integerLiteral, join, literal, type Sql, sql } from "../../src/db/sql.ts";
import { requireManifest } from "../../src/lake/published-lake.ts";
import { usableFiles } from "../../src/serving/files/serving-parts.ts";
import { countedColumns, isToday, setsOf } from "../../src/serving/index/build.ts";
import { inCondition } from "../../src/serving/index/conditions.ts";
import { joinWithIds } from "../../src/serving/index/where.ts";
import { reportMeasurements } from "../report/report.ts";
import { type Measurement, measured, timed } from "../report/results.ts";

const { values } = parseArgs({
  options: {
    lake: { type: "string", default: "data/lake" },
    threads: { type: "string", default: "2" },
    json: { type: "string" },
  },
});
const warmUpRounds = 3;
const measuredRounds = 15;
const measurements: Measurement[] = [];
const catalog = "search_index";
const listings = ident(catalog, "listings");
const facetColumns = join(countedColumns.map((column) => ident(column)));

const indexFile = usableFiles(await requireManifest(values.lake)).find(({ kind }) => kind === "index");
if (indexFile === undefined)
  throw new UserError(`${values.lake}: expected a search index of the current format. Run carquet index to build it.`);
const database = await DuckDatabase.open({ threads: Number(values.threads) });
await database.using(async (session) => {
  await session.run(sql`ATTACH ${literal(joinPath(values.lake, indexFile.path))} AS ${ident(catalog)} (READ_ONLY)`);
  await measureValueCounts(session);
  await measureTokenFilters(session);
  await measurePages(session);
  await measureOrders(session);
  await measureIds(session);
});
database.close();
await reportMeasurements({ title: "Query strategies of the search index" }, measurements, values.json);

/** Value counts of all categorical facets, by the number of matches: counted in typed arrays here, or in the engine in two ways. */
async function measureValueCounts(session: Session): Promise<void> {
  const strategies: Readonly<Record<string, (where: Sql) => () => Promise<unknown>>> = {
    "typed arrays": (where) => () => countInTypedArray(session, where),
    unnest: (where) => () =>
      session.vectors(
        sql`SELECT id, count(*)::INTEGER FROM (SELECT unnest([${facetColumns}]) AS id FROM ${listings} WHERE ${where}) GROUP BY id`,
      ),
    "grouping sets": (where) => () =>
      session.vectors(sql`SELECT coalesce(${facetColumns}), count(*)::INTEGER FROM ${listings} WHERE ${where}
        GROUP BY GROUPING SETS (${join(countedColumns.map((column) => sql`(${ident(column)})`))})`),
  };
  for (const states of [1, 3, 12, 60]) {
    const where = await inLargestStates(session, states);
    const [row] = await session.rows(sql`SELECT count(*)::INTEGER AS matches FROM ${listings} WHERE ${where}`);
    for (const [strategy, run] of Object.entries(strategies))
      await measureTimes(`value counts of ${String(row?.matches)} matches, ${strategy}`, run(where));
  }
}

/** Fetches the ids of all categorical columns and counts them in an array indexed by id. */
async function countInTypedArray(session: Session, where: Sql): Promise<void> {
  const counts = new Int32Array(2 ** 22);
  for (const chunk of await session.vectors(sql`SELECT ${facetColumns} FROM ${listings} WHERE ${where}`))
    for (const ids of chunk)
      for (let row = 0; row < ids.length; row += 1) {
        const id = ids[row] ?? 0;
        counts[id] = (counts[id] ?? 0) + 1;
      }
}

/** Returns a condition for the listings in the `count` states with the most listings. */
async function inLargestStates(session: Session, count: number): Promise<Sql> {
  const chunks = await session.vectors(
    sql`SELECT state FROM ${listings} GROUP BY state ORDER BY count(*) DESC LIMIT ${integerLiteral(count)}`,
  );
  const ids = chunks.flatMap(([states]) => [...(states ?? [])]);
  return sql`state IN (${join(ids.map(integerLiteral))})`;
}

/** Listings with the two most common features: a join with the sets of each token, or a semi-join in two ways. */
async function measureTokenFilters(session: Session): Promise<void> {
  const sets = setsOf(catalog, "features");
  const chunks = await session.vectors(sql`SELECT token FROM ${sets} GROUP BY token ORDER BY count(*) DESC LIMIT 2`);
  const [first = 0, second = 0] = chunks.flatMap(([tokens]) => [...(tokens ?? [])]);
  const setsWith = (token: number, alias: string): Sql =>
    sql`(SELECT "set" AS ${ident(alias)} FROM ${sets} WHERE token = ${integerLiteral(token)})`;
  const setsWithBoth = sql`(SELECT "set" FROM ${sets} WHERE token IN (${integerLiteral(first)}, ${integerLiteral(second)}) GROUP BY "set" HAVING count(*) = 2)`;
  const select = sql`SELECT position, features FROM ${listings}`;
  const strategies: Readonly<Record<string, Sql>> = {
    "a join for each token": sql`${select} JOIN ${setsWith(first, "features")} USING (features) JOIN ${setsWith(second, "features")} USING (features)`,
    "one semi-join, grouped": sql`${select} WHERE features IN ${setsWithBoth}`,
    "a semi-join for each token": sql`${select} WHERE features IN ${setsWith(first, "set")} AND features IN ${setsWith(second, "set")}`,
  };
  for (const [strategy, query] of Object.entries(strategies))
    await measureTimes(`two common features, ${strategy}`, () => session.vectors(query));
}

/** A sorted page of nearly all listings: fetch the ranks of all matches, or sort in the engine. */
async function measurePages(session: Session): Promise<void> {
  const rank = ident("rank price");
  const where = sql`WHERE price >= 1`;
  const strategies: Readonly<Record<string, Sql>> = {
    "fetched ranks": sql`SELECT ${rank}, position FROM ${listings} ${where}`,
    "ORDER BY with LIMIT, and a count": sql`SELECT position, (SELECT count(*) FROM ${listings} ${where})::${columnType("INTEGER")}
      FROM ${listings} ${where} ORDER BY ${rank} LIMIT 50`,
  };
  for (const [strategy, query] of Object.entries(strategies))
    await measureTimes(`page of nearly all listings, ${strategy}`, () => session.vectors(query));
}

/** The ranks, and the ids of all categories, of the listings of a state and of a make, from the tables in either order. */
async function measureOrders(session: Session): Promise<void> {
  const selected = { ranks: ident("rank price"), ids: facetColumns } as const;
  for (const column of ["state", "make"]) {
    const frequent = sql`SELECT ${ident(column)} AS id FROM ${listings} GROUP BY id ORDER BY count(*) DESC LIMIT 16`;
    const [row] = await session.rows(sql`SELECT last(id) AS id FROM (${frequent})`);
    const where = sql`WHERE ${isToday} AND ${ident(column)} = ${integerLiteral(integerIn(row, "id"))}`;
    for (const [name, columns] of Object.entries(selected))
      for (const table of ["listings", "listings_by_dealer"]) {
        const query = sql`SELECT ${columns} FROM ${ident(catalog, table)} ${where}`;
        await measureTimes(`${name} of a ${column}, ${table}`, () => session.vectors(query));
      }
  }
}

/** The positions of the listings with one of several ids: by `IN`, by a join, or by bits, in a table that lies together by the column or does not. */
async function measureIds(session: Session): Promise<void> {
  const columns = { dealer: "listings_by_dealer", model: "listings", exterior_color: "listings" } as const;
  for (const [column, table] of Object.entries(columns)) {
    const all = await session.vectors(
      sql`SELECT DISTINCT ${ident(column)} AS id FROM ${ident(catalog, table)} WHERE id > 0 ORDER BY id`,
    );
    const known = all.flatMap(([ids]) => [...(ids ?? [])]);
    for (const count of [4, 16, 128]) {
      // Every other one from the middle on.
      const ids = known.slice(known.length / 2).filter((_, index) => index % 2 === 0 && index < 2 * count);
      const filter = { kind: "in", column, ids } as const;
      const bits = inCondition(filter);
      if (typeof bits === "string") throw new UserError(`Invalid column ${column}: expected several ids.`);
      const strategies: Readonly<Record<string, Sql>> = {
        IN: sql`WHERE ${ident(column)} IN (${join(ids.map(integerLiteral))})`,
        join: joinWithIds(filter),
        bits: sql`WHERE ${bits}`,
      };
      for (const [strategy, rest] of Object.entries(strategies)) {
        const query = sql`SELECT position FROM ${ident(catalog, table)} ${rest}`;
        await measureTimes(`${ids.length} ids of ${column} in ${table}, ${strategy}`, () => session.vectors(query));
      }
    }
  }
}

async function measureTimes(label: string, run: () => Promise<unknown>): Promise<void> {
  for (let round = 0; round < warmUpRounds; round += 1) await run();
  const times: number[] = [];
  const usageBefore = process.cpuUsage();
  for (let round = 0; round < measuredRounds; round += 1) {
    const startedAtMs = performance.now();
    await run();
    times.push(performance.now() - startedAtMs);
  }
  const { user, system } = process.cpuUsage(usageBefore);
  measurements.push(timed(label, "engine", times));
  const least = { "minimum ms": Math.min(...times), "processor ms": (user + system) / 1000 / measuredRounds };
  measurements.push(...measured(label, "engine", least));
}
