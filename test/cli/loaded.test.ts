import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { isObject } from "../../src/base/json.ts";
import { accountsFile } from "../support/accounts.ts";
import { carquet, serving } from "../support/command-line.ts";
import { lakeOf, temporaryFolder } from "../support/lakes/lakes.ts";
import { wholeFile } from "../support/scope.ts";

const { lake } = await lakeOf(wholeFile);
const accounts = await accountsFile(wholeFile);

/** The URLs of all scripts that a process ran, its threads' too: Node.js writes them with their coverage when it ends. */
async function loadedBy(run: (env: Readonly<Record<string, string>>) => Promise<void>): Promise<readonly string[]> {
  const folder = await temporaryFolder(wholeFile);
  await run({ NODE_V8_COVERAGE: folder });
  const urls = readdirSync(folder).flatMap((file) => {
    const { result }: { readonly result: readonly unknown[] } = JSON.parse(readFileSync(join(folder, file), "utf8"));
    return result.map((script) => (isObject(script) ? String(script.url) : ""));
  });
  return [...new Set(urls)].filter((url) => url.startsWith("file:"));
}

const command = (...args: readonly string[]) =>
  loadedBy(async (env) => {
    const { code, err } = await carquet(args, { env });
    assert.equal(code, 0, err);
  });

const service = () =>
  loadedBy(async (env) => {
    const running = await serving(wholeFile, ["serve", "--port", "0", "--lake", lake], { env });
    running.terminate();
    assert.equal((await running.ended).code, 0);
  });

const compilers = [/node_modules\/yaml\//, /node_modules\/ajv(-formats)?\//, /src\/contract\/build\//];
const http = [/node_modules\/@?koa/, /src\/http\//];
const query = [/src\/query\//];
const engine = [/node_modules\/@duckdb\//, /src\/lake\//];
const ledger = [/node_modules\/@photostructure\//, /src\/accounts\//];

interface Case {
  readonly what: string;
  readonly load: () => Promise<readonly string[]>;
  readonly loads: readonly RegExp[];
  readonly leaves: readonly RegExp[];
}

const cases: readonly Case[] = [
  {
    what: "--help",
    load: () => command("--help"),
    loads: [],
    leaves: [...compilers, ...http, ...query, ...engine, ...ledger],
  },
  {
    what: "accounts list",
    load: () => command("accounts", "list", "--accounts", accounts),
    loads: ledger,
    leaves: [...compilers, ...http, ...query, ...engine],
  },
  {
    what: "verify",
    load: () => command("verify", "--lake", lake),
    loads: engine,
    leaves: [...compilers, ...http, ...query],
  },
  { what: "serve", load: service, loads: [...http, ...query, ...engine, ...ledger], leaves: compilers },
];

describe("a command loads what it needs, and no compiler of schemas", { concurrency: 2 }, () => {
  for (const { what, load, loads, leaves } of cases) {
    test(`carquet ${what}`, async () => {
      const urls = await load();
      const some = (pattern: RegExp) => urls.filter((url) => pattern.test(url));
      assert.ok(some(/src\/main\.ts/).length > 0);
      for (const pattern of loads) assert.notDeepEqual(some(pattern), [], String(pattern));
      for (const pattern of leaves) assert.deepEqual(some(pattern), [], String(pattern));
    });
  }
});
