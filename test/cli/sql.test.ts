/** `carquet sql`: output formats and files, results larger than the memory, and statements from a pipe. */
import assert from "node:assert/strict";
import { type ChildProcess, execFile, fork, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { text } from "node:stream/consumers";
import { describe, test } from "node:test";
import { promisify } from "node:util";
import { tableFromIPC } from "apache-arrow";
import { programPath } from "../../src/base/project-files.ts";
import { DuckDatabase } from "../../src/db/duckdb.ts";
import { pathLiteral, sql as query } from "../../src/db/sql.ts";
import { type CommandResult, carquet, carquetHere, eventually } from "../support/command-line.ts";
import { extentOf, skipInShortRun } from "../support/extent.ts";
import { createLake, temporaryFolder } from "../support/lakes/lakes.ts";
import { fileScope } from "../support/scope.ts";

const { lake } = await createLake(fileScope);
const folder = await temporaryFolder(fileScope);

const sql = (args: readonly string[], input?: string): Promise<CommandResult> =>
  input === undefined
    ? carquetHere(["sql", "--lake", lake, ...args])
    : carquet(["sql", "--lake", lake, ...args], { input });

const mixedQuery = `SELECT 9007199254740993 AS big, 1.50 AS amount, 'nan'::DOUBLE AS nan, [1::BIGINT, NULL] AS items,
  {'day': DATE '2026-11-19', 'x "y': TIMESTAMP '2026-11-19 01:02:03.000004'} AS nested, 'a\u2028b' AS big, NULL AS nothing`;

const line = `{"big":9007199254740993,"amount":1.5,"nan":null,"items":[1,null],"nested":{"day":"2026-11-19","x \\"y":"2026-11-19T01:02:03.000004Z"},"big:1":"a\u2028b","nothing":null}`;

const outputs: readonly (readonly [format: string, out: string])[] = [
  ["json", `[\n${line}\n]\n`],
  ["ndjson", `${line}\n`],
];

const wide = "170141183460469231731687303715884105727::HUGEINT";

/** Values with the types that Arrow and Parquet have of them. */
const typedValues: Readonly<Record<string, readonly [value: string, arrow: string, parquet: string]>> = {
  small: ["1::UTINYINT", "Int32", "INTEGER"],
  big: ["4000000000::UINTEGER", "Int64", "BIGINT"],
  total: ["(SELECT sum(price) FROM active)", "Int64", "BIGINT"],
  sums: ["[(SELECT sum(price) FROM active)]", "List<Int64>", "BIGINT[]"],
  unsigned: ["5::UBIGINT", "Int64", "BIGINT"],
  wide: [wide, "Float64", "DOUBLE"],
  wider: ["18446744073709551615::UBIGINT", "Float64", "DOUBLE"],
  amount: ["1.50", "Float64", "DOUBLE"],
  amounts: ["(SELECT sum(1.5) FROM active)", "Float64", "DOUBLE"],
  single: ["1.5::FLOAT", "Float64", "DOUBLE"],
  day: ["DATE '2026-11-19'", "Date32<DAY>", "DATE"],
  time: ["(SELECT max(last_checked_at) FROM active)", "Timestamp<MICROSECOND, UTC>", "TIMESTAMP WITH TIME ZONE"],
  nanoseconds: ["'2026-11-19 01:02:03'::TIMESTAMP_NS", "Timestamp<MICROSECOND, UTC>", "TIMESTAMP WITH TIME ZONE"],
  clock: ["TIME '01:02:03'", "Utf8", "VARCHAR"],
  length: ["INTERVAL 3 DAY", "Utf8", "VARCHAR"],
  mapped: ["MAP {'a': 1}", "Utf8", "VARCHAR"],
  nested: [
    "{'a': 1.5, 't': TIMESTAMP '2026-11-19 01:02:03'}",
    "Struct<{a:Float64, t:Timestamp<MICROSECOND, UTC>}>",
    "STRUCT(a DOUBLE, t TIMESTAMP WITH TIME ZONE)",
  ],
};

describe("carquet sql", () => {
  for (const [format, out] of outputs)
    test(`prints numbers as ${format} represents them`, async () => {
      assert.deepEqual(await sql(["--format", format, mixedQuery]), { code: 0, out, err: "" });
    });

  test("writes a file in the format of its extension", async () => {
    const query = "SELECT vin, price, features, listed_at, pricing FROM active ORDER BY vin";
    const parquet = join(folder, "out.parquet");
    const arrow = join(folder, "out.arrow");
    for (const file of [parquet, arrow])
      assert.deepEqual(await sql(["--output", file, query]), { code: 0, out: "", err: "" });
    const { out } = await sql(["--format", "csv", "SELECT vin FROM active ORDER BY vin"]);
    const vins = out.trim().split("\n").slice(1);
    assert.deepEqual([...(tableFromIPC(readFileSync(arrow)).getChild("vin") ?? [])], vins);
    assert.equal(readFileSync(parquet).subarray(-4).toString(), "PAR1");
  });

  test("knows every extension of a format, and refuses unknown ones unless the format is named", async () => {
    const contents = { jsonl: '{"a":1}\n', NDJSON: '{"a":1}\n', txt: "a\n-\n1\n(1 row)\n" };
    for (const [extension, content] of Object.entries(contents)) {
      const file = join(folder, `known.${extension}`);
      assert.equal((await sql(["--output", file, "SELECT 1 AS a"])).code, 0);
      assert.equal(readFileSync(file, "utf8"), content, extension);
    }
    const arrows = join(folder, "known.arrows");
    const unknown = join(folder, "out.xml");
    await sql(["--output", arrows, "SELECT 1 AS a"]);
    assert.equal(tableFromIPC(readFileSync(arrows)).numRows, 1);
    const { code, err } = await sql(["--output", unknown, "SELECT 1 AS a"]);
    assert.deepEqual([code, existsSync(unknown)], [2, false]);
    assert.match(
      err,
      /Unknown extension \.xml of .*out\.xml: expected \.txt, \.csv, \.json, \.ndjson, \.jsonl, \.parquet, \.arrows, \.arrow, or --format\./,
    );
    assert.equal((await sql(["--output", unknown, "--format", "csv", "SELECT 1 AS a"])).code, 0);
  });

  test("nested types have the form that Arrow has of them, at any depth and with any names of fields", async () => {
    const file = join(folder, "nested.arrow");
    const query = `SELECT {'a': {'b': {'c': {'d, "e" (f)': 1, 'g': ['x, y']}}}} AS deep, [[{'on': true}]] AS lists,
      [1, 2]::INTEGER[2] AS pair, {'m': MAP {'k': {'v': 1}}} AS mapped`;
    assert.deepEqual(await sql(["--output", file, query]), { code: 0, out: "", err: "" });
    const table = tableFromIPC(readFileSync(file));
    assert.deepEqual(
      table.schema.fields.map(({ type }) => String(type)),
      [
        'Struct<{a:Struct<{b:Struct<{c:Struct<{d, "e" (f):Int32, g:List<Utf8>}>}>}>}>',
        "List<List<Struct<{on:Bool}>>>",
        "List<Int32>",
        "Struct<{m:Utf8}>",
      ],
    );
    const [row] = JSON.parse(JSON.stringify(table.toArray()));
    assert.deepEqual(row, {
      deep: { a: { b: { c: { 'd, "e" (f)': 1, g: ["x, y"] } } } },
      lists: [[{ on: true }]],
      pair: [1, 2],
      mapped: { m: '{"k":{"v":1}}' },
    });
  });

  test("JSON has one form at any depth, and infinite days and times are null in files with types", async () => {
    const document = '{"a":[1]}';
    const values = `'{"a": [1]}'::JSON AS j, ['{"a": [1]}'::JSON] AS l, [MAP {'a': [1]}] AS m`;
    for (const format of ["json", "ndjson"]) {
      const row = `{"j":${document},"l":[${document}],"m":[${document}]}\n`;
      const { out } = await sql(["--format", format, `SELECT ${values}`]);
      assert.equal(out, format === "json" ? `[\n${row}]\n` : row);
    }
    const cell = document.replaceAll('"', '""');
    assert.equal(
      (await sql(["--format", "csv", `SELECT ${values}`])).out,
      `j,l,m\n"${cell}","[${cell}]","[${cell}]"\n`,
    );
    const infinite = "SELECT DATE 'infinity' AS d, TIMESTAMP '-infinity' AS t, [TIMESTAMPTZ 'infinity'] AS l";
    const [parquet, arrow] = ["parquet", "arrow"].map((extension) => join(folder, `infinite.${extension}`));
    for (const file of [parquet, arrow]) await sql(["--output", String(file), infinite]);
    const rows = query`FROM read_parquet(${pathLiteral(String(parquet))})`;
    const database = await DuckDatabase.open({ threads: 1 });
    assert.deepEqual(await database.using((session) => session.rows(rows)), [{ d: null, t: null, l: [null] }]);
    database.close();
    const [row] = JSON.parse(JSON.stringify(tableFromIPC(readFileSync(String(arrow))).toArray()));
    assert.deepEqual(row, { d: null, t: null, l: [null] });
  });

  test("Parquet and Arrow have the same types, in which sums, decimals and other numbers are numbers, and times are in UTC", async () => {
    const values = Object.entries(typedValues);
    const statement = `SELECT ${values.map(([name, [value]]) => `${value} AS ${name}`).join(", ")}`;
    for (const format of ["parquet", "arrow"]) {
      const { code, err } = await sql(["--output", join(folder, `types.${format}`), statement]);
      assert.deepEqual([code, err], [0, ""], format);
    }
    const { schema } = tableFromIPC(readFileSync(join(folder, "types.arrow")));
    const described = await DuckDatabase.open({ threads: 1 });
    const read = query`DESCRIBE FROM read_parquet(${pathLiteral(join(folder, "types.parquet"))})`;
    const types = await described.using((session) => session.rows(read));
    described.close();
    assert.deepEqual(
      schema.fields.map(({ name, type }, index) => [
        name,
        String(type),
        String(types[index]?.column_type).replaceAll('"', ""),
      ]),
      values.map(([name, [, arrow, parquet]]) => [name, arrow, parquet]),
    );
  });

  for (const [format, separator] of [
    ["csv", ""],
    ["ndjson", '"'],
    ["json", '"'],
  ] as const)
    test(`times are in UTC and days are days in ${format}, also in lists and structs`, async () => {
      const time = "TIMESTAMP '2026-11-19 01:02:03'";
      const values = `${time} AS a, '2026-11-19 03:02:03.5+02'::TIMESTAMPTZ AS b, [{'t': ${time}}] AS c, DATE '2026-11-19' AS d`;
      const { out } = await sql(["--format", format, `SELECT ${values}`]);
      const text = (value: string) => separator + value + separator;
      for (const value of ["2026-11-19T01:02:03Z", "2026-11-19T01:02:03.5Z", "2026-11-19"])
        assert.ok(out.includes(text(value)), `${value}: ${out}`);
      assert.match(out, /\{"+t"+:"+2026-11-19T01:02:03Z"+\}/);
      assert.doesNotMatch(out, /\d \d/);
    });

  test("DESCRIBE of a view says what its columns mean", async () => {
    const { out } = await sql(["--format", "ndjson", "describe price_changes;"]);
    const rows = out
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line));
    assert.deepEqual(
      rows.slice(0, 2).map(({ column_name, column_type, comment }) => [column_name, column_type, comment]),
      [
        ["listing_id", "VARCHAR", "The stable identifier of the listing."],
        ["vin", "VARCHAR", "The vehicle identification number, in upper case."],
      ],
    );
    assert.ok(rows.every(({ comment }) => typeof comment === "string"));
    const { out: own } = await sql(["--format", "csv", "CREATE TABLE own AS SELECT 1 AS a; DESCRIBE own"], "");
    assert.doesNotMatch(own, /comment/);
  });

  test("a query that fails midway prints nothing, and leaves the output file as it was", async () => {
    const query = "SELECT CASE WHEN range = 190000 THEN 'midway'::INTEGER ELSE range END AS n FROM range(200000)";
    const file = join(folder, "kept.csv");
    writeFileSync(file, "kept");
    for (const args of [
      ["--format", "csv"],
      ["--format", "parquet"],
      ["--output", file],
    ]) {
      const { code, out, err } = await sql([...args, query]);
      assert.deepEqual([code, out], [1, ""]);
      assert.match(err, /^carquet: Conversion Error: Could not convert string 'midway' to INT32/);
    }
    assert.equal(readFileSync(file, "utf8"), "kept");
    assert.deepEqual(
      readdirSync(dirname(file)).filter((name) => name.endsWith(".new")),
      [],
    );
  });

  for (const [what, end, expected] of [
    ["SIGTERM", (child: ChildProcess) => child.kill("SIGTERM"), "SIGTERM"],
    ["the end of the service that has started it", (child: ChildProcess) => child.disconnect(), "SIGKILL"],
  ] as const)
    test(`${what} ends a statement at once, which leaves no output file`, { timeout: 60_000 }, async () => {
      const file = join(folder, "ended.csv");
      const statement = "SELECT count(*) FROM range(1e12::BIGINT) WHERE hash(range) = 1";
      const child = fork(programPath, ["sql", "--lake", lake, "--output", file, statement], { execArgv: [] });
      await eventually("started", async () => spoolsOf(child.pid).length > 0, 20_000);
      const ended = once(child, "exit");
      end(child);
      assert.deepEqual([await ended, existsSync(file), spoolsOf(child.pid)], [[null, expected], false, []]);
    });

  test("runs the statements of a pipe up to the first error", async () => {
    const input =
      "CREATE TEMP TABLE t AS SELECT ';' AS a; -- ; \nSELECT a FROM t;\nSELECT 2 AS b; SELECT nonsense; SELECT 3 AS c";
    const { code, out, err } = await sql(["--format", "csv"], input);
    assert.deepEqual([code, out], [1, "a\n;\nb\n2\n"]);
    assert.match(err, /^carquet: Binder Error: [^\n]*"nonsense"/);
  });

  test("runs a file of statements with parameters and an attached file, and a query that begins with a comment", async () => {
    const file = join(folder, "query.sql");
    const mine = join(folder, "mine.csv");
    writeFileSync(file, "-- weights\nCREATE VIEW chosen AS FROM mine WHERE make = $make;\nSELECT weight FROM chosen");
    writeFileSync(mine, "make,weight\nFord,2\n");
    const args = ["--format", "csv", "--attach", `mine=${mine}`];
    const printed = { code: 0, out: "weight\n2\n", err: "" };
    assert.deepEqual(await sql([...args, "--param", "make=Ford", "--file", file]), printed);
    assert.deepEqual(await sql([...args, "-- my query\nSELECT weight FROM mine"]), printed);
    const missing = await sql(["SELECT 1 AS one; SELECT $make"]);
    assert.deepEqual(missing, {
      code: 1,
      out: "",
      err: "carquet: Missing parameter $make: expected a value for make.\n",
    });
    assert.deepEqual(await sql([...args, "--param", "mak=Ford", "--file", "-"], readFileSync(file, "utf8")), {
      code: 1,
      out: "",
      err: "carquet: Missing parameter $make: expected a value for make.\n",
    });
  });

  test("results of any size take constant memory", { skip: skipInShortRun }, async () => {
    const probe = join(folder, "memory.cjs");
    writeFileSync(
      probe,
      "process.on('exit', () => require('fs').writeSync(2, String(process.resourceUsage().maxRSS)));",
    );
    const env = { NODE_OPTIONS: `--require ${probe}` };
    for (const format of extentOf(["ndjson"], ["table", "csv", "json", "ndjson", "parquet", "arrow"])) {
      const args = ["sql", "--lake", lake, "--format", format, "SELECT range AS n FROM range(3000000)"];
      const { code, out, err } = await carquet(args, { env });
      assert.equal(code, 0, err);
      assert.ok(out.length > 1_000_000 && Number(err) < 600_000, `${format}: ${out.length} bytes, ${err} KiB`);
    }
  });
});

/** Returns the private folders of a process that runs `carquet sql`. */
const spoolsOf = (pid: number | undefined): readonly string[] =>
  readdirSync(dirname(folder)).filter((name) => name.startsWith(`carquet-sql-${pid}-`));

test("on a terminal without statements, carquet sql names the three ways to pass them, and the duckdb program", async (t) => {
  const hasScript = await promisify(execFile)("script", ["--version"]).catch(() => undefined);
  if (hasScript === undefined) return t.skip("needs script of util-linux");
  const command = `'${process.execPath}' '${programPath}' sql --lake '${lake}'`;
  const child = spawn("script", ["-qec", command, "/dev/null"], { stdio: ["pipe", "pipe", "inherit"] });
  const ended = new Promise((exited) => child.once("exit", exited));
  assert.match(
    await text(child.stdout),
    /^carquet: Missing statements: expected a query, --file <file>, or statements on standard input\. For a prompt: duckdb -readonly \S+\/catalog\.duckdb\r\n$/,
  );
  assert.equal(await ended, 2);
});
