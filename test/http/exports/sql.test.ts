/** Operation `runSql`: results, parameters, formats, charges, limits, and what statements cannot reach. */
import assert from "node:assert/strict";
import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { getAccount } from "../../../src/accounts/account.ts";
import { prices } from "../../../src/accounts/policy/prices.ts";
import { isObject } from "../../../src/base/json.ts";
import { type Customer, createCustomer, inAccountsFile } from "../../support/accounts.ts";
import { carquet, eventually } from "../../support/command-line.ts";
import { sampled, skipInShortRun } from "../../support/extent.ts";
import { responseReaders } from "../../support/http/read-formats.ts";
import { type Answer, assertMatchesDocument, sampleService, startService } from "../../support/http/service.ts";
import { createLake, temporaryFolder } from "../../support/lakes/lakes.ts";
import { fileScope } from "../../support/scope.ts";

const { lake } = await createLake(fileScope);
const spool = await temporaryFolder(fileScope);
const deadlineSeconds = 20;
const client = await startService(fileScope, lake, {
  exports: { folder: spool, memory: "200MiB", sqlDeadlineMs: deadlineSeconds * 1000 },
});
const readers = await responseReaders(fileScope);
const scopes = ["sql.read", "inventory.read"] as const;
const customer = await createCustomer(client.accounts, { scopes });

interface Sent {
  readonly headers?: Readonly<Record<string, string>>;
  readonly query?: string;
  readonly as?: Customer;
  readonly url?: string;
}

async function post(
  body: string | Uint8Array<ArrayBuffer>,
  { headers, query = "", as = customer, url = client.url }: Sent = {},
): Promise<Answer> {
  const response = await fetch(`${url}/v1/sql${query}`, {
    method: "POST",
    body,
    headers: { ...as.bearer, ...headers },
  });
  const isJson = response.headers.get("Content-Type")?.startsWith("application/json") === true;
  const answer = {
    status: response.status,
    headers: response.headers,
    body: isJson ? await response.json() : Buffer.from(await response.arrayBuffer()),
  };
  assertMatchesDocument("/v1/sql", answer);
  return answer;
}

const run = (sql: string, params?: object, sent?: Sent): Promise<Answer> => post(JSON.stringify({ sql, params }), sent);

async function rowsOf(sql: string, params?: object): Promise<unknown> {
  const { status, body } = await run(sql, params);
  assert.equal(status, 200, JSON.stringify(body));
  return isObject(body) ? body.data : undefined;
}

async function errorOf(
  answer: Answer | Promise<Answer>,
): Promise<readonly [status: number, code: string, message: string]> {
  const { status, body } = await answer;
  const error = isObject(body) && isObject(body.error) ? body.error : assert.fail(`${status}: expected an error`);
  return [status, String(error.code), String(error.message)];
}

const balanceOf = ({ accountId }: Customer): Promise<number> =>
  inAccountsFile(client.accounts, async (database) => (await getAccount(database, accountId, "2026-11")).balanceMicros);

test("SQL counts what the API counts, with typed parameters, and names the version", async () => {
  const { body } = await client.get("/v1/listings?limit=1&make=Toyota&max_price=40000");
  const { pagination, meta } = body as { pagination: { total: number }; meta: { data_version: string; as_of: string } };
  const {
    status,
    headers,
    body: found,
  } = await run(
    "SELECT count(*) AS listings, typeof($max) AS number, typeof($make) AS text, $flag AS flag, $none AS none FROM active WHERE make = $make AND price <= $max",
    { make: "Toyota", max: 40_000, flag: true, none: null },
  );
  assert.equal(status, 200, JSON.stringify(found));
  assert.deepEqual(found, {
    data: [{ listings: pagination.total, number: "INTEGER", text: "VARCHAR", flag: true, none: null }],
    meta: { data_version: meta.data_version, as_of: meta.as_of },
  });
  assert.deepEqual(
    ["Carquet-Version", "X-Total-Count", "Cache-Control"].map((name) => headers.get(name)),
    [meta.data_version, "1", "private, no-store"],
  );
});

