/** Operation `exportListings`: files, charges, resumed downloads, and limits. */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdir, readdir, readFile } from "node:fs/promises";
import { request } from "node:http";
import { getPriority, hostname } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { getAccount } from "../../../src/accounts/account.ts";
import { isNotFound } from "../../../src/base/files.ts";
import { isObject, type Row } from "../../../src/base/json.ts";
import { programPriority } from "../../../src/base/programs.ts";
import { vocabulary } from "../../../src/contract/document.ts";
import { tableColumns } from "../../../src/contract/tables.ts";
import { answerFormats, exportFormats } from "../../../src/formats/table-formats.ts";
import { type Customer, createCustomer, inAccountsFile } from "../../support/accounts.ts";
import { eventually } from "../../support/command-line.ts";
import { skipInShortRun } from "../../support/extent.ts";
import { fetchListings } from "../../support/http/paging.ts";
import { arrowTypeOf, parquetTypeOf, responseReaders } from "../../support/http/read-formats.ts";
import { startService } from "../../support/http/service.ts";
import { createSlowLake } from "../../support/http/slow-request.ts";
import { createLake, temporaryFolder } from "../../support/lakes/lakes.ts";
import { fileScope } from "../../support/scope.ts";

const { lake } = await createLake(fileScope);
const spool = await temporaryFolder(fileScope);
const client = await startService(fileScope, lake, { exports: { folder: spool } });

/** A service that writes every export in a process. */
const processes = { accounts: client.accounts, exports: { folder: spool, quickRowsMax: 0 } };
const slow = await startService(fileScope, lake, processes);

interface Download {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Buffer;
  /** The code of an error. */
  readonly code: string | undefined;
}

async function download(
  query: string,
  headers: Readonly<Record<string, string>> = {},
  customer: Customer = client.customer,
  url = client.url,
): Promise<Download> {
  const response = await fetch(`${url}/v1/exports?${query}`, { headers: { ...customer.bearer, ...headers } });
  const body = Buffer.from(await response.arrayBuffer());
  const isError = response.status >= 400;
  const parsed: unknown = isError ? JSON.parse(body.toString()) : undefined;
  const error = isObject(parsed) && isObject(parsed.error) ? parsed.error : undefined;
  return { status: response.status, headers: response.headers, body, code: error && String(error.code) };
}

const balanceOf = ({ accountId }: Customer, accounts = client.accounts): Promise<number> =>
  inAccountsFile(accounts, async (database) => (await getAccount(database, accountId, "2026-11")).balanceMicros);

async function spooledFiles(folder = spool): Promise<readonly string[]> {
  try {
    const names = await readdir(folder, { recursive: true });
    return names.filter((name) => /export/.test(name.split("/").at(-1) ?? "") && name.includes("/"));
  } catch (thrown) {
    // A folder was removed while it was read.
    if (isNotFound(thrown)) return spooledFiles(folder);
    throw thrown;
  }
}

test("an export has the listings of the pages, and is charged once for its rows", async () => {
  const customer = await createCustomer(client.accounts, { usd: "1" });
  const { status, headers, body } = await download("format=ndjson&sort=-price", {}, customer);
  assert.equal(status, 200);
  const listings = body
    .toString()
    .trim()
    .split("\n")
    .map((line): Row => JSON.parse(line));
  const added = tableColumns("exportListings").map(({ name }) => name);
  assert.deepEqual(
    listings.map((row) => Object.fromEntries(Object.entries(row).filter(([name]) => !added.includes(name)))),
    await fetchListings(client, "sort=-price&fields=default,keywords", 100),
  );
  const named = (name: string): string | null => headers.get(name);
  assert.equal(named("Content-Type"), "application/x-ndjson");
  assert.deepEqual([named("Content-Length"), named("X-Total-Count")], [String(body.length), String(listings.length)]);
  assert.equal(named("Content-Disposition"), 'attachment; filename="listings-2026-11-19.ndjson"');
  assert.match(named("Carquet-Version") ?? "", /^2026-11-19\.\d$/);
  assert.deepEqual([named("X-Usage-Class"), named("X-Usage-Cost-Micros")], ["listing_export", "10000"]);
  assert.equal(await balanceOf(customer), 990_000);
  const again = await download("sort=-price&format=NDJSON", {}, customer);
  assert.deepEqual(again.body, body);
  assert.deepEqual([again.headers.get("Idempotent-Replayed"), again.headers.get("X-Usage-Cost-Micros")], ["true", "0"]);
  assert.equal(await balanceOf(customer), 990_000);
  const unchanged = await download("format=ndjson&sort=-price", { "If-None-Match": named("ETag") ?? "" }, customer);
  assert.deepEqual([unchanged.status, unchanged.body.length], [304, 0]);
  const other = await createCustomer(client.accounts, { usd: "1" });
  await download("format=ndjson&sort=-price", {}, other);
  assert.equal(await balanceOf(other), 990_000);
});

