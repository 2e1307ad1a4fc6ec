/** The modules that each command loads, which decide how fast it starts. */
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { isObject } from "../../src/base/json.ts";
import { temporaryAccountsFile } from "../support/accounts.ts";
import { carquet, startServing } from "../support/command-line.ts";
import { skipInShortRun } from "../support/extent.ts";
import { createLake, temporaryFolder } from "../support/lakes/lakes.ts";
import { fileScope } from "../support/scope.ts";

const { lake } = await createLake(fileScope);
const accounts = await temporaryAccountsFile(fileScope);

/**
 * Returns the URLs of all scripts that a process loaded, its threads included, from the coverage that Node.js writes
 * on exit.
 */
async function loadedBy(run: (env: Readonly<Record<string, string>>) => Promise<void>): Promise<readonly string[]> {
  const folder = await temporaryFolder(fileScope);
  await run({ NODE_V8_COVERAGE: folder });
  const urls = readdirSync(folder).flatMap((file) => {
    const { result }: { readonly result: readonly unknown[] } = JSON.parse(readFileSync(join(folder, file), "utf8"));
    return result.map((script) => (isObject(script) ? String(script.url) : ""));
  });
  return [...new Set(urls)].filter((url) => url.startsWith("file:"));
}

const loadedByCommand = (...args: readonly string[]) =>
  loadedBy(async (env) => {
    const { code, err } = await carquet(args, { env });
    assert.equal(code, 0, err);
  });

const loadedByService = () =>
  loadedBy(async (env) => {
    const running = await startServing(fileScope, ["serve", "--port", "0", "--lake", lake], { env });
    running.terminate();
    assert.equal((await running.ended).code, 0);
  });

const compilers = [/node_modules\/yaml\//, /node_modules\/ajv(-formats)?\//, /contract\/build\//];
const http = [/node_modules\/@?koa/, /dist\/\w+\/src\/http\//];
const query = [/dist\/\w+\/src\/query\//];
const engine = [/node_modules\/@duckdb\//, /dist\/\w+\/src\/lake\//];
const ledger = [/node_modules\/@photostructure\//, /dist\/\w+\/src\/accounts\//];

interface Case {
  readonly what: string;
  readonly load: () => Promise<readonly string[]>;
  readonly loads: readonly RegExp[];
  readonly omits: readonly RegExp[];
}

const cases: readonly Case[] = [
  {
    what: "--help",
    load: () => loadedByCommand("--help"),
    loads: [],
    omits: [...compilers, ...http, ...query, ...engine, ...ledger],
  },
  {
    what: "--version",
    load: () => loadedByCommand("--version"),
    loads: [],
    omits: [...compilers, ...http, ...query, ...engine, ...ledger, /dist\/\w+\/src\/cli\/(?!program\.)/],
  },
  {
    what: "accounts list",
    load: () => loadedByCommand("accounts", "list", "--accounts", accounts),
    loads: ledger,
    omits: [...compilers, ...http, ...query, ...engine],
  },
  {
    what: "verify",
    load: () => loadedByCommand("verify", "--lake", lake),
    loads: engine,
    omits: [...compilers, ...http, ...query],
  },
  { what: "serve", load: loadedByService, loads: [...http, ...query, ...engine, ...ledger], omits: compilers },
];

describe("a command loads only the modules it needs, and no schema compiler", { concurrency: 2 }, () => {
  for (const { what, load, loads, omits } of cases) {
    test(`carquet ${what}`, {
      skip: what === "verify" || what === "accounts list" ? skipInShortRun : false,
    }, async () => {
      const urls = await load();
      const matching = (pattern: RegExp) => urls.filter((url) => pattern.test(url));
      assert.ok(matching(/dist\/\w+\/src\/main\.js/).length > 0);
      for (const pattern of loads) assert.notDeepEqual(matching(pattern), [], String(pattern));
      for (const pattern of omits) assert.deepEqual(matching(pattern), [], String(pattern));
    });
  }
});
