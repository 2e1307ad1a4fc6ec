/** Carquet as it is measured: in this process, where an endpoint is called with a decoded request; and as a service in a process of its own. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { Agent, get } from "node:http";
import { createInterface } from "node:readline";
import { makeAccounts } from "../src/accounts/layout.ts";
import type { MeteredId } from "../src/accounts/prices.ts";
import { Failure } from "../src/base/failure.ts";
import { projectPath } from "../src/base/project.ts";
import { nodeOptions } from "../src/base/restart.ts";
import { decoderOf } from "../src/contract/decode.ts";
import { operations } from "../src/contract/document.ts";
import { type Endpoint, endpoints } from "../src/http/endpoints.ts";
import { Market } from "../src/lake/market.ts";
import { customerIn } from "../test/support/accounts.ts";
import { manifestOf } from "./flat.ts";

/** Gives the body of the answer to a path, as it is sent. */
export type Fetch = (path: string) => Promise<string>;

/** A market that is asked without HTTP: decoded, validated, answered. Its hot copy is ready. */
export async function openInProcess(lake: string): Promise<{ readonly fetch: Fetch; close(): Promise<void> }> {
  const market = await Market.open(lake, (await manifestOf(lake)).version);
  await market.warm();
  const routes = [...operations.values()].flatMap(({ id, path }) =>
    id === "getUsage" || id === "getDocument" ? [] : [{ pattern: patternOf(path), run: answering(id, market) }],
  );
  return {
    fetch: async (path) => {
      const [place = "", query = ""] = path.split("?");
      for (const { pattern, run } of routes) {
        const parts = pattern.exec(place);
        if (parts !== null) return run(query, { ...parts.groups });
      }
      throw new Failure(`${path}: no endpoint answers it.`);
    },
    close: () => market.close(),
  };
}

const patternOf = (path: string): RegExp => new RegExp(`^${path.replaceAll(/\{(\w+)\}/g, "(?<$1>[^/]+)")}$`);

type Run = (query: string, path: Readonly<Record<string, string>>) => Promise<string>;

function answering<Id extends MeteredId>(id: Id, market: Market): Run {
  const endpoint: Endpoint<Id> = endpoints[id];
  const decode = decoderOf(id);
  return (query, path) => endpoint(decode(query, path), market);
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
export interface Running {
  readonly url: string;
  /** From its start to the line that says it listens. */
  readonly startedInMs: number;
  /** Fails unless the status is 200. */
  readonly fetch: Fetch;
  /** The same, read. */
  readonly answer: (path: string) => Promise<unknown>;
  readonly memory: () => Promise<{ readonly nowMib: number; readonly peakMib: number }>;
  /** The processor time of the thread that runs its event loop, so far; Linux tells, elsewhere it fails. */
  readonly eventLoopMs: () => number;
  stop(): Promise<void>;
}

/** How `carquet serve` is told to work out every answer anew. */
export const keepingNoAnswers: readonly string[] = ["--answers", "0"];

/** Starts a script that prints `listening on URL`, with a key for whoever asks; resolves when it has. */
export async function start(script: string, args: readonly string[], key?: string): Promise<Running> {
  const startedAtMs = performance.now();
  const child = spawn(process.execPath, [...nodeOptions(), projectPath(script), ...args], {
    cwd: projectPath("."),
    env: { ...process.env, CARQUET_LOG_LEVEL: "silent" },
    stdio: ["ignore", "pipe", "inherit"],
  });
  const kill = (): boolean => child.kill("SIGKILL");
  process.once("exit", kill);
  child.once("close", () => process.off("exit", kill));
  const url = await listening(child);
  const startedInMs = performance.now() - startedAtMs;
  const agent = new Agent({ keepAlive: true, maxSockets: 256 });
  const headers = key === undefined ? {} : { Authorization: `Bearer ${key}` };
  const fetch: Fetch = (path) =>
    new Promise((answered, failed) => {
      get(`${url}${path}`, { agent, headers }, (response) => {
        const parts: Buffer[] = [];
        response.on("data", (part: Buffer) => parts.push(part));
        response.on("error", failed);
        response.on("end", () => {
          const body = Buffer.concat(parts).toString("utf8");
          if (response.statusCode === 200) answered(body);
          else failed(new Failure(`${path}: ${response.statusCode} ${body.slice(0, 500)}`));
        });
      }).on("error", failed);
    });
  return {
    url,
    startedInMs,
    fetch,
    answer: async (path) => JSON.parse(await fetch(path)),
    memory: () => memoryOf(child.pid ?? 0),
    eventLoopMs: () =>
      Number.parseInt(readFileSync(`/proc/${child.pid}/task/${child.pid}/schedstat`, "utf8"), 10) / 1e6,
    async stop() {
      agent.destroy();
      if (child.exitCode !== null) return;
      child.kill("SIGTERM");
      await once(child, "close");
    },
  };
}

function listening(child: ChildProcess): Promise<string> {
  return new Promise((started, failed) => {
    child.once("close", (code) => failed(new Failure(`A service ended with ${code} before it listened.`)));
    if (child.stdout === null) return;
    createInterface(child.stdout).on("line", (line) => {
      const [, url] = /^listening on (.+)$/.exec(line) ?? [];
      if (url !== undefined) started(url);
    });
  });
}

/** Resident memory of a process and its children, now and at most, in MiB; Linux says, elsewhere nothing is known. */
async function memoryOf(pid: number): Promise<{ readonly nowMib: number; readonly peakMib: number }> {
  const status = await readFile(`/proc/${pid}/status`, "utf8").catch(() => "");
  const mib = (name: string): number =>
    Math.round(Number(new RegExp(`${name}:\\s+(\\d+) kB`).exec(status)?.[1] ?? Number.NaN) / 1024);
  return { nowMib: mib("VmRSS"), peakMib: mib("VmHWM") };
}

/** A key that no limit stops and no bill ends, of an account in a file of its own. */
export function keyIn(accounts: string): string {
  makeAccounts(accounts, { busyMs: 5000 }).close();
  return customerIn(accounts, { usd: "999999" }).key;
}