test("numbers in parameters are read as the command line reads them", async () => {
  for (const number of sampled(["9007199254740993", "-1.50", "1e400"], 2)) {
    const sql = "SELECT $n::VARCHAR AS text, typeof($n) AS type";
    const { status, body } = await post(`{"sql":${JSON.stringify(sql)},"params":{"n": ${number} }}`);
    const printed = await carquet(["sql", "--lake", lake, "--param", `n=${number}`, "--format", "ndjson", sql]);
    if (printed.code === 0) assert.deepEqual([status, Object(body).data], [200, [JSON.parse(printed.out)]], number);
    else assert.equal(Object(body).error.code, "invalid_statement", `${number}: ${JSON.stringify(body)}`);
  }
});

test("the TypeScript client runs SQL", async () => {
  const { CarquetClient } = await import("../../../clients/typescript/src/index.ts");
  const { data } = await new CarquetClient({ baseUrl: client.url, apiKey: customer.key }).sql("SELECT $a AS a", {
    a: 1,
  });
  assert.deepEqual(data, [{ a: 1 }]);
});

test("statements before the last one create what it reads, for this request alone", async () => {
  assert.deepEqual(
    await rowsOf("CREATE TABLE mine AS SELECT 1 AS a; INSERT INTO mine VALUES (2); FROM mine ORDER BY a"),
    [{ a: 1 }, { a: 2 }],
  );
  assert.match((await errorOf(run("FROM mine")))[2], /^Invalid SQL: .*mine does not exist/);
});

test("a result without rows, and texts with line breaks, are valid JSON", async () => {
  assert.deepEqual(await rowsOf("SELECT 1 AS a WHERE false"), []);
  const texts = ["a\nb", 'comma, "quote"', "\u2028", "é"];
  assert.deepEqual(
    await rowsOf("SELECT $a AS t UNION ALL SELECT $b UNION ALL SELECT $c UNION ALL SELECT $d", {
      a: texts[0],
      b: texts[1],
      c: texts[2],
      d: texts[3],
    }),
    texts.map((t) => ({ t })),
  );
});

test("a result larger than a chunk of the file arrives whole, in every format", { skip: skipInShortRun }, async () => {
  const statement = "SELECT range AS n, repeat('x', 20) AS t FROM range(20000) ORDER BY n";
  const expected = Array.from({ length: 20_000 }, (_, n) => ({ n, t: "x".repeat(20) }));
  assert.deepEqual(await rowsOf(statement), expected);
  const columns = [
    { name: "n", type: { kind: "integer", bits: 64 }, isNullable: true },
    { name: "t", type: { kind: "text" }, isNullable: true },
  ] as const;
  for (const format of ["arrow", "parquet", "ndjson"] as const) {
    const { status, headers, body } = await run(statement, undefined, { query: `?format=${format}` });
    assert.ok(Buffer.isBuffer(body), format);
    const { rows } = await readers[format](body, columns);
    assert.deepEqual([status, headers.get("X-Total-Count"), rows.length], [200, "20000", 20_000], format);
    assert.deepEqual([rows[0], rows.at(-1)], [expected[0], expected.at(-1)], format);
  }
});

test("Accept selects the format; CSV is safe to open in a spreadsheet unless csv_raw says otherwise", async () => {
  const statement = "SELECT '=1+1' AS t, -1 AS n, '-' AS d, 5e-1 AS f, [1, 2] AS l";
  const csv = { headers: { Accept: "text/csv" } };
  assert.equal(String((await run(statement, undefined, csv)).body), "t,n,d,f,l\n'=1+1,-1,'-,0.5,\"[1,2]\"\n");
  assert.equal(
    String((await run(statement, undefined, { ...csv, query: "?csv_raw=true" })).body),
    't,n,d,f,l\n=1+1,-1,-,0.5,"[1,2]"\n',
  );
  assert.deepEqual((await errorOf(run(statement, undefined, { headers: { Accept: "image/png" } }))).slice(0, 2), [
    406,
    "not_acceptable",
  ]);
});

