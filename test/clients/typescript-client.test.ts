/** The TypeScript client: pages, retries, charges and errors against a service, and its package in a project outside of this one. */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, type TestContext, test } from "node:test";
import { promisify } from "node:util";
import { CarquetClient, CarquetError, type ClientSettings } from "../../clients/typescript/src/index.ts";
import { serializeQuery } from "../../clients/typescript/src/query-string.ts";
import { projectPath } from "../../src/base/project-files.ts";
import { decoderOf } from "../../src/contract/decode.ts";
import { document, operations } from "../../src/contract/document.ts";
import { sql } from "../../src/db/sql.ts";
import { fencedBlocks } from "../docs/markdown.ts";
import { type Customer, createCustomer, inAccountsFile } from "../support/accounts.ts";
import { skipInShortRun } from "../support/extent.ts";
import { fetchListings } from "../support/http/paging.ts";
import { sampleService, startService } from "../support/http/service.ts";
import { createSlowLake, slowParameters } from "../support/http/slow-request.ts";
import { temporaryFolder } from "../support/lakes/lakes.ts";
import { startLossyProxy } from "./lossy-proxy.ts";

const { client: service } = await sampleService();

/** A client that counts the requests it sends, and its customer. */
async function createClient(settings: Partial<ClientSettings> = {}, given?: Customer) {
  const customer = given ?? (await createCustomer(service.accounts));
  const sent: Request[] = [];
  const statuses = new Set<number>();
  const fetchCounted = async (request: Request): Promise<Response> => {
    sent.push(request);
    const response = await fetch(request);
    statuses.add(response.status);
    return response;
  };
  const options = { baseUrl: service.url, apiKey: customer.key, fetch: fetchCounted, ...settings };
  return { client: new CarquetClient(options), sent, statuses, customer };
}

const countCharges = ({ accountId }: Customer, { accounts } = service): Promise<number> =>
  inAccountsFile(accounts, async (database) =>
    Number(
      (await database.one(sql`SELECT count(*) AS charges FROM entries WHERE account_id = ${accountId} AND micros < 0`))
        ?.charges,
    ),
  );

const isRefusal =
  (status: number, code: string) =>
  (thrown: unknown): boolean =>
    thrown instanceof CarquetError && thrown.status === status && thrown.code === code;

