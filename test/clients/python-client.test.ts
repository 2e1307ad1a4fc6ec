/**
 * The Python client: its package is built and installed, and tested against a service by the programs in `test/clients/python/`. Needs the
 * environment that `npm run test:all` installs.
 */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { readdirSync } from "node:fs";
import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, test } from "node:test";
import { promisify } from "node:util";
import { projectPath, projectText } from "../../src/base/project-files.ts";
import { operations } from "../../src/contract/document.ts";
import { sql } from "../../src/db/sql.ts";
import { clientMethods, pythonMethod } from "../../src/web/build/samples.ts";
import { fencedBlocks } from "../docs/markdown.ts";
import { type Customer, createCustomer, inAccountsFile } from "../support/accounts.ts";
import { startServing } from "../support/command-line.ts";
import { skipInShortRun } from "../support/extent.ts";
import { sampleService, startService } from "../support/http/service.ts";
import { createSlowLake } from "../support/http/slow-request.ts";
import { demoLake } from "../support/lakes/demo.ts";
import { temporaryFolder } from "../support/lakes/lakes.ts";
import { fileScope } from "../support/scope.ts";
import { startLossyProxy } from "./lossy-proxy.ts";
import { clientPython, clientUnavailableReason } from "./python-environment.ts";

const skip = skipInShortRun || clientUnavailableReason();
const examples = readdirSync(projectPath("clients/python/examples")).filter((name) => name.endsWith(".ipynb"));

const packages = await temporaryFolder(fileScope);
let installed: Promise<string> | undefined;

/** Builds the package, and installs it into a folder, without the network. Returns the folder. */
async function installPackage(): Promise<string> {
  const wheels = join(packages, "wheels");
  const site = join(packages, "site");
  const pip = (...args: readonly string[]) =>
    promisify(execFile)(clientPython, ["-m", "pip", ...args, "--quiet", "--no-deps"]);
  await pip("wheel", "--no-build-isolation", "--wheel-dir", wheels, projectPath("clients/python"));
  const [wheel = ""] = await readdir(wheels);
  await pip("install", "--no-index", "--target", site, join(wheels, wheel));
  return site;
}

/** Runs Python with the installed package; fails with its output if it does. Returns its standard output. */
async function runPython(
  args: readonly string[],
  variables: Readonly<Record<string, string>> = {},
  cwd = projectPath("test/clients/python"),
): Promise<string> {
  installed ??= installPackage();
  const paths = { PYTHONPATH: await installed, PYTHONDONTWRITEBYTECODE: "1" };
  const env = { ...process.env, ...paths, ...variables };
  const { stdout } = await promisify(execFile)(clientPython, args, { cwd, env, maxBuffer: 1 << 26 }).catch(
    ({ stdout, stderr }) => assert.fail(`${stdout}${stderr}`),
  );
  return stdout;
}

/** Serves the demo lake. Returns the variables of programs that use it. */
async function serveDemo(): Promise<Readonly<Record<string, string>>> {
  const lake = await demoLake();
  const env = { CARQUET_LAKE: lake, CARQUET_PORT: "0", CARQUET_SQL_DEADLINE: "30" };
  const { url, customer } = await startServing(fileScope, ["serve"], { env });
  return { CARQUET_URL: url, CARQUET_KEY: customer.key, CARQUET_LAKE: lake };
}

const countCharges = ({ accountId }: Customer, accounts: string): Promise<number> =>
  inAccountsFile(accounts, async (database) =>
    Number(
      (await database.one(sql`SELECT count(*) AS charges FROM entries WHERE account_id = ${accountId} AND micros < 0`))
        ?.charges,
    ),
  );