test("a statement is charged for each started second, one that could not be planned not", async () => {
  const before = await balanceOf(customer);
  const { headers } = await run("SELECT 1 AS a");
  const cost = Number(headers.get("X-Usage-Cost-Micros"));
  assert.deepEqual([headers.get("X-Usage-Class"), cost % prices.sql_statement], ["sql_statement", 0]);
  assert.ok(cost >= prices.sql_statement);
  assert.equal(await balanceOf(customer), before - cost);
  assert.equal((await run("SELECT nothing")).status, 400);
  assert.equal(await balanceOf(customer), before - cost);
  const poor = await createCustomer(client.accounts, { scopes, usd: "0.05" });
  assert.equal((await errorOf(run("SELECT 1 AS a", undefined, { as: poor })))[0], 402);
});

const invalidBodies: readonly (readonly [body: string, code: string, message: RegExp])[] = [
  ["", "invalid_parameter_value", /^Invalid value "" for body: expected a JSON object with sql and params\./],
  ["[1]", "invalid_parameter_value", /for body: expected a JSON object/],
  ['{"sql":"SELECT 1","\\u0073ql":"SELECT 2"}', "invalid_parameter_value", /with "sql" twice for body: expected each/],
  ['{"sql":"SELECT \'\\ud83d\'"}', "invalid_parameter_value", /with \\ud83d for body: expected whole characters/],
  ["{}", "missing_parameter", /^Missing parameter sql: expected text of 1 to 32768 characters\./],
  ['{"sql":""}', "invalid_parameter_value", /^Invalid value "" for sql: expected text of 1 to 32768 characters\./],
  ['{"sql":1}', "invalid_parameter_value", /^Invalid value 1 for sql/],
  [
    '{"sql":"SELECT 1","query":"x"}',
    "invalid_parameter_value",
    /property query for body: expected only sql and params/,
  ],
  [
    '{"sql":"SELECT $a AS a","params":{"a":[1]}}',
    "invalid_parameter_value",
    /for params.a: expected a number, a text, true, false or null/,
  ],
  ['{"sql":"SELECT $a AS a","params":{"a b":1}}', "invalid_parameter_value", /for params: expected an object/],
  ['{"sql":"1\\u0000"}', "invalid_parameter_value", /^Invalid value "1\\u0000" for sql: expected text without/],
  ['{"sql":"$a","params":{"a":1,"A":2}}', "invalid_parameter_value", /^Invalid value 2 for params\.A: expected each/],
  ['{"sql":"SELECT $a AS a"}', "invalid_statement", /^Invalid SQL: Missing parameter \$a: expected a value for a\./],
  [
    '{"sql":"SELECT 1 AS a","params":{"b":1}}',
    "invalid_statement",
    /^Invalid SQL: Unknown parameter b: expected no parameter/,
  ],
  [
    '{"sql":"SELECT pirce FROM active"}',
    "invalid_statement",
    /Binder Error: Referenced column "pirce" not found[\s\S]*price/,
  ],
  ['{"sql":"  -- nothing"}', "invalid_statement", /expected one with a result/],
  ['{"sql":"CREATE TABLE a (b INTEGER)"}', "invalid_statement", /expected one with a result/],
  ['{"sql":"SELECT 1 AS a; SELECT 2 AS b"}', "invalid_statement", /expected a result of the last one only/],
  ['{"sql":"FROM range(2000000)"}', "invalid_statement", /Too many rows: expected at most 1000000\. Add a LIMIT/],
];

/** Statements that a process refuses; the short run has three kinds of them. */
const inShortRun = /pirce|\$a AS a"\}$|2000000/;