describe("the TypeScript client", { concurrency: 4 }, () => {
  test("throws a CarquetError for what a proxy answers in place of the service", async () => {
    const page = new Response("<html>", { headers: { "Content-Type": "text/html", "X-Request-Id": "r" } });
    const { client } = await createClient({ fetch: async () => page });
    await assert.rejects(client.facets({ facets: ["make"] }), isRefusal(200, "unexpected_response"));
  });

  test("reads all pages of a search in order", async () => {
    const { client, sent } = await createClient();
    const listings = await client.listings({ fields: ["id"], limit: 7 }).toArray();
    const expected = await fetchListings(service, "fields=id", 100);
    assert.deepEqual(listings, expected);
    assert.equal(sent.length, Math.ceil(expected.length / 7));
  });

  test("reads all pages of changes since a version", async () => {
    const { client, sent } = await createClient();
    const query = { since: "2026-11-18.1", fields: ["price" as const] };
    const changes: unknown[] = [];
    const whole: unknown[] = [];
    for await (const { data } of client.changes({ ...query, limit: 30 })) changes.push(...data);
    for await (const { data } of client.changes({ ...query, limit: 1000 })) whole.push(...data);
    assert.deepEqual(changes, whole);
    assert.equal(sent.length, Math.ceil(changes.length / 30) + 1);
  });

  test("follows the cursors of a search that begins at one", async () => {
    const { client, sent } = await createClient();
    const first = (await client.listings({ limit: 7, sort: "price" }).pages().next()).value;
    const cursor = first?.pagination.next_cursor ?? "";
    const following = await client.listings({ limit: 7, sort: "price", cursor }, { itemsMax: 14 }).toArray();
    const whole = await client.listings({ limit: 21, sort: "price" }, { itemsMax: 21 }).toArray();
    assert.deepEqual([...(first?.data ?? []), ...following], whole);
    assert.equal(sent.length, 4);
  });

  test("requests no page after the loop or the most items have ended", async () => {
    const { client, sent, customer } = await createClient();
    const ids: string[] = [];
    for await (const { id } of client.listings({ limit: 2 })) if (ids.push(id) === 3) break;
    assert.deepEqual([ids.length, sent.length], [3, 2]);
    const dealers = await client.dealers({ limit: 2 }, { itemsMax: 4 }).toArray();
    assert.deepEqual([dealers.length, sent.length, await countCharges(customer)], [4, 4, 4]);
    const inventory = client.dealerListings(dealers[0]?.dealer_id ?? "", {}, { itemsMax: 1 });
    assert.equal((await inventory.toArray())[0]?.dealer_id, dealers[0]?.dealer_id);
  });

  test("separates lists as the document says, and takes one value for a list", async () => {
    const { client } = await createClient();
    const totalOf = async (query: Parameters<CarquetClient["listings"]>[0]): Promise<number | undefined> =>
      (
        await client
          .listings({ ...query, limit: 1 })
          .pages()
          .next()
      ).value?.pagination.total;
    const places = ["Georgetown, Kentucky", "Dearborn, Michigan"];
    const all = (await totalOf({})) ?? 0;
    const some = await totalOf({ assembly_location: places });
    const one = await totalOf({ assembly_location: places[0] ?? "" });
    assert.ok(some !== undefined && one !== undefined && one > 0 && some > one);
    assert.ok(((await totalOf({ exclude_assembly_location: places })) ?? all) <= all - some);
    assert.equal(await totalOf({ make: "Toyota" }), await totalOf({ make: ["toyota"] }));
  });

  test("puts values of a list that hold its separator in quotes", () => {
    const query = { trim: ["A1,B2", 'say "hi"', "back\\slash, too"], exclude_assembly_location: ["x + y", "Wien, AT"] };
    const decoded = decoderOf("searchListings")(serializeQuery(query), {}).query;
    assert.deepEqual([decoded.trim, decoded.exclude_assembly_location], Object.values(query));
  });

  test("throws errors with the code of the API", async () => {
    const { client, sent } = await createClient();
    await assert.rejects(client.listing("none"), isRefusal(404, "not_found"));
    await assert.rejects(
      client.listings({ min_price: 2, max_price: 1 }).toArray(),
      isRefusal(400, "incompatible_parameters"),
    );
    await assert.rejects((await createClient({ apiKey: "x" })).client.usage(), isRefusal(401, "invalid_api_key"));
    await assert.rejects(
      (await createClient({ baseUrl: `${service.url}/none` })).client.facets({ facets: "make" }),
      isRefusal(404, "not_found"),
    );
    assert.equal(sent.length, 2);
  });

  test("repeats refused requests as Retry-After says, and is charged once for each", async (scope) => {
    // Of two accounts with two requests in progress, one statement runs and one waits.
    const limits = { concurrentRequests: 2, sessions: 1, waitingQueries: 1, responseCacheBytes: 0 };
    const crowded = await startService(scope, await createSlowLake(scope), limits);
    const settings = { baseUrl: crowded.url, retries: 40 };
    const others = await createCustomer(crowded.accounts);
    const clients = await Promise.all([crowded.customer, others].map((customer) => createClient(settings, customer)));
    const measured = clients.flatMap(({ client }) =>
      Array.from({ length: 4 }, (_, price) =>
        client.trends({ ...slowParameters, metric: slowParameters.metric.split(","), min_price: price }),
      ),
    );
    assert.ok((await Promise.all(measured)).every(({ data }) => data.length > 0));
    assert.deepEqual([...new Set(clients.flatMap(({ statuses }) => [...statuses]))].sort(), [200, 429, 503]);
    for (const { sent, customer } of clients) {
      const keys = sent.map(({ headers }) => headers.get("Idempotency-Key"));
      assert.deepEqual([new Set(keys).size, await countCharges(customer, crowded)], [4, 4]);
    }
  });

  test("does not wait longer than allowed, and stops to wait when it is aborted", async () => {
    const customer = await createCustomer(service.accounts, { override: { per10s: 1, per60s: 60 } });
    const { client, sent } = await createClient({ longestWaitMs: 1000 }, customer);
    await client.vin("none").catch(() => undefined);
    await assert.rejects(client.usage(), (thrown: unknown) => {
      assert.ok(isRefusal(429, "rate_limit_exceeded")(thrown) && thrown instanceof CarquetError);
      assert.ok((thrown.retryAfter ?? 0) > 1 && thrown.requestId !== undefined);
      return true;
    });
    assert.equal(sent.length, 2);
    const signal = AbortSignal.timeout(100);
    await assert.rejects((await createClient({}, customer)).client.usage({}, { signal }), { name: "TimeoutError" });
  });

  test("is charged once for a request whose response is lost, whole or in part", async (scope) => {
    const { url, losses, keys } = await startLossyProxy(scope, service.url);
    const { client, customer } = await createClient({ baseUrl: url });
    losses.push("whole", "half");
    const { data } = await client.facets({ facets: ["make"] });
    assert.ok((data.facets.make?.length ?? 0) > 0);
    assert.deepEqual([keys.length, new Set(keys).size, keys.includes(undefined)], [3, 1, false]);
    assert.equal(await countCharges(customer), 1);
    losses.push("whole", "whole");
    const { client: impatient } = await createClient({ baseUrl: url, retries: 1 }, customer);
    await assert.rejects(impatient.facets({ facets: ["model"] }), TypeError);
    assert.deepEqual([keys.length, await countCharges(customer)], [5, 2]);
  });

  test("repeats no lost request without an idempotency key, and exports the rows of a search", async (scope) => {
    const { url, losses, keys } = await startLossyProxy(scope, service.url);
    const { client } = await createClient({ baseUrl: url });
    losses.push("whole");
    await assert.rejects(client.exportListings({ format: "csv" }), TypeError);
    const file = await (await client.exportListings({ format: "csv" })).text();
    const total = (await client.listings({ limit: 1 }).pages().next()).value?.pagination.total;
    assert.equal(file.trim().split("\n").length - 1, total);
    assert.deepEqual(keys.slice(0, 2), [undefined, undefined]);
  });
});

