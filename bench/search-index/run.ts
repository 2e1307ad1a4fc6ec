/**
 * Why the search index is asked as it is: each choice beside what it was chosen over, on the index of a lake.
 * `node --import tsx bench/search-index/run.ts --lake DIR [--threads N]`: medians, least times and processor time in ms.
 */
import { join as joinPath } from "node:path";
import { parseArgs } from "node:util";
import { UserError } from "../../src/base/user-error.ts";
import { DuckDatabase, type Session } from "../../src/db/duckdb.ts";
import { columnType, ident, integerLiteral, join, literal, type Sql, sql } from "../../src/db/sql.ts";
import { countedColumns, setsOf } from "../../src/serving/index/build.ts";
import { usableFiles } from "../../src/serving/serving-files.ts";
import { manifestOf } from "../dataset/flat-rows.ts";
import { quantile } from "../measure/measure.ts";

const { values } = parseArgs({
  options: { lake: { type: "string", default: "data/lake" }, threads: { type: "string", default: "2" } },
});
const rounds = 15;
const rehearsed = 3;
const catalog = "search_index";
const listings = ident(catalog, "listings");
const columns = join(countedColumns.map((column) => ident(column)));

const file = usableFiles(await manifestOf(values.lake)).find(({ kind }) => kind === "index");
if (file === undefined)
  throw new UserError(`${values.lake}: has no search index of this format; see carquet index --help.`);
const database = await DuckDatabase.open({ threads: Number(values.threads) });
await database.using(async (session) => {
  await session.run(sql`ATTACH ${literal(joinPath(values.lake, file.path))} AS ${ident(catalog)} (READ_ONLY)`);
  await counting(session);
  await tokens(session);
  await pages(session);
});
database.close();

/** Counting all categories: fetched and counted here, `unnest` in the engine, and a pass for each column. */
async function counting(session: Session): Promise<void> {
  const ways: Readonly<Record<string, (where: Sql) => () => Promise<unknown>>> = {
    fetched: (where) => async () => {
      const counts = new Int32Array(2 ** 22);
      for (const part of await session.vectors(sql`SELECT ${columns} FROM ${listings} WHERE ${where}`))
        for (const ids of part)
          for (let at = 0; at < ids.length; at += 1) counts[ids[at] ?? 0] = (counts[ids[at] ?? 0] ?? 0) + 1;
    },
    unnest: (where) => () =>
      session.vectors(
        sql`SELECT id, count(*)::INTEGER FROM (SELECT unnest([${columns}]) AS id FROM ${listings} WHERE ${where}) GROUP BY id`,
      ),
    "grouping sets": (where) => () =>
      session.vectors(sql`SELECT coalesce(${columns}), count(*)::INTEGER FROM ${listings} WHERE ${where}
        GROUP BY GROUPING SETS (${join(countedColumns.map((column) => sql`(${ident(column)})`))})`),
  };
  for (const states of [1, 3, 12, 60]) {
    const largest = sql`state IN (SELECT state FROM ${listings} GROUP BY state ORDER BY count(*) DESC LIMIT ${integerLiteral(states)})`;
    const ids = (await session.vectors(sql`SELECT DISTINCT state FROM ${listings} WHERE ${largest}`)).flatMap(
      ([one]) => [...(one ?? [])],
    );
    const where = sql`state IN (${join(ids.map(integerLiteral))})`;
    const [row] = await session.rows(sql`SELECT count(*)::INTEGER AS n FROM ${listings} WHERE ${where}`);
    for (const [way, run] of Object.entries(ways)) await time(`counting ${String(row?.n)} matches, ${way}`, run(where));
  }
}

/** Listings with two features: joined with their sets, or compared with a subquery. */
async function tokens(session: Session): Promise<void> {
  const sets = setsOf(catalog, "features");
  const common = await session.vectors(sql`SELECT token FROM ${sets} GROUP BY token ORDER BY count(*) DESC LIMIT 2`);
  const [one = 0, other = 0] = common.flatMap(([token]) => [...(token ?? [])]);
  const having = (token: number, as: string): Sql =>
    sql`(SELECT "set" AS ${ident(as)} FROM ${sets} WHERE token = ${integerLiteral(token)})`;
  const both = sql`(SELECT "set" FROM ${sets} WHERE token IN (${integerLiteral(one)}, ${integerLiteral(other)}) GROUP BY "set" HAVING count(*) = 2)`;
  const select = sql`SELECT position, features FROM ${listings}`;
  const ways: Readonly<Record<string, Sql>> = {
    "joined one by one": sql`${select} JOIN ${having(one, "features")} USING (features) JOIN ${having(other, "features")} USING (features)`,
    "IN, grouped": sql`${select} WHERE features IN ${both}`,
    "IN, one by one": sql`${select} WHERE features IN ${having(one, "set")} AND features IN ${having(other, "set")}`,
  };
  for (const [way, query] of Object.entries(ways))
    await time(`two common features, ${way}`, () => session.vectors(query));
}

/** The page of all listings in an order: ranks fetched, or sorted by the engine. */
async function pages(session: Session): Promise<void> {
  const rank = ident("rank price");
  const where = sql`WHERE price >= 1`;
  const ways: Readonly<Record<string, Sql>> = {
    "ranks fetched": sql`SELECT ${rank}, position FROM ${listings} ${where}`,
    "ORDER BY LIMIT, and a count": sql`SELECT position, (SELECT count(*) FROM ${listings} ${where})::${columnType("INTEGER")}
      FROM ${listings} ${where} ORDER BY ${rank} LIMIT 50`,
  };
  for (const [way, query] of Object.entries(ways))
    await time(`a page of nearly all, ${way}`, () => session.vectors(query));
}

async function time(what: string, run: () => Promise<unknown>): Promise<void> {
  const times: number[] = [];
  let before = process.cpuUsage();
  for (let round = 0; round < rounds + rehearsed; round += 1) {
    if (round === rehearsed) before = process.cpuUsage();
    const startedAtMs = performance.now();
    await run();
    if (round >= rehearsed) times.push(performance.now() - startedAtMs);
  }
  const { user, system } = process.cpuUsage(before);
  const [median, least] = [quantile(times, 0.5), Math.min(...times)].map((ms) => ms.toFixed(2));
  process.stdout.write(`${what}: ${median} (${least}), processor ${((user + system) / 1000 / rounds).toFixed(2)}\n`);
}