const pageFields = vocabulary("searchListings", "fields").filter((field) => field !== "default");
const search = `make=Toyota&fields=${pageFields}&include=price_history,options`;

test("an export has the columns, types and texts of a page in the same format", async () => {
  const readers = await responseReaders(fileScope);
  const columns = tableColumns("searchListings");
  for (const format of exportFormats) {
    const { body } = await download(search, { Accept: answerFormats[format].mediaType });
    const page = await fetch(`${client.url}/v1/listings?${search}&limit=100&format=${format}`, {
      headers: client.customer.bearer,
    });
    const paged = Buffer.from(await page.arrayBuffer());
    if (format === "csv") assert.equal(String(body), String(paged));
    const { rows, types } = await readers[format](body, columns);
    const expected = await readers[format](paged, columns);
    assert.deepEqual([rows, types], [expected.rows, expected.types], format);
    assert.equal(rows.length, Number(page.headers.get("X-Total-Count")));
  }
});

test("the columns that only exports have are of the same types in Arrow and Parquet, and times have one form in each format", async () => {
  const readers = await responseReaders(fileScope);
  const columns = [
    ...tableColumns("searchListings").slice(0, 2),
    ...tableColumns("exportListings").filter(({ name }) => name !== "pricing"),
  ];
  const fields = `fields=${columns.map(({ name }) => name)}&sort=price`;
  const expected = { arrow: arrowTypeOf, parquet: parquetTypeOf, csv: undefined, ndjson: undefined };
  for (const format of exportFormats) {
    const { body } = await download(`${fields}&format=${format}`);
    const { types, rows } = await readers[format](body, columns);
    const typeOf = expected[format];
    if (typeOf !== undefined)
      assert.deepEqual(
        types,
        columns.map(({ name, type }) => [name, typeOf(type)]),
        format,
      );
    assert.match(String(rows[0]?.last_checked_at), /^2026-11-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/, format);
  }
});

test("the format of an export is negotiated, and Parquet by default", async () => {
  const typeOf = async (query: string, accept: string): Promise<string | null> =>
    (await download(query, { Accept: accept })).headers.get("Content-Type");
  assert.equal(await typeOf(search, "*/*"), "application/vnd.apache.parquet");
  assert.equal(await typeOf(search, "text/*"), "text/csv; charset=utf-8; header=present");
  assert.equal(await typeOf(`${search}&format=arrow`, "text/csv"), "application/vnd.apache.arrow.stream");
  assert.deepEqual(pick(await download(search, { Accept: "application/json" })), [406, "not_acceptable"]);
  const named = await download(`format=CSV&${search}`);
  assert.equal(named.headers.get("Idempotent-Replayed"), "true");
});

/** Receives the first bytes of an export, then closes the connection. */
function breakOff(
  query: string,
  customer: Customer,
  bytes: number,
): Promise<{ readonly tag: string; readonly part: Buffer }> {
  return new Promise((resolve, reject) => {
    const sent = request(`${client.url}/v1/exports?${query}`, { headers: customer.bearer }, (response) => {
      const chunks: Buffer[] = [];
      response.on("error", () => undefined);
      response.on("data", (chunk: Buffer) => {
        chunks.push(chunk);
        const part = Buffer.concat(chunks);
        if (part.length < bytes) return;
        sent.destroy();
        resolve({ tag: String(response.headers.etag), part: part.subarray(0, bytes) });
      });
    });
    sent.on("error", reject);
    sent.end();
  });
}

test("a broken download is resumed with identical bytes and one charge, also if another process writes it again", async () => {
  const query = "make=Toyota,Ford,Honda&format=parquet";
  const customer = await createCustomer(client.accounts, { usd: "1" });
  const { tag, part } = await breakOff(query, customer, 500);
  assert.match(tag, /^"[\w-]{22}"$/);
  const resume = { "If-Range": tag, Range: "bytes=500-" };
  const rest = await download(query, resume, customer);
  assert.equal(rest.status, 206);
  const whole = await download(query, {}, customer);
  assert.deepEqual(Buffer.concat([part, rest.body]), whole.body);
  assert.equal(rest.headers.get("Content-Range"), `bytes 500-${whole.body.length - 1}/${whole.body.length}`);
  assert.equal(await balanceOf(customer), 990_000);
  const later = await download(query, resume, customer, slow.url);
  assert.deepEqual([later.status, later.body], [206, rest.body]);
  assert.equal(await balanceOf(customer), 990_000);
});

