/** The `sql` tag: bound values, identifiers and literals, run by DuckDB. */
import assert from "node:assert/strict";
import { after, test } from "node:test";
import type { Json } from "../../src/base/json.ts";
import { DuckDatabase } from "../../src/db/duckdb.ts";
import {
  all,
  columnType,
  ident,
  integerLiteral,
  join,
  literal,
  numberLiteral,
  Sql,
  sql,
  type Value,
} from "../../src/db/sql.ts";

const database = await DuckDatabase.open({ threads: 1 });
after(() => database.close());

const answer = async (query: Sql): Promise<Json | undefined> => {
  const row = await database.using((session) => session.row(query));
  return row?.answer;
};

const sum = sql`${1} + ${2}`;
const product = sql`${sum} * ${3}`;
const nul = "it's\0a '' \\' 汉字 🚗";
const nuls = "\0".repeat(2000);
const hostile = `'; DROP TABLE builds; -- " $1`;

type Case = readonly [what: string, query: Sql, text: string, values: readonly Value[], answer: Json];

const cases: readonly Case[] = [
  ["a template without holes", sql`SELECT 1 AS answer`, "SELECT 1 AS answer", [], 1],
  ["a number binds", sql`SELECT ${7}::INTEGER AS answer`, "SELECT $1::INTEGER AS answer", [7], 7],
  ["a fraction binds", sql`SELECT ${0.5} AS answer`, "SELECT $1 AS answer", [0.5], 0.5],
  ["a large whole number binds", sql`SELECT ${2 ** 40} AS answer`, "SELECT $1 AS answer", [2 ** 40], "1099511627776"],
  ["a bigint binds", sql`SELECT ${5n} AS answer`, "SELECT $1 AS answer", [5n], "5"],
  ["a boolean binds", sql`SELECT ${true} AS answer`, "SELECT $1 AS answer", [true], true],
  ["null binds as NULL", sql`SELECT ${null} IS NULL AS answer`, "SELECT $1 IS NULL AS answer", [null], true],
  ["a hostile text binds", sql`SELECT ${hostile} AS answer`, "SELECT $1 AS answer", [hostile], hostile],
  ["a text with a NUL and quotes binds", sql`SELECT ${nul} AS answer`, "SELECT $1 AS answer", [nul], nul],
  [
    "a text of many NULs binds",
    sql`SELECT len(${nuls})::INTEGER AS answer`,
    "SELECT len($1)::INTEGER AS answer",
    [nuls],
    2000,
  ],
  ["a negative number binds", sql`SELECT (1 -${-7})::INTEGER AS answer`, "SELECT (1 -$1)::INTEGER AS answer", [-7], 8],
  [
    "texts with a NUL bind as one list",
    sql`SELECT ${[nul, "b"]}[1] AS answer`,
    "SELECT $1[1] AS answer",
    [[nul, "b"]],
    nul,
  ],
  ["an empty text binds", sql`SELECT ${""} AS answer`, "SELECT $1 AS answer", [""], ""],
  ["a hole at the end", sql`SELECT 3 AS answer LIMIT ${1}`, "SELECT 3 AS answer LIMIT $1", [1], 3],
  ["texts bind as one list", sql`SELECT ${["a", "b"]}[2] AS answer`, "SELECT $1[2] AS answer", [["a", "b"]], "b"],
  [
    "numbers bind as one list",
    sql`SELECT len(${[4, 5]})::INTEGER AS answer`,
    "SELECT len($1)::INTEGER AS answer",
    [[4, 5]],
    2,
  ],
  ["an empty list binds", sql`SELECT len(${[]})::INTEGER AS answer`, "SELECT len($1)::INTEGER AS answer", [[]], 0],
  [
    "nested fragments number their parameters in text order",
    sql`SELECT (${10} - (${product}))::INTEGER AS answer`,
    "SELECT ($1 - ($2 + $3 * $4))::INTEGER AS answer",
    [10, 1, 2, 3],
    3,
  ],
  [
    "a fragment used twice binds its values twice",
    sql`SELECT ((${sum}) * (${sum}) - ${4})::INTEGER AS answer`,
    "SELECT (($1 + $2) * ($3 + $4) - $5)::INTEGER AS answer",
    [1, 2, 1, 2, 4],
    5,
  ],
  [
    "adjacent fragments",
    sql`SELECT ${sql`${"a"} ||`}${sql` ${"b"}`} AS answer`,
    "SELECT $1 || $2 AS answer",
    ["a", "b"],
    "ab",
  ],
  [
    "an empty fragment adds nothing",
    sql`SELECT ${sql``}${8}::INTEGER AS answer`,
    "SELECT $1::INTEGER AS answer",
    [8],
    8,
  ],
  [
    "a keyword and a quote in an identifier",
    sql`SELECT ${ident("t", `tr"im`)} AS answer FROM (SELECT 1 AS ${ident(`tr"im`)}) AS ${ident("t")}`,
    `SELECT "t"."tr""im" AS answer FROM (SELECT 1 AS "tr""im") AS "t"`,
    [],
    1,
  ],
  [
    "a literal escapes its quotes",
    sql`SELECT ${literal("it''s '")} AS answer`,
    "SELECT 'it''''s ''' AS answer",
    [],
    "it''s '",
  ],
  [
    "joined fragments have the separator between them",
    sql`SELECT ${join([sum, sql`${3}`, sql`4`], sql` * `)} AS answer`,
    "SELECT $1 + $2 * $3 * 4 AS answer",
    [1, 2, 3],
    "25",
  ],
  [
    "fragments are joined with commas by default",
    sql`SELECT [${join([sql`1`, sql`2`])}] AS answer`,
    "SELECT [1, 2] AS answer",
    [],
    [1, 2],
  ],
  [
    "a single fragment has no separator",
    sql`SELECT ${join([sql`${6}`])}::INTEGER AS answer`,
    "SELECT $1::INTEGER AS answer",
    [6],
    6,
  ],
  ["no fragments join to nothing", sql`SELECT 1${join([])} AS answer`, "SELECT 1 AS answer", [], 1],
  ["all of no conditions is true", sql`SELECT ${all([])} AS answer`, "SELECT true AS answer", [], true],
  [
    "all of one condition is that condition",
    sql`SELECT ${all([sql`${1} = 1`])} AS answer`,
    "SELECT (($1 = 1)) AS answer",
    [1],
    true,
  ],
  [
    "all puts each condition in parentheses",
    sql`SELECT ${all([sql`true OR ${true}`, sql`false`])} AS answer`,
    "SELECT ((true OR $1) AND (false)) AS answer",
    [true],
    false,
  ],
];

