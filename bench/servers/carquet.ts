/** Carquet as it is measured: in this process, where an endpoint is called with a decoded request; and as a service in a process of its own. */
import { createAccountsFile } from "../../src/accounts/file/schema.ts";
import type { MeteredId } from "../../src/accounts/policy/prices.ts";
import { projectPath } from "../../src/base/project-files.ts";
import { nodeOptions } from "../../src/base/restart.ts";
import { UserError } from "../../src/base/user-error.ts";
import { decoderOf } from "../../src/contract/decode.ts";
import { operations } from "../../src/contract/document.ts";
import { type Endpoint, endpoints } from "../../src/http/endpoints.ts";
import { LakeVersion } from "../../src/serving/lake-version.ts";
import { createCustomer } from "../../test/support/accounts.ts";
import { manifestOf } from "../dataset/flat-rows.ts";
import { httpClient } from "./http.ts";
import { launch, type ServerProcess } from "./process.ts";

/** Gives the body of the answer to a path, as it is sent. */
export type Fetch = (path: string) => Promise<string>;

/** A version that is asked without HTTP: decoded, validated, answered. */
export async function openInProcess(lake: string): Promise<{ readonly fetch: Fetch; close(): Promise<void> }> {
  const version = await LakeVersion.open(lake, (await manifestOf(lake)).version);
  const routes = [...operations.values()].flatMap(({ id, path }) =>
    id === "getUsage" || id === "getDocument" ? [] : [{ pattern: patternOf(path), run: answering(id, version) }],
  );
  return {
    fetch: async (path) => {
      const [place = "", query = ""] = path.split("?");
      for (const { pattern, run } of routes) {
        const parts = pattern.exec(place);
        if (parts !== null) return run(query, { ...parts.groups });
      }
      throw new UserError(`${path}: no endpoint answers it.`);
    },
    close: async () => version.close(),
  };
}

const patternOf = (path: string): RegExp => new RegExp(`^${path.replaceAll(/\{(\w+)\}/g, "(?<$1>[^/]+)")}$`);

type Run = (query: string, path: Readonly<Record<string, string>>) => Promise<string>;

function answering<Id extends MeteredId>(id: Id, version: LakeVersion): Run {
  const endpoint: Endpoint<Id> = endpoints[id];
  const decode = decoderOf(id);
  return (query, path) => endpoint(decode(query, path), version);
}

/** Decodes and validates a path as the document says; refuses what it does not allow. */
export function decoders(): (path: string) => void {
  const known = [...operations.values()].map(({ id, path }) => ({ pattern: patternOf(path), decode: decoderOf(id) }));
  return (path) => {
    const [place = "", query = ""] = path.split("?");
    for (const { pattern, decode } of known) {
      const parts = pattern.exec(place);
      if (parts !== null) return void decode(query, { ...parts.groups });
    }
  };
}

/** A service that answers over HTTP, in a process of its own. */
export interface Running extends ServerProcess {
  /** Fails unless the status is 200. */
  readonly fetch: Fetch;
  /** The same, parsed. */
  readonly answer: (path: string) => Promise<unknown>;
}

/** How `carquet serve` is told to keep no answers. */
export const keepingNoAnswers: readonly string[] = ["--answers", "0"];

/** Starts a script that prints `listening on URL`, with a key for its requests; resolves when it has. */
export async function start(script: string, args: readonly string[], key?: string): Promise<Running> {
  const server = await launch({
    command: process.execPath,
    args: [...nodeOptions(), projectPath(script), ...args],
    env: { CARQUET_LOG_LEVEL: "silent" },
  });
  const client = httpClient(server.url, key === undefined ? {} : { Authorization: `Bearer ${key}` });
  return {
    ...server,
    fetch: client.send,
    answer: async (path) => JSON.parse(await client.send(path)),
    async stop() {
      client.close();
      await server.stop();
    },
  };
}

/** A key that no limit stops and no bill ends, of an account in a file of its own. */
export function keyIn(accounts: string): string {
  createAccountsFile(accounts, { busyMs: 5000 }).close();
  return createCustomer(accounts, { usd: "999999" }).key;
}