for (const [body, code, message] of invalidBodies)
  test(`${body === "" ? "an empty body" : body} is refused as ${code}`, {
    skip: code === "invalid_statement" && !inShortRun.test(body) && skipInShortRun,
  }, async () => {
    const [status, found, text] = await errorOf(post(body));
    assert.deepEqual([status, found], [400, code], text);
    assert.match(text, message);
  });

test("a body may begin with a byte order mark, and one that is not in UTF-8 is refused", async () => {
  assert.equal((await post('\ufeff{"sql":"SELECT 1 AS a"}')).status, 200);
  const [status, code, message] = await errorOf(post(new Uint8Array(Buffer.from('{"sql":"SELECT \'é\'"}', "latin1"))));
  assert.deepEqual([status, code], [400, "invalid_parameter_value"]);
  assert.match(message, /for body: expected text in UTF-8\.$/);
});

test("the reason of an invalid statement is cut, so that no error holds a result", async () => {
  const [status, code, message] = await errorOf(run("SELECT repeat('ab', 10000000)::INTEGER AS a"));
  assert.deepEqual([status, code, message.length], [400, "invalid_statement", "Invalid SQL: ".length + 1000]);
});

test("a body that is too large, another method, and a key without the scope are refused", async () => {
  assert.deepEqual((await errorOf(run(`SELECT '${"x".repeat(70_000)}' AS a`))).slice(0, 2), [413, "body_too_large"]);
  const got = await fetch(`${client.url}/v1/sql`, { headers: customer.bearer });
  assert.deepEqual([got.status, got.headers.get("Allow")], [405, "OPTIONS, POST"]);
  const other = await createCustomer(client.accounts, { scopes: ["inventory.read"] });
  assert.deepEqual((await errorOf(run("SELECT 1 AS a", undefined, { as: other }))).slice(0, 2), [403, "missing_scope"]);
});

test("a request beyond the rate limit is refused as that, even if its body is too large", async () => {
  const as = await createCustomer(client.accounts, { scopes, override: { per10s: 1, per60s: 1 } });
  const codes = [];
  for (let count = 0; count < 2; count += 1) codes.push((await errorOf(post("x".repeat(70_000), { as })))[1]);
  assert.deepEqual(codes, ["body_too_large", "rate_limit_exceeded"]);
});

test("SQL is off unless the operator turns it on", async () => {
  const { client: usual } = await sampleService();
  const as = await createCustomer(usual.accounts, { scopes });
  const [status, code, message] = await errorOf(run("SELECT 1 AS a", undefined, { as, url: usual.url }));
  assert.deepEqual([status, code], [404, "not_found"]);
  assert.match(message, /--sql-deadline/);
});

/** Statements that must not be answered, and a part of what is said instead. */
const attacks: readonly (readonly [sql: string, reason: RegExp])[] = [
  ["FROM read_text('/etc/passwd')", /Permission Error/],
  ["FROM read_csv('/etc/passwd')", /Permission Error/],
  ["FROM '/etc/passwd'", /Permission Error|does not exist/],
  ["FROM glob('/etc/*')", /Permission Error/],
  ["FROM read_parquet('https://example.com/a.parquet')", /Permission Error|Missing Extension|extension/i],
  ["FROM sniff_csv('/etc/passwd')", /Permission Error/],
  ["COPY (SELECT 1) TO 'a.csv'", /Permission Error/],
  ["EXPORT DATABASE 'a'", /Permission Error/],
  ["ATTACH 'a.db'", /Invalid statement ATTACH/],
  ["INSTALL httpfs", /Invalid statement/],
  ["LOAD httpfs", /Invalid statement LOAD/],
  ["SET memory_limit = '100GB'", /Invalid statement SET/],
  ["SET GLOBAL enable_external_access = true", /Invalid statement SET/],
  ["RESET memory_limit", /Invalid statement/],
  ["PRAGMA memory_limit = '100GB'", /Invalid statement/],
  ["CALL enable_logging()", /Invalid (function|statement)/],
  ["SELECT * FROM query('SELECT 1')", /Invalid function query/],
  ["CREATE SECRET s (TYPE s3)", /Invalid statement CREATE SECRET/],
  ["SELECT 1 AS a; COPY (SELECT 1) TO '/tmp/a'; SELECT 1 AS a", /Invalid statement/],
  [
    "CREATE TABLE t AS SELECT repeat('x', 1000000) AS x FROM range(100000); SELECT count(*) AS n FROM t",
    /Out of Memory|too large|No disk space/,
  ],
];