for (const [what, query, text, values, expected] of cases) {
  test(`SQL: ${what}`, async () => {
    assert.equal(query.text, text);
    assert.deepEqual(query.values, values);
    assert.equal(query.texts.length, query.values.length + 1);
    assert.deepEqual(await answer(query), expected);
  });
}

test("only an instance of Sql splices; a lookalike binds", async () => {
  const lookalike = JSON.parse(`["SELECT 1"]`) as readonly string[];
  const query = sql`SELECT len(${lookalike})::INTEGER AS answer`;
  assert.deepEqual(query.values, [["SELECT 1"]]);
  assert.equal(await answer(query), 1);
  assert.ok(query instanceof Sql);
});

test("parameters above nine keep their numbers", async () => {
  const values = Array.from({ length: 12 }, (_, index) => index + 1);
  const query = sql`SELECT (${join(
    values.map((value) => sql`${value}`),
    sql` + `,
  )})::INTEGER AS answer`;
  assert.match(query.text, /\$9 \+ \$10 \+ \$11 \+ \$12\)/);
  assert.equal(await answer(query), 78);
});

test("hostile identifiers and literals are escaped", async () => {
  const column = `x" FROM builds; --`;
  const query = sql`SELECT ${ident("t", column)} AS answer FROM (SELECT ${literal(hostile)} AS ${ident(column)}) AS t`;
  assert.equal(await answer(query), hostile);
});

const types = [
  "INTEGER",
  "DECIMAL(9,4)",
  "VARCHAR[]",
  "STRUCT(changed_at TIMESTAMP, miles INTEGER)[]",
  "DOUBLE PRECISION",
];

for (const text of types) {
  test(`${text} is a column type`, async () => {
    assert.equal(await answer(sql`SELECT NULL::${columnType(text)} IS NULL AS answer`), true);
  });
}

test("a type of lists and structs is written as the engine reads it, and read as it was written", async () => {
  const type = {
    fields: [
      ["a", { items: { fields: [['b "c", (d)', "DECIMAL(9,2)"]] } }],
      ["e", { items: { items: "INTEGER" }, length: 3 }],
    ],
  } as const;
  const found: unknown[] = [];
  await database.using((session) =>
    session.prepareEach(sql`SELECT NULL::${columnType(type)}`, async ({ columns }) => {
      found.push(...columns.map((column) => column.type));
    }),
  );
  assert.deepEqual(found, [type]);
});

for (const text of [
  "",
  "7",
  "INTEGER; DROP TABLE builds",
  "INTEGER -- ",
  "VARCHAR'",
  '"INTEGER"',
  "INTEGER/**/",
  "INTEGER\n",
]) {
  test(`${JSON.stringify(text)} is not a column type`, () => assert.throws(() => columnType(text), TypeError));
}

for (const number of [0, 7, -7, Number.MAX_SAFE_INTEGER, Number.MIN_SAFE_INTEGER, 2n ** 62n]) {
  test(`${number} is written as an integer, also after a minus sign`, async () => {
    assert.equal(await answer(sql`SELECT (0 -${integerLiteral(number)})::VARCHAR AS answer`), String(-BigInt(number)));
  });
}

test("integer literals refuse fractions, and number literals refuse infinity and NaN", () => {
  for (const number of [0.5, 2 ** 53, Number.NaN, Number.POSITIVE_INFINITY])
    assert.throws(() => integerLiteral(number), TypeError, String(number));
  for (const number of [Number.NaN, Number.NEGATIVE_INFINITY])
    assert.throws(() => numberLiteral(number), TypeError, String(number));
});

for (const number of [0.5, -0.25, 1e-7, 1e300]) {
  test(`${number} is written as a number, also after a minus sign`, async () => {
    assert.equal(await answer(sql`SELECT (0 -${numberLiteral(number)})::DOUBLE AS answer`), -number);
  });
}