test("ranges follow RFC 9110", async () => {
  const query = "make=Toyota&format=csv";
  const whole = await download(query);
  const { length } = whole.body;
  const cases: readonly (readonly [range: string, first: number, last: number])[] = [
    ["bytes=0-0", 0, 0],
    ["bytes=10-19", 10, 19],
    [`bytes=10-${10 * length}`, 10, length - 1],
    ["bytes=-7", length - 7, length - 1],
    [`bytes=-${10 * length}`, 0, length - 1],
  ];
  for (const [Range, first, last] of cases) {
    const { status, body, headers } = await download(query, { Range });
    assert.deepEqual([status, headers.get("Content-Range")], [206, `bytes ${first}-${last}/${length}`], Range);
    assert.deepEqual(body, whole.body.subarray(first, last + 1));
  }
  for (const Range of ["bytes=5-2", "rows=1-2", "bytes=0-1,4-5", "bytes=-", "nonsense"])
    assert.equal((await download(query, { Range })).status, 200, Range);
  const changed = await download(query, { Range: "bytes=5-", "If-Range": '"another"' });
  assert.deepEqual([changed.status, changed.body], [200, whole.body]);
  const beyond = await download(query, { Range: `bytes=${length}-` });
  assert.deepEqual([beyond.status, beyond.code], [416, "range_not_satisfiable"]);
  assert.equal(beyond.headers.get("Content-Range"), `bytes */${length}`);
});

test("a refused export is neither written nor charged", async () => {
  const before = await spooledFiles();
  const poor = await createCustomer(client.accounts, { usd: "0.005" });
  assert.deepEqual(pick(await download("year=2024", {}, poor)), [402, "billing_state_blocked"]);
  assert.equal(await balanceOf(poor), 5_000);
  const reader = await createCustomer(client.accounts, { scopes: ["inventory.read", "dealers.read", "usage.read"] });
  assert.deepEqual(pick(await download("year=2024", {}, reader)), [403, "missing_scope"]);
  const exporter = await createCustomer(client.accounts, { scopes: ["export.read"] });
  assert.deepEqual(pick(await download("limit=5", {}, exporter)), [400, "unknown_query_parameter"]);
  assert.deepEqual(pick(await download("format=xlsx", {}, exporter)), [400, "invalid_parameter_value"]);
  assert.deepEqual(pick(await download("sort=distance", {}, exporter)), [400, "missing_parameter"]);
  assert.deepEqual(await spooledFiles(), before);
});

const pick = ({ status, code }: Download): readonly unknown[] => [status, code];

/** Returns the id of the process that writes an export. */
async function exportingPid(): Promise<number> {
  for (;;) {
    const children = await promisify(execFile)("ps", ["--ppid", String(process.pid), "-o", "pid=,args="]);
    const [, pid] = /^ *(\d+) .* export --lake /m.exec(children.stdout) ?? [];
    if (pid !== undefined) return Number(pid);
    await sleep(5);
  }
}

test("an export that the kernel ends is refused, and not charged", async () => {
  const customer = await createCustomer(client.accounts, { usd: "1" });
  const sent = download("year=2022", {}, customer, slow.url);
  const pid = await exportingPid();
  while ((await readFile(`/proc/${pid}/oom_score_adj`, "utf8")) !== "1000\n") await sleep(1);
  assert.equal(getPriority(pid), programPriority);
  // The event loop waits neither for its start nor for its end.
  const ofEventLoop = await readFile(`/proc/self/task/${process.pid}/children`, "utf8").catch(() => "");
  assert.ok(!ofEventLoop.split(" ").includes(String(pid)), ofEventLoop);
  process.kill(pid, "SIGKILL");
  const { headers, ...refused } = await sent;
  assert.deepEqual([...pick({ headers, ...refused }), headers.get("Retry-After")], [503, "overloaded", "30"]);
  assert.equal(await balanceOf(customer), 1_000_000);
});

/** Receives nothing of an export, and disconnects once a file of the spool matches. */
async function disconnectAt(pattern: RegExp, folder: string, path: string, customer: Customer): Promise<void> {
  const aborter = new AbortController();
  const sent = fetch(path, { headers: customer.bearer, signal: aborter.signal });
  const names = (): Promise<readonly string[]> => readdir(folder, { recursive: true }).catch(() => []);
  while (!(await names()).some((name) => pattern.test(name))) await sleep(5);
  aborter.abort();
  await assert.rejects(sent);
}

async function foldersOf(folder: string): Promise<readonly string[]> {
  const services = await readdir(folder);
  return (await Promise.all(services.map((name) => readdir(join(folder, name))))).flat();
}