describe("the Python client", { skip }, async () => {
  const { client: service, lake } = await sampleService();
  const surroundings = (url: string, { key }: Customer) => ({ CARQUET_URL: url, CARQUET_KEY: key, CARQUET_LAKE: lake });
  const runRetry = (name: string, url: string, customer: Customer): Promise<string> =>
    runPython(["-m", "unittest", `retries_test.Retries.${name}`], surroundings(url, customer));

  for (const [subject, module] of [
    ["pages, parameters, errors and costs", "client_test"],
    ["exports, SQL, data frames and lakes", "tables_test"],
  ] as const)
    test(`passes its tests of ${subject}`, async (scope) => {
      const { url, customer } = await startService(scope, lake, { exports: { sqlDeadlineMs: 30_000 } });
      await runPython(["-m", "unittest", module], surroundings(url, customer));
    });

  test("repeats refused requests as Retry-After says, and is charged once for each", async (scope) => {
    const limits = { sessions: 1, waitingQueries: 1, responseCacheBytes: 0, deadlineMs: 120_000 };
    const { url, accounts } = await startService(scope, await createSlowLake(scope), limits);
    // The twelfth of twelve requests exceeds the rate, however slow the machine is.
    const customer = await createCustomer(accounts, { override: { per10s: 11, per60s: 600 } });
    await runRetry("test_refused_requests_are_repeated_as_retry_after_says", url, customer);
    assert.equal(await countCharges(customer, accounts), 12);
  });

  test("does not wait longer than allowed", async () => {
    const customer = await createCustomer(service.accounts, { override: { per10s: 1, per60s: 60 } });
    await runRetry("test_a_wait_that_is_too_long_is_an_error_at_once", service.url, customer);
  });

  test("is charged once for a request whose response is lost, whole or in part", async (scope) => {
    const { url, losses } = await startLossyProxy(scope, service.url);
    const customer = await createCustomer(service.accounts);
    losses.push("whole", "half");
    await runRetry("test_a_lost_response_is_requested_again_with_the_same_key", url, customer);
    assert.equal(await countCharges(customer, service.accounts), 1);
    losses.push("whole", "whole");
    await runRetry("test_losses_after_the_last_retry_are_raised", url, customer);
    assert.equal(await countCharges(customer, service.accounts), 2);
  });

  test("does not repeat lost exports", async (scope) => {
    const { url, losses } = await startLossyProxy(scope, service.url);
    losses.push("whole", "half");
    await runRetry("test_lost_exports_are_not_repeated", url, await createCustomer(service.accounts));
  });

  test("is typed strictly, and so is the program of its README, which runs", async (scope) => {
    const blocks = fencedBlocks("clients/python/README.md").filter(({ language }) => language === "python");
    const folder = await temporaryFolder(scope);
    const program = join(folder, "readme.py");
    await writeFile(program, blocks.map(({ text }) => text).join("\n"));
    const config = [
      "--config-file",
      projectPath("clients/python/pyproject.toml"),
      "--cache-dir",
      join(folder, "cache"),
    ];
    await runPython(["-m", "mypy", ...config, "--package", "carquet_client"]);
    await runPython(["-m", "mypy", ...config, "typed_program.py", program]);
    const { url, customer } = await startService(scope, lake, { exports: { sqlDeadlineMs: 30_000 } });
    const out = await runPython([program], surroundings(url, customer), folder);
    assert.match(out, /^[0-9A-HJ-NPR-Z]{17} \d+$/m);
    assert.match(out, /^404 not_found /m);
  });

  let market: Promise<Readonly<Record<string, string>>> | undefined;
  for (const name of examples)
    test(`runs ${name} without a failed cell`, async () => {
      market ??= serveDemo();
      await runPython(["run_notebook.py", projectPath(`clients/python/examples/${name}`)], await market);
    });
});

test("the Python client has a method for each operation that is not deprecated", async () => {
  const text = await readFile(projectPath("clients/python/src/carquet_client/client.py"), "utf8");
  const missing = [...operations.values()].filter(
    ({ path, deprecated }) => !deprecated && !text.includes(`"${path.replace(/\{(\w+)\}/g, "{path_segment($1)}")}"`),
  );
  assert.deepEqual(
    missing.map(({ path }) => path),
    [],
  );
});

test("the READMEs of the clients name all of their methods", () => {
  const documents = new Set(["getDocument"]);
  for (const [readme, nameOf] of [
    ["clients/python/README.md", pythonMethod],
    ["clients/typescript/README.md", (method: string) => method],
  ] as const) {
    const text = projectText(readme);
    const methods = Object.entries(clientMethods).filter(([id]) => !documents.has(id));
    const unnamed = methods.filter(([, [method]]) => !text.includes(`\`${nameOf(method)}(`));
    assert.deepEqual(
      unnamed.map(([id]) => id),
      [],
      readme,
    );
  }
});

test("the packages of the clients have the version of the project", () => {
  const version = /^version = "(.*)"$/m.exec(projectText("clients/python/pyproject.toml"))?.[1];
  assert.equal(version, JSON.parse(projectText("package.json")).version);
  assert.equal(JSON.parse(projectText("clients/typescript/package.json")).version, version);
});

test("notebooks are stored without outputs", async () => {
  assert.ok(examples.length >= 3);
  for (const name of examples) {
    const { cells } = JSON.parse(await readFile(projectPath(`clients/python/examples/${name}`), "utf8"));
    for (const { cell_type: type, outputs } of cells) assert.deepEqual(outputs, type === "code" ? [] : undefined, name);
  }
});