/** Each takes a process; `test/lake` runs such statements without one. */
for (const [index, [sql, reason]] of attacks.entries())
  test(`${sql.slice(0, 60)} is refused`, { skip: index % 10 === 0 ? false : skipInShortRun }, async () => {
    const [status, code, message] = await errorOf(run(sql));
    assert.ok(status === 400 || status === 503, `${status} ${code} ${message}`);
    assert.match(message, reason);
  });

test("an endless statement ends at the deadline, is free, and leaves no process and no file; others wait for as long", async () => {
  const endlessSeconds = 6;
  const short = await startService(fileScope, lake, {
    exports: { folder: spool, sqlDeadlineMs: 1000 * endlessSeconds, writtenMax: 1 },
  });
  const as = await createCustomer(short.accounts, { scopes });
  const url = short.url;
  const endless = "SELECT count(*) AS n FROM range(100000000) AS a, range(100000000) AS b WHERE a.range * b.range = 7";
  const first = errorOf(run(endless, undefined, { as, url }));
  const isWritten = async () => (await readdir(spool, { recursive: true })).some((name) => name.includes("/"));
  await eventually("the writer is taken", isWritten);
  const others = await Promise.all([1, 2].map(() => errorOf(run(endless, undefined, { as, url }))));
  const [status, code, message] = await first;
  assert.deepEqual([status, code], [504, "deadline_exceeded"]);
  assert.match(message, new RegExp(`longer than ${endlessSeconds} seconds`));
  assert.ok(
    others.some((other) => other[0] === 503 && other[1] === "overloaded"),
    JSON.stringify(others),
  );
  await eventually("the spool is empty", async () => {
    const names = await readdir(spool, { recursive: true });
    return names.every((name) => !name.includes("/"));
  });
  await eventually(
    "a statement is answered again",
    async () => (await run("SELECT 1 AS a", undefined, { as, url })).status === 200,
  );
});

test("no statement changes the lake, or reads a file beside it", { skip: skipInShortRun }, async () => {
  await writeFile(join(lake, "beside.csv"), "a\n1\n");
  const manifest = await readFile(join(lake, "CURRENT"), "utf8");
  for (const sql of [
    `FROM '${lake}/beside.csv'`,
    `FROM read_text('${lake}/CURRENT')`,
    `DELETE FROM active`,
    "DROP VIEW active",
  ])
    assert.equal((await run(sql)).status, 400, sql);
  assert.equal(await readFile(join(lake, "CURRENT"), "utf8"), manifest);
});

test("a result has 1,000,000 rows, and no row more", { skip: skipInShortRun }, async () => {
  const rowsMax = 1_000_000;
  const sent = { query: "?format=parquet" };
  const most = await run(`SELECT 1::TINYINT AS a FROM range(${rowsMax})`, undefined, sent);
  assert.deepEqual([most.status, most.headers.get("X-Total-Count")], [200, String(rowsMax)]);
  const more = await run(`SELECT 1::TINYINT AS a FROM range(${rowsMax + 1})`, undefined, sent);
  assert.equal(more.status, 400);
  assert.match(JSON.stringify(more.body), /Too many rows: expected at most 1000000\./);
});
