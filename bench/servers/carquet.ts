import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { projectPath } from "../../src/base/project-files.ts";
import { UserError } from "../../src/base/user-error.ts";
import { decoderOf } from "../../src/contract/decode.ts";
import { operations } from "../../src/contract/document.ts";
import { requireManifest } from "../../src/lake/published-lake.ts";
import type { EndpointId } from "../../src/operations/caller.ts";
import { type Endpoint, endpoints, isEndpoint } from "../../src/operations/endpoints.ts";
import { jsonOf } from "../../src/operations/result.ts";
import { LakeVersion } from "../../src/serving/lake-version.ts";
import type { Acquire } from "../resources.ts";
import { createBenchKey } from "./api-key.ts";
import { httpClient } from "./http.ts";
import { launch, type ServerProcess } from "./process.ts";

/** Returns the body of the answer to a path, as text. */
export type Fetch = (path: string) => Promise<string>;

export interface InProcess {
  /** Decodes, validates and answers a request without HTTP, key and ledger. */
  readonly fetch: Fetch;
  close(): Promise<void>;
}

/** Opens the published version of a lake in this process. */
export async function openInProcess(lake: string): Promise<InProcess> {
  const version = await LakeVersion.open(lake, (await requireManifest(lake)).version);
  const routes = [...operations.values()].flatMap(({ id, path }) =>
    isEndpoint(id) ? [{ pattern: patternOf(path), run: endpointRunner(id, version) }] : [],
  );
  return {
    fetch: async (url) => {
      const [path = "", queryString = ""] = url.split("?");
      for (const { pattern, run } of routes) {
        const match = pattern.exec(path);
        if (match !== null) return run(queryString, { ...match.groups });
      }
      throw new UserError(`Unknown path ${url}: expected one of a metered operation.`);
    },
    close: async () => version.close(),
  };
}

const patternOf = (path: string): RegExp => new RegExp(`^${path.replaceAll(/\{(\w+)\}/g, "(?<$1>[^/]+)")}$`);

type RunEndpoint = (queryString: string, pathParameters: Readonly<Record<string, string>>) => Promise<string>;

function endpointRunner<Id extends EndpointId>(id: Id, version: LakeVersion): RunEndpoint {
  const endpoint: Endpoint<Id> = endpoints[id];
  const decode = decoderOf(id);
  return async (queryString, pathParameters) => jsonOf(await endpoint(decode(queryString, pathParameters), version));
}

/** Creates a function that decodes and validates a request path like Carquet does. It throws for invalid requests. */
export function requestValidator(): (url: string) => void {
  const routes = [...operations.values()].map(({ id, path }) => ({ pattern: patternOf(path), decode: decoderOf(id) }));
  return (url) => {
    const [path = "", queryString = ""] = url.split("?");
    for (const { pattern, decode } of routes) {
      const match = pattern.exec(path);
      if (match !== null) return void decode(queryString, { ...match.groups });
    }
  };
}

/** A script of this project that serves HTTP in its own process. */
export interface ScriptServer extends ServerProcess {
  /** Throws a `UserError` unless the status is 200. */
  readonly fetch: Fetch;
  /** Like `fetch`, but parses the body. */
  readonly fetchJson: (path: string) => Promise<unknown>;
}

/** Options of `carquet serve` that turn the response cache off. */
export const withoutResponseCache: readonly string[] = ["--response-cache", "0"];

/** Options of Node.js to run a TypeScript module of this project with the thread pool's size. */
export const typescriptOptions: readonly string[] = [
  ...["--require", projectPath("src/base/thread-pool.cjs")],
  ...["--import", import.meta.resolve("tsx/esm")],
];

/** Serves a lake without a response cache until the scope ends, with accounts of one key. Returns also that key. */
export async function serveLake(acquire: Acquire, lake: string): Promise<ScriptServer & { readonly key: string }> {
  const scratch = await acquire(mkdtemp(join(tmpdir(), "carquet-bench-")), (path) => rm(path, { recursive: true }));
  const accounts = join(scratch, "accounts.db");
  const key = await createBenchKey(accounts);
  return {
    ...(await acquire(startScript("bin/carquet.cjs", uncached(lake, accounts), key), (server) => server.stop())),
    key,
  };
}

/** Returns the arguments that serve a lake without a response cache. */
export const uncached = (lake: string, accounts: string): readonly string[] => [
  ...["serve", "--lake", lake, "--accounts", accounts, "--port", "0", ...withoutResponseCache],
];

/** Starts a script and resolves when it has printed `listening on URL`. `key` is sent with each request, `root` is the project's folder. */
export async function startScript(
  script: string,
  args: readonly string[],
  key?: string,
  root = projectPath("."),
): Promise<ScriptServer> {
  const server = await launch({
    command: process.execPath,
    args: [...(script.endsWith(".ts") ? typescriptOptions : []), join(root, script), ...args],
    env: { CARQUET_LOG_LEVEL: "silent" },
    cwd: root,
  });
  const client = httpClient(server.url, key === undefined ? {} : { Authorization: `Bearer ${key}` });
  return {
    ...server,
    fetch: client.send,
    fetchJson: async (path) => JSON.parse(await client.send(path)),
    async stop() {
      client.close();
      await server.stop();
    },
  };
}
