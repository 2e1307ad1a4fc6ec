/** Runs the command line in child processes. */
import { type ChildProcess, spawn } from "node:child_process";
import { type EventEmitter, once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { text } from "node:stream/consumers";
import { CommanderError } from "commander";
import { isObject } from "../../src/base/json.ts";
import { programPath, projectPath } from "../../src/base/project-files.ts";
import { UsageError, UserError } from "../../src/base/user-error.ts";
import { createProgram, usageErrorCode } from "../../src/cli/program.ts";
import { type Customer, createCustomer, temporaryAccountsFile } from "./accounts.ts";
import { raisePriority } from "./raise-priority.ts";
import { onScopeEnd, type Scope } from "./scope.ts";

export { eventually } from "./eventually.ts";

/** The exit code and the output of a command. */
export interface CommandResult {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

export interface CommandOptions {
  readonly env?: Readonly<Record<string, string>>;
  readonly input?: string;
  readonly withinMs?: number;
  /** File descriptor that becomes standard error; captured by default. */
  readonly stderr?: number;
  /** The program of another release. */
  readonly program?: string;
  /** The priority of a serving process, if it may be raised: a negative number. */
  readonly priority?: number;
}

/** Returns why a command that a scheduler runs failed: the last line of its log. */
export function failureOf(err: string): string {
  const { msg, error } = JSON.parse(err.trimEnd().split("\n").at(-1) ?? "");
  if (msg !== "run failed") throw new Error(`No failure: ${err}`);
  return error;
}

/** Default timeout; a killed command has no exit code. */
const timeoutMs = 120_000;

/** Runs `carquet` until it exits. */
export async function carquet(
  args: readonly string[],
  { env = {}, input = "", withinMs = timeoutMs, ...options }: CommandOptions = {},
): Promise<CommandResult> {
  const child = spawnCarquet(args, env, options);
  const timer = setTimeout(() => child.kill("SIGKILL"), withinMs);
  child.stdin?.end(input);
  try {
    const [out, err, code] = await Promise.all([textOf(child.stdout), textOf(child.stderr), exitCodeOf(child)]);
    return { code, out, err };
  } finally {
    clearTimeout(timer);
  }
}

/** What a command may listen to. Its listeners of `exit` remove what it has begun. */
const processEvents = ["SIGHUP", "SIGINT", "SIGTERM", "disconnect", "exit"] as const;
const emitter: EventEmitter = process;

/**
 * Runs `carquet` in this process, which needs a tenth of the processor time of another one. Not for commands that serve, read standard input or end the
 * process, nor beside other tests: it captures what is written to standard output and standard error.
 */
export async function carquetHere(args: readonly string[], { env = {} }: CommandOptions = {}): Promise<CommandResult> {
  const accounts = join(scratchFolder(), "accounts.db");
  const before = { env: { ...process.env }, exitCode: process.exitCode };
  const listeners = processEvents.map((event) => new Set(emitter.listeners(event)));
  const plain = Object.keys(before.env).filter((name) => name.startsWith("CARQUET_"));
  for (const name of plain) delete process.env[name];
  Object.assign(process.env, { CARQUET_ACCOUNTS: accounts, ...env });
  process.exitCode = 0;
  const out = captureWrites(process.stdout);
  const err = captureWrites(process.stderr);
  try {
    const failure = await (await createProgram(args))
      .parseAsync(args, { from: "user" })
      .then(() => undefined, failureIn);
    return {
      code: failure?.code ?? Number(process.exitCode),
      out: out.written(),
      err: `${err.written()}${failure?.line ?? ""}`,
    };
  } finally {
    for (const stream of [out, err]) stream.restore();
    for (const [index, event] of processEvents.entries())
      for (const listener of emitter.listeners(event)) {
        if (listeners[index]?.has(listener) !== false) continue;
        if (event === "exit") Reflect.apply(listener, process, [0]);
        emitter.removeListener(event, listener as () => void);
      }
    for (const name of Object.keys(env).concat("CARQUET_ACCOUNTS")) delete process.env[name];
    Object.assign(process.env, before.env);
    process.exitCode = before.exitCode;
  }
}

/** Returns the exit code and the line with which `carquet` ends after an error; throws others. */
function failureIn(thrown: unknown): { readonly code: number; readonly line: string } {
  if (thrown instanceof CommanderError) return { code: thrown.exitCode, line: "" };
  if (thrown instanceof UserError)
    return { code: thrown instanceof UsageError ? usageErrorCode : 1, line: `carquet: ${thrown.message}\n` };
  throw thrown;
}

/** Captures texts that are written to a stream. Bytes pass: as such, a process reports the results of its tests over standard output. */
function captureWrites(stream: NodeJS.WriteStream): { readonly written: () => string; readonly restore: () => void } {
  let written = "";
  const { write } = stream;
  Object.assign(stream, {
    write(chunk: string | Uint8Array, ...rest: unknown[]): boolean {
      if (typeof chunk !== "string") return Reflect.apply(write, stream, [chunk, ...rest]);
      written += chunk;
      return true;
    },
  });
  return { written: () => written, restore: () => void Object.assign(stream, { write }) };
}

/** A running `carquet serve` or `carquet start`. */
export interface ServeProcess {
  /** Its address. */
  readonly url: string;
  readonly pid: number | undefined;
  /** A customer with unreachable rate limits. */
  readonly customer: Customer;
  /** Lines of standard output up to the address. */
  readonly announced: readonly string[];
  /** Sends SIGTERM. */
  terminate(): void;
  /** Sends SIGHUP. */
  hangUp(): void;
  /** Sends SIGKILL. */
  kill(): void;
  /** Resolves when it exits. */
  readonly ended: Promise<CommandResult>;
}

/**
 * Starts a serving command and waits until it listens. Its accounts file is temporary unless the environment names
 * one. It is killed when the scope ends.
 */
export async function startServing(
  scope: Scope,
  args: readonly string[],
  { env = {}, ...options }: CommandOptions = {},
): Promise<ServeProcess> {
  const accounts = env.CARQUET_ACCOUNTS ?? (await temporaryAccountsFile(scope));
  const customer = await createCustomer(accounts);
  const child = spawnCarquet(args, { ...env, CARQUET_ACCOUNTS: accounts }, options);
  if (options.priority !== undefined) raisePriority(child.pid ?? 0, options.priority);
  child.stdin?.end();
  const ended = Promise.all([textOf(child.stdout), textOf(child.stderr), exitCodeOf(child)]).then(
    ([out, err, code]) => ({
      code,
      out,
      err,
    }),
  );
  onScopeEnd(scope, async () => {
    child.kill("SIGKILL");
    await ended;
  });
  const announced: string[] = [];
  if (child.stdout === null) throw new Error("The command has no standard output.");
  for await (const line of createInterface({ input: child.stdout })) {
    announced.push(line);
    const url = /^listening on (https?:\S+)$/.exec(line)?.[1];
    if (url === undefined) continue;
    const signals = {
      terminate: () => void child.kill("SIGTERM"),
      hangUp: () => void child.kill("SIGHUP"),
      kill: () => void child.kill("SIGKILL"),
    };
    return { url, pid: child.pid, customer, announced, ...signals, ended };
  }
  throw new Error(`The command exited before it listened: ${(await ended).err}`);
}

export function spawnCarquet(
  args: readonly string[],
  env: Readonly<Record<string, string>>,
  { stderr, program = programPath }: Pick<CommandOptions, "stderr" | "program"> = {},
): ChildProcess {
  const command = [program, ...args];
  const plain = Object.entries(process.env).filter(([key]) => !/^(CARQUET|NODE_TEST)_/.test(key));
  return spawn(process.execPath, command, {
    cwd: projectPath("."),
    env: { ...Object.fromEntries(plain), CARQUET_ACCOUNTS: join(scratchFolder(), "accounts.db"), ...env },
    stdio: ["pipe", "pipe", stderr ?? "pipe"],
  });
}

let folder: string | undefined;

/** Returns a folder for commands without an accounts file; it is removed when this process exits. */
function scratchFolder(): string {
  if (folder !== undefined) return folder;
  const created = mkdtempSync(join(tmpdir(), "carquet-"));
  process.once("exit", () => rmSync(created, { recursive: true, force: true }));
  folder = created;
  return created;
}

/** Kills a process at the end of a scope, if it still runs. */
export function killAtEnd(scope: Scope, child: ChildProcess): void {
  onScopeEnd(scope, async () => {
    child.kill("SIGKILL");
    await exitCodeOf(child);
  });
}

async function textOf(stream: NodeJS.ReadableStream | null): Promise<string> {
  return stream === null ? "" : text(stream);
}

async function exitCodeOf(child: ChildProcess): Promise<number | null> {
  if (child.exitCode === null && child.signalCode === null) await once(child, "exit");
  return child.exitCode;
}

/** Parses a log with one JSON object per line. */
export function parseLog(log: string): readonly Readonly<Record<string, unknown>>[] {
  const lines = log.split("\n").filter((line) => line !== "");
  return lines.map((line) => {
    const entry: unknown = JSON.parse(line);
    if (!isObject(entry)) throw new TypeError(`Invalid log line "${line}": expected an object.`);
    return entry;
  });
}