test("a client that disconnects stops its export, which costs nothing", async () => {
  const customer = await createCustomer(client.accounts, { usd: "1" });
  const before = await spooledFiles();
  const folders = await foldersOf(spool);
  await disconnectAt(/\/\d+$/, spool, `${slow.url}/v1/exports?year=2023`, customer);
  await eventually("its folder is removed", async () => (await foldersOf(spool)).length === folders.length);
  assert.deepEqual(await spooledFiles(), before);
  assert.equal(await balanceOf(customer), 1_000_000);
});

test("a client that leaves while rows are written pays nothing, each time", { skip: skipInShortRun }, async (t) => {
  const folder = await temporaryFolder(t);
  const large = await startService(t, await createSlowLake(t), { accounts: client.accounts, exports: { folder } });
  const customer = await createCustomer(client.accounts, { usd: "19.2" });
  const path = `${large.url}/v1/exports?snapshot_date_from=2026-01-05&snapshot_date_to=2026-11-19&format=csv`;
  for (let attempt = 1; attempt <= 2; attempt += 1) {
    await disconnectAt(/export\.3$/, folder, path, customer);
    await eventually("the file is removed", async () => (await spooledFiles(folder)).length === 0);
    await sleep(500);
    assert.equal(await balanceOf(customer), 19_200_000, "the hold is released");
  }
});

test("an export that was charged before costs nothing when its repetition is abandoned while it is written", async (t) => {
  const slowLake = await createSlowLake(t);
  const customer = await createCustomer(client.accounts, { usd: "100" });
  const folders = [await temporaryFolder(t), await temporaryFolder(t)] as const;
  const query = "snapshot_date_from=2026-10-01&snapshot_date_to=2026-11-19&format=csv";
  const urls = [];
  for (const folder of folders) {
    const { url } = await startService(t, slowLake, {
      accounts: client.accounts,
      exports: { folder, quickRowsMax: 0 },
    });
    urls.push(`${url}/v1/exports?${query}`);
  }
  const [first = "", second = ""] = urls;
  const paid = await fetch(first, { headers: customer.bearer });
  await paid.arrayBuffer();
  assert.equal(100_000_000 - (await balanceOf(customer)), Number(paid.headers.get("X-Usage-Cost-Micros")));
  const balance = await balanceOf(customer);
  await disconnectAt(/export\.3$/, folders[1], second, customer);
  await eventually("the file is removed", async () => (await spooledFiles(folders[1])).length === 0);
  await sleep(500);
  assert.equal(await balanceOf(customer), balance);
});

test("an export without rows costs as much as one of a single row", async () => {
  const customer = await createCustomer(client.accounts, { usd: "1" });
  const { headers } = await download("make=unheard-of", {}, customer);
  assert.deepEqual([headers.get("X-Total-Count"), headers.get("X-Usage-Cost-Micros")], ["0", "10000"]);
  assert.equal(await balanceOf(customer), 990_000);
});

test("exports are limited in number, in total and for each account", async () => {
  const limited = await startService(fileScope, lake, {
    accounts: client.accounts,
    exports: { quickRowsMax: 0, writtenMax: 1, waitingMax: 0, accountMax: 2 },
  });
  const one = await createCustomer(client.accounts);
  const other = await createCustomer(client.accounts);
  const running = download("year=2020", {}, one, limited.url);
  const joined = download("year=2020", {}, one, limited.url);
  await exportingPid();
  // Until both are in progress, a third one is refused because all writers are in use.
  await eventually("both are in progress", async () => {
    const refused = await download("year=2021", {}, one, limited.url);
    assert.ok(refused.status === 503 || refused.code === "concurrency_limit_exceeded", refused.code);
    return refused.status === 429;
  });
  const crowded = await download("year=2021", {}, other, limited.url);
  assert.deepEqual([...pick(crowded), crowded.headers.get("Retry-After")], [503, "overloaded", "30"]);
  assert.deepEqual([(await running).status, (await joined).status], [200, 200]);
  assert.equal((await download("year=2021", {}, other, limited.url)).status, 200);
});

test("an export that exceeds the size of the spool is refused, and leaves no file; neither do killed services", async () => {
  const folder = await temporaryFolder(fileScope);
  const left = ["999999999-a", `${process.pid}-b`].map((name) => `carquet-exports-${hostname()}-${name}`);
  for (const name of [...left, "other"]) await mkdir(join(folder, name));
  const full = await startService(fileScope, lake, { exports: { folder, bytesMax: 1000 } });
  const refused = await download("", {}, full.customer, full.url);
  assert.deepEqual(pick(refused), [503, "data_unavailable"]);
  assert.equal(await balanceOf(full.customer, full.accounts), 1_000_000_000);
  while ((await spooledFiles(folder)).length > 0) await sleep(5);
  await full.stop();
  assert.deepEqual(await readdir(folder), ["other"]);
});
