/**
 * Analysts' statements: one that is accepted changes no file and reads none outside the lake. The oracle knows nothing of the allow-list: files
 * outside hold a canary that no result may contain, and no file's change time, size or name may change.
 */
import assert from "node:assert/strict";
import { readdirSync, statSync, writeFileSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import fc from "fast-check";
import { UserError } from "../../../src/base/user-error.ts";
import { DuckDatabase } from "../../../src/db/duckdb.ts";
import { literal, sql } from "../../../src/db/sql.ts";
import { type AnalystDatabase, openAnalystDatabase } from "../../../src/lake/analyst/analyst-database.ts";
import { currentManifest } from "../../../src/lake/manifest.ts";
import { copyLake, createLake, temporaryFolder } from "../lakes/lakes.ts";
import type { Scope } from "../scope.ts";
import { files, sources, words } from "./sql-fragments.ts";
import type { Target } from "./target.ts";

interface SqlCase {
  /** With `{data}` for a Parquet file of the lake, `{lake}` and `{outside}` for the folders. */
  readonly text: string;
  /** Whether it is a known attack, which must be refused. */
  readonly isAttack?: boolean;
}

const canary = "canary-5d0a5c3e9a57";
/** Statements that run longer are interrupted. */
const statementMs = 2_000;

interface Folders {
  readonly lake: string;
  readonly outside: string;
  readonly data: string;
}

/** Creates a lake beside files with the canary in formats that the engine reads. */
async function createFolders(scope: Scope): Promise<Folders> {
  const { lake: original } = await createLake(scope);
  const folder = await temporaryFolder(scope);
  const lake = join(folder, "lake");
  const outside = join(folder, "outside");
  await copyLake(original, lake);
  await mkdir(outside);
  for (const [name, text] of [
    ["secret.csv", `a\n${canary}\n`],
    ["secret.json", `{"a":"${canary}"}\n`],
    ["secret.sql", `SELECT '${canary}' AS a;\n`],
    ["attached.csv", "a\n1\n"],
  ] as const)
    writeFileSync(join(outside, name), text);
  const database = await DuckDatabase.open();
  try {
    await database.using(async (session) => {
      const rows = sql`(SELECT ${literal(canary)} AS a)`;
      await session.run(sql`COPY ${rows} TO ${literal(join(outside, "secret.parquet"))} (FORMAT parquet)`);
    });
  } finally {
    database.close();
  }
  const { path = "" } = (await currentManifest(lake))?.tables.listings[0] ?? {};
  return { lake, outside, data: join(lake, path) };
}

/** Returns name, size and change time of all files. */
const stateOf = ({ lake, outside }: Folders): readonly string[] =>
  [lake, outside, process.cwd()].flatMap((folder) =>
    readdirSync(folder, { recursive: folder !== process.cwd(), encoding: "utf8" }).map((name) => {
      const { size, ctimeMs, ino } = statSync(join(folder, name));
      return folder === process.cwd() ? name : `${name} ${size} ${ctimeMs} ${ino}`;
    }),
  );

const withFolders = (text: string, { lake, outside, data }: Folders): string =>
  text.replaceAll("{data}", data).replaceAll("{lake}", lake).replaceAll("{outside}", outside);

async function checkStatement(
  database: AnalystDatabase,
  folders: Folders,
  { text, isAttack }: SqlCase,
): Promise<"accepted" | "refused"> {
  const before = stateOf(folders);
  const timer = setTimeout(() => database.interrupt(), statementMs);
  try {
    const { rows, columns } = await database.query(withFolders(text, folders));
    const shown = JSON.stringify([columns, rows], (_, value: unknown) =>
      typeof value === "bigint" ? String(value) : value,
    );
    assert.ok(!shown.includes(canary) || text.includes(canary), "a file outside the lake was read");
    assert.ok(isAttack !== true, "an attack was accepted");
    return "accepted";
  } catch (thrown) {
    assert.ok(thrown instanceof UserError, thrown instanceof Error ? thrown.stack : String(thrown));
    assert.ok(thrown.message.length > 0 && !thrown.message.includes(canary), thrown.message);
    return "refused";
  } finally {
    clearTimeout(timer);
    assert.deepEqual(stateOf(folders), before, "files have changed");
  }
}

const anyCase = (word: string): fc.Arbitrary<string> =>
  fc.constantFrom(word, word.toLowerCase(), `"${word}"`, `${word}/**/`);
const file = fc.constantFrom(...files).map((path) => `'${path}'`);
const source = fc
  .tuple(
    fc.constantFrom(...sources).chain(anyCase),
    file,
    fc.constantFrom("", ", 1", ", header = false", ", delim = ','"),
  )
  .map(([name, path, more]) => `${name}(${path}${more})`);
const relation = fc.oneof(
  source,
  file,
  fc.constantFrom("active", "builds", "(SELECT 1 AS a)", "snapshot('2026-11-18')", "duckdb_settings()"),
);
const query = fc.oneof(
  relation.map((from) => `FROM ${from}`),
  relation.map((from) => `SELECT * FROM ${from} LIMIT 3`),
  source.map((called) => `SELECT ${called}`),
  relation.map((from) => `SUMMARIZE ${from}`),
  fc.tuple(relation, relation).map(([one, other]) => `SELECT 1 FROM ${one} AS a, ${other} AS b`),
);
const wrapped = fc
  .tuple(
    query,
    fc.constantFrom(
      "{}",
      "EXPLAIN {}",
      "EXPLAIN ANALYZE {}",
      "CREATE VIEW v AS {}",
      "CREATE TABLE t AS {}",
      "CREATE MACRO m() AS TABLE {}; FROM m()",
      "COPY ({}) TO '{data}' (FORMAT parquet)",
      "COPY ({}) TO '{outside}/new.csv'",
      "WITH x AS ({}) FROM x",
      "SET VARIABLE v = ({})",
      "PREPARE p AS {}",
      "SELECT ({})",
      "FROM query('{}')",
      "/* c */ {}",
      "{}; {}",
      "INSERT INTO t {}",
      "WITH x AS MATERIALIZED ({}) SELECT * FROM x",
      "DESCRIBE {}",
      "PIVOT ({}) ON a USING count(*)",
      "SELECT list_transform([1], x -> ({}))",
      "CREATE OR REPLACE TEMP VIEW active AS {}; FROM active",
    ),
  )
  .map(([one, frame]) => frame.replaceAll("{}", one));
const tokens = fc
  .array(fc.oneof(fc.constantFrom(...words), file, source), { minLength: 1, maxLength: 14 })
  .map((some) => some.join(" "));

/** Opens a lake for the duration of `work`, which receives the target. */
export async function withSqlTarget<T>(scope: Scope, work: (target: Target<SqlCase>) => Promise<T>): Promise<T> {
  const folders = await createFolders(scope);
  const attach = new Map([["attached", join(folders.outside, "attached.csv")]]);
  return openAnalystDatabase(folders.lake, { threads: 1, memoryLimit: "512MiB", attach }, (database) =>
    work({
      name: "sql",
      cases: fc.oneof(query, wrapped, wrapped, tokens).map((text) => ({ text })),
      check: (tried) => checkStatement(database, folders, tried),
    }),
  );
}