test("the client has a method for each operation that is not deprecated, except the document itself", async () => {
  const text = await readFile(projectPath("clients/typescript/src/client.ts"), "utf8");
  const missing = [...operations.values()].filter(
    ({ path, method, deprecated }) => !deprecated && !text.includes(`${method.toUpperCase()}("${path}"`),
  );
  assert.deepEqual(
    missing.map(({ path }) => path),
    ["/v1/openapi.json"],
  );
  assert.ok(document.paths["/v1/openapi.json"]);
});

/** Runs the commands of the README's `sh` blocks, each from the project's folder; `~` is a temporary folder. */
async function installAsReadme(scope: TestContext): Promise<string> {
  const home = await temporaryFolder(scope);
  const folder = join(home, "my-project");
  const run = promisify(execFile);
  const modules = ["openapi-fetch", "openapi-typescript-helpers"];
  const dependencies = Object.fromEntries(modules.map((name) => [name, `file:${projectPath(`node_modules/${name}`)}`]));
  await run("mkdir", [folder]);
  await writeFile(join(folder, "package.json"), JSON.stringify({ type: "module", dependencies }));
  const env = { ...process.env, HOME: home, npm_config_offline: "true", npm_config_ignore_scripts: "false" };
  const blocks = fencedBlocks("clients/typescript/README.md");
  for (const { language, text } of blocks)
    if (language === "sh") await run("sh", ["-ec", text], { cwd: projectPath("."), env });
  const program = blocks.filter(({ language }) => language === "ts").map(({ text }) => text);
  await writeFile(join(folder, "example.ts"), `${program.join("\n")}\nexport {};\n`);
  return folder;
}

test("the packed client compiles strictly in another project, and its README's program runs", {
  skip: skipInShortRun,
}, async (scope) => {
  const folder = await installAsReadme(scope);
  const run = promisify(execFile);
  const options = { module: "NodeNext", target: "ES2022", strict: true, exactOptionalPropertyTypes: true };
  const typeRoots = [projectPath("node_modules/@types")];
  const compilerOptions = { ...options, noUncheckedIndexedAccess: true, types: ["node"], typeRoots };
  await writeFile(join(folder, "tsconfig.json"), JSON.stringify({ compilerOptions, files: ["example.ts"] }));
  await run(process.execPath, [projectPath("node_modules/typescript/bin/tsc"), "--project", folder]).catch(
    ({ stdout }) => assert.fail(stdout),
  );
  const env = { CARQUET_URL: service.url, CARQUET_KEY: (await createCustomer(service.accounts)).key };
  const { stdout } = await run(process.execPath, ["example.js"], { cwd: folder, env });
  const lines = stdout.trim().split("\n");
  assert.match(lines[0] ?? "", /^[0-9A-HJ-NPR-Z]{17} \d+$/);
  assert.match(stdout, /^404 .*listing/im);
  assert.match(lines.at(-1) ?? "", /^1000 \d+$/);
});
