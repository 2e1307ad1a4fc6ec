/** The command line as somebody at a terminal, or a supervisor, has it: child processes, their output and their end. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { text } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";
import { isObject } from "../../src/base/json.ts";
import { projectPath } from "../../src/base/project-files.ts";
import { nodeOptions } from "../../src/base/restart.ts";
import { accountsFile, type Customer, customerIn } from "./accounts.ts";
import { atEndOf, type Scope } from "./scope.ts";

/** How a command ended, and what it wrote. */
export interface Ended {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

export interface Surroundings {
  readonly env?: Readonly<Record<string, string>>;
  readonly input?: string;
  readonly withinMs?: number;
}

/** A command that has not ended by then is killed, and so has no exit code. */
const endsWithinMs = 60_000;

/** Runs `carquet` with arguments until it ends. */
export async function carquet(
  args: readonly string[],
  { env = {}, input = "", withinMs = endsWithinMs }: Surroundings = {},
): Promise<Ended> {
  const child = started(args, env);
  const timer = setTimeout(() => child.kill("SIGKILL"), withinMs);
  child.stdin?.end(input);
  try {
    const [out, err, code] = await Promise.all([textOf(child.stdout), textOf(child.stderr), endOf(child)]);
    return { code, out, err };
  } finally {
    clearTimeout(timer);
  }
}

/** A service in a process of its own. */
export interface ServeProcess {
  /** Where it says that it listens. */
  readonly url: string;
  /** Who may ask it: a customer whom no limit stops. */
  readonly customer: Customer;
  /** What standard output had by then, line by line. */
  readonly announced: readonly string[];
  /** Sends SIGTERM. */
  terminate(): void;
  /** Sends SIGKILL. */
  kill(): void;
  /** What it wrote in all, when it has ended. */
  readonly ended: Promise<Ended>;
}

/**
 * Runs a command that serves, with an accounts file of its own unless the environment names one, until it listens; it is killed
 * when the scope ends, if it still runs.
 */
export async function serving(
  scope: Scope,
  args: readonly string[],
  { env = {} }: Surroundings = {},
): Promise<ServeProcess> {
  const accounts = env.CARQUET_ACCOUNTS ?? (await accountsFile(scope));
  const customer = customerIn(accounts);
  const child = started(args, { ...env, CARQUET_ACCOUNTS: accounts });
  child.stdin?.end();
  const ended = Promise.all([textOf(child.stdout), textOf(child.stderr), endOf(child)]).then(([out, err, code]) => ({
    code,
    out,
    err,
  }));
  atEndOf(scope, async () => {
    child.kill("SIGKILL");
    await ended;
  });
  const announced: string[] = [];
  if (child.stdout === null) throw new Error("The command has no standard output.");
  for await (const line of createInterface({ input: child.stdout })) {
    announced.push(line);
    const url = /^listening on (https?:\S+)$/.exec(line)?.[1];
    if (url === undefined) continue;
    const [terminate, kill] = [() => void child.kill("SIGTERM"), () => void child.kill("SIGKILL")];
    return { url, customer, announced, terminate, kill, ended };
  }
  throw new Error(`It ended before it listened: ${(await ended).err}`);
}

function started(args: readonly string[], env: Readonly<Record<string, string>>): ChildProcess {
  const command = [...nodeOptions(), projectPath("src/main.ts"), ...args];
  const plain = Object.entries(process.env).filter(([key]) => !/^(CARQUET|NODE_TEST)_/.test(key));
  return spawn(process.execPath, command, {
    cwd: projectPath("."),
    env: { ...Object.fromEntries(plain), CARQUET_ACCOUNTS: join(ownFolder(), "accounts.db"), ...env },
    stdio: ["pipe", "pipe", "pipe"],
  });
}

let folder: string | undefined;

/** A folder for what commands write that are not told where, gone when this process ends. */
function ownFolder(): string {
  if (folder !== undefined) return folder;
  const made = mkdtempSync(join(tmpdir(), "carquet-"));
  process.once("exit", () => rmSync(made, { recursive: true, force: true }));
  folder = made;
  return made;
}

async function textOf(stream: NodeJS.ReadableStream | null): Promise<string> {
  return stream === null ? "" : text(stream);
}

async function endOf(child: ChildProcess): Promise<number | null> {
  if (child.exitCode === null && child.signalCode === null) await once(child, "exit");
  return child.exitCode;
}

/** The objects of a log, one from each line; fails when a line is none. */
export function logged(log: string): readonly Readonly<Record<string, unknown>>[] {
  const lines = log.split("\n").filter((line) => line !== "");
  return lines.map((line) => {
    const entry: unknown = JSON.parse(line);
    if (!isObject(entry)) throw new TypeError(`No object: ${line}`);
    return entry;
  });
}

/** Waits until something holds; fails when it does not in time. */
export async function eventually(what: string, holds: () => Promise<boolean>, withinMs = 5000): Promise<void> {
  const lastMs = performance.now() + withinMs;
  while (!(await holds())) {
    if (performance.now() > lastMs) throw new Error(`Not within ${withinMs} ms: ${what}.`);
    await sleep(10);
  }
}
