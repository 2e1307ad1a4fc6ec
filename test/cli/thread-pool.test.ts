/** The size of libuv's thread pool, and the process that restarts itself to set it. */
import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { text } from "node:stream/consumers";
import { describe, test } from "node:test";
import { projectPath } from "../../src/base/project-files.ts";
import { nodeOptions } from "../../src/base/restart.ts";
import { temporaryAccountsFile } from "../support/accounts.ts";
import { eventually } from "../support/command-line.ts";
import { createLake, temporaryFolder } from "../support/lakes/lakes.ts";
import { fileScope, onScopeEnd } from "../support/scope.ts";

const main = projectPath("src/main.ts");
const plain = [process.execPath, "--import", "tsx/esm", main];
const { scripts } = JSON.parse(readFileSync(projectPath("package.json"), "utf8"));
const accounts = await temporaryAccountsFile(fileScope);
const folder = await temporaryFolder(fileScope);

/** Creates FIFOs; opening one blocks a thread. */
function createFifos(name: string, count: number): string {
  const paths = Array.from({ length: count }, (_, index) => join(folder, `${name}-${index}`));
  execFileSync("mkfifo", paths);
  return paths.join();
}

/** Runs a command with the probe; returns what the probe wrote, which is empty if it never got a thread. */
async function runWithProbe(command: readonly string[], env: Readonly<Record<string, string>>): Promise<string> {
  const [file = "", ...args] = command;
  const { UV_THREADPOOL_SIZE: _, ...inherited } = process.env;
  const probe = `--import=${new URL("../support/pool-probe.mjs", import.meta.url)}`;
  const child = spawn(file, [...args, "accounts", "list", "--accounts", accounts, "--json"], {
    cwd: projectPath("."),
    env: { ...inherited, NODE_OPTIONS: probe, ...env },
    stdio: ["ignore", "ignore", "pipe"],
    // A blocked thread keeps a process from ending, so its whole group is killed.
    detached: true,
  });
  const timer = setTimeout(() => process.kill(-(child.pid ?? 0), "SIGKILL"), 20_000);
  try {
    return await text(child.stderr);
  } finally {
    clearTimeout(timer);
  }
}

describe("the thread pool has 16 threads, however the program is started", { concurrency: 2 }, () => {
  const ways: readonly (readonly [what: string, command: readonly string[]])[] = [
    ["npm run carquet", ["sh", "-c", `${scripts.carquet} "$@"`, "sh"]],
    ["the options of tests and measurements", [process.execPath, ...nodeOptions(), main]],
    ["node --import tsx/esm src/main.ts", plain],
  ];
  for (const [index, [what, command]] of ways.entries()) {
    test(what, async () => {
      assert.equal(await runWithProbe(command, { PROBE_FIFOS: createFifos(`way-${index}`, 15) }), "free\n");
    });
  }

  test("a size set by the operator is kept", async () => {
    const env = { UV_THREADPOOL_SIZE: "20", PROBE_FIFOS: createFifos("own", 19) };
    assert.equal(await runWithProbe([process.execPath, ...nodeOptions(), main], env), "free\n");
  });
});

describe("a program that restarted itself to set the size", () => {
  const killed: readonly (readonly [signal: NodeJS.Signals, code: number | null])[] = [
    ["SIGTERM", 0],
    ["SIGINT", 0],
    ["SIGKILL", null],
  ];
  for (const [signal, expected] of killed) {
    test(`exits as a single process does on ${signal}`, async () => {
      const { lake } = await createLake(fileScope);
      const [file = "", ...args] = [...plain, "serve", "--lake", lake, "--accounts", accounts, "--port", "0"];
      const { UV_THREADPOOL_SIZE: _, ...env } = process.env;
      const child = spawn(file, args, { cwd: projectPath("."), env, stdio: ["ignore", "pipe", "ignore"] });
      onScopeEnd(fileScope, async () => void child.kill("SIGKILL"));
      const lines = createInterface({ input: child.stdout });
      const [line] = await once(lines, "line");
      const url = String(line).replace("listening on ", "");
      assert.equal((await fetch(`${url}/v1/openapi.json`)).status, 200);
      child.kill(signal);
      const [code] = await once(child, "exit");
      assert.equal(code, expected);
      await eventually(`nothing listens at ${url}`, () =>
        fetch(url).then(
          () => false,
          () => true,
        ),
      );
    });
  }
});
