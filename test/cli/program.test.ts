/** How the program starts: the size and priority of libuv's thread pool, and the compilation of its sources. */
import assert from "node:assert/strict";
import { execFile, execFileSync, spawn } from "node:child_process";
import {
  appendFileSync,
  cpSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { dirname, join, relative } from "node:path";
import { text } from "node:stream/consumers";
import { describe, test } from "node:test";
import { promisify } from "node:util";
import { programPath, projectPath } from "../../src/base/project-files.ts";
import { createProgram } from "../../src/cli/program.ts";
import { temporaryAccountsFile } from "../support/accounts.ts";
import { skipInShortRun } from "../support/extent.ts";
import { temporaryFolder } from "../support/lakes/lakes.ts";
import { fileScope } from "../support/scope.ts";

const { scripts, engines } = JSON.parse(readFileSync(projectPath("package.json"), "utf8"));
const { packages }: { packages: Readonly<Record<string, LockedPackage>> } = JSON.parse(
  readFileSync(projectPath("package-lock.json"), "utf8"),
);
const accounts = await temporaryAccountsFile(fileScope);
const folder = await temporaryFolder(fileScope);

test("the list of components has every package of the lock file, with its checksum and whether only development needs it", () => {
  const list = execFileSync("npm", ["run", "-s", "sbom"], { cwd: projectPath("."), encoding: "utf8" });
  const { bomFormat, components }: { bomFormat: string; components: readonly Component[] } = JSON.parse(list);
  const expected = Object.entries(packages).flatMap(([path, { version, integrity, dev = false }]) => {
    const name = path.split("node_modules/").at(-1)?.replace("@", "%40");
    return path === "" ? [] : [`pkg:npm/${name}@${version} ${dev} ${integrity !== undefined}`];
  });
  const listed = components.map(({ purl, properties, hashes = [] }) => {
    const isDevelopment = properties.some(({ name }) => name === "cdx:npm:package:development");
    return `${purl} ${isDevelopment} ${hashes.some(({ alg }) => alg === "SHA-512")}`;
  });
  assert.equal(bomFormat, "CycloneDX");
  assert.deepEqual([...new Set(listed)].sort(), [...new Set(expected)].sort());
  assert.doesNotMatch(list, /https?:\/\/registry/);
});

/** Whether the version of Node.js is in a range such as `^20.19.0 || >=22.12`. */
function admits(range: string, version: string): boolean {
  const numbersOf = (text: string): readonly number[] => text.split(".").map((part) => Number(part) || 0);
  const order = (a: readonly number[], b: readonly number[]): number =>
    [0, 1, 2].map((index) => (a[index] ?? 0) - (b[index] ?? 0)).find((difference) => difference !== 0) ?? 0;
  const found = numbersOf(version);
  return range.split("||").some((part) =>
    [...part.matchAll(/(>=|<|\^|)\s*v?(\d[\d.x*]*)/g)].every(([, operator, text = ""]) => {
      const bound = numbersOf(text);
      if (operator === "<") return order(found, bound) < 0;
      return order(found, bound) >= 0 && (operator === ">=" || found[0] === bound[0]);
    }),
  );
}

test("every package admits the promised versions of Node.js, and all but those named also 20.19", () => {
  const refusing = (version: string): readonly string[] =>
    Object.entries(packages).flatMap(([path, { engines: asked }]) => {
      const isAdmitted = path === "" || admits(asked?.node ?? "", version);
      return isAdmitted ? [] : [path.replace("node_modules/", "")];
    });
  assert.equal(engines.node, ">=22.12");
  assert.deepEqual(["22.12.0", "24.0.0", "26.0.0"].map(refusing), [[], [], []]);
  assert.deepEqual(refusing("20.19.0"), ["@photostructure/sqlite"]);
});

interface Component {
  readonly purl: string;
  readonly hashes?: readonly { readonly alg: string }[];
  readonly properties: readonly { readonly name: string }[];
}

interface LockedPackage {
  readonly version: string;
  readonly integrity?: string;
  /** Of old packages a list, which names no version alone. */
  readonly engines?: { readonly node?: string };
  readonly dev?: boolean;
}

/** Creates FIFOs; opening one blocks a thread. */
function createFifos(name: string, count: number): string {
  const paths = Array.from({ length: count }, (_, index) => join(folder, `${name}-${index}`));
  execFileSync("mkfifo", paths);
  return paths.join();
}

/** Runs a command with the probe; returns the probe's output, which is empty if it never got a thread. */
async function runWithProbe(command: readonly string[], env: Readonly<Record<string, string>>): Promise<string> {
  const [file = "", ...args] = command;
  const { UV_THREADPOOL_SIZE: _, ...inherited } = process.env;
  const probe = `--require=${projectPath("test/cli/pool-probe.cjs")}`;
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

describe("the thread pool has 32 threads, however the program is started", { concurrency: 2 }, () => {
  const ways: readonly (readonly [what: string, command: readonly string[]])[] = [
    ["npm run carquet", ["sh", "-c", `${scripts.carquet} "$@"`, "sh"]],
    ["bin/carquet.cjs", [programPath]],
  ];
  for (const [index, [what, command]] of ways.entries()) {
    test(what, async () => {
      assert.equal(await runWithProbe(command, { PROBE_FIFOS: createFifos(`way-${index}`, 31) }), "free\n");
    });
  }

  test("a size set by the operator is kept", async () => {
    const env = { UV_THREADPOOL_SIZE: "40", PROBE_FIFOS: createFifos("own", 39) };
    assert.equal(await runWithProbe([programPath], env), "free\n");
  });
});

/** Prints the priorities of this process's threads, the main thread's first: field 19 of their state, after a name that may hold spaces. */
const printPriorities = `
const { readdirSync, readFileSync } = require("node:fs");
const ids = readdirSync("/proc/self/task").map(Number).sort((a, b) => a - b);
const priorityOf = (id) => Number(readFileSync("/proc/self/task/" + id + "/stat", "utf8").split(") ").at(-1).split(" ")[16]);
console.log(JSON.stringify(ids.map(priorityOf)));`;

test("the threads of the pool yield to the main thread", {
  skip: process.platform !== "linux" && "only Linux has priorities of threads",
}, () => {
  const args = ["--require", projectPath("src/base/thread-pool.cjs"), "--eval", printPriorities];
  const [main, ...others]: readonly number[] = JSON.parse(execFileSync(process.execPath, args, { encoding: "utf8" }));
  assert.equal(others.filter((priority) => priority === Math.min((main ?? 0) + 10, 19)).length, 32);
});

/** Copies the inputs of a compilation into a new folder. */
async function copyProgram(): Promise<string> {
  const copy = await temporaryFolder(fileScope);
  for (const path of ["bin", "src", "schemas", "package.json"])
    cpSync(projectPath(path), join(copy, path), { recursive: true });
  symlinkSync(projectPath("node_modules"), join(copy, "node_modules"));
  return copy;
}

const compile = async (copy: string): Promise<string> =>
  (await promisify(execFile)(process.execPath, [join(copy, "bin/compile.cjs")])).stdout.trim();

/** The folders of results: the compiled program, the bundles for browsers, and their typeface. */
const resultsIn = (copy: string): readonly string[] => readdirSync(join(copy, "dist"));

describe("the compiled program", () => {
  test("processes that compile at once share one result, which changes with the sources", {
    skip: skipInShortRun,
  }, async () => {
    const copy = await copyProgram();
    rmSync(join(copy, "src/contract/generated/fingerprint"));
    const [first, other] = await Promise.all([compile(copy), compile(copy)]);
    assert.equal(other, first);
    assert.equal(resultsIn(copy).length, 3, "nothing unfinished is left");
    assert.equal(await compile(copy), first);
    appendFileSync(join(copy, "src/main.ts"), "\nprocess.stdout.write('changed\\n');\n");
    assert.notEqual(await compile(copy), first);
    const { stdout } = await promisify(execFile)(process.execPath, [join(copy, "bin/carquet.cjs"), "keys", "--help"]);
    assert.match(stdout, /^Usage: carquet keys/);
  });

  test("a copy at another path, with other times, runs the compiled program", async () => {
    const copy = await copyProgram();
    const compiled = await compile(copy);
    const other = await copyProgram();
    cpSync(join(copy, "dist"), join(other, "dist"), { recursive: true });
    utimesSync(join(other, "src/main.ts"), 0, 0);
    assert.equal(await compile(other), join(other, relative(copy, compiled)));
    assert.equal(resultsIn(other).length, 3);
  });

  test("other users can read the compiled program", { skip: skipInShortRun }, async () => {
    const folder = await compile(await copyProgram());
    assert.equal(statSync(folder).mode & 0o055, statSync(dirname(folder)).mode & 0o055);
  });

  test("an error shows the line of the source", { skip: skipInShortRun }, async () => {
    const copy = await copyProgram();
    const main = join(copy, "src/main.ts");
    writeFileSync(
      main,
      `interface Unused { readonly a: 1 }\n\nthrow new Error("a defect");\n${readFileSync(main, "utf8")}`,
    );
    const failed = promisify(execFile)(process.execPath, [join(copy, "bin/carquet.cjs"), "--version"]);
    await assert.rejects(failed, ({ stderr }) => /a defect[\s\S]*src\/main\.ts:3:7/.test(stderr));
  });

  const isRoot = process.getuid?.() === 0;
  test("a folder that cannot be written is named", { skip: isRoot && "root can write everywhere" }, async () => {
    const copy = await copyProgram();
    mkdirSync(join(copy, "dist"), { mode: 0o500 });
    const failed = promisify(execFile)(process.execPath, [join(copy, "bin/carquet.cjs"), "--version"]);
    await assert.rejects(failed, ({ stderr }) => /^carquet: Cannot write .*dist: .*npm run build/.test(stderr));
  });
});

test("a variable of a flag turns it on or off, an empty one is none, and another text is refused", async () => {
  const valuesOf = async (words: readonly string[], variables: Readonly<Record<string, string>>) => {
    const before = { ...process.env };
    Object.assign(process.env, variables);
    try {
      const program = await createProgram(words);
      const command = program.commands.find((one) => one.name() === words[0]) ?? assert.fail();
      command.action(() => undefined);
      await program.parseAsync(words, { from: "user" });
      return command.opts();
    } finally {
      for (const name of Object.keys(variables)) delete process.env[name];
      Object.assign(process.env, before);
    }
  };
  for (const [text, isOn] of Object.entries({ "1": true, true: true, TRUE: true, "0": false, false: false, "": false }))
    assert.equal((await valuesOf(["serve"], { CARQUET_PRIVATE_WEBHOOKS: text })).privateWebhooks, isOn, text);
  await assert.rejects(valuesOf(["serve"], { CARQUET_PRIVATE_WEBHOOKS: "maybe" }), {
    message: 'Invalid value "maybe" for CARQUET_PRIVATE_WEBHOOKS: expected 1, true, 0 or false.',
  });
  assert.equal((await valuesOf(["serve"], { CARQUET_PORT: "" })).port, 8080);
  const ingest = ["ingest", "feeds", "--preset", "homenet"];
  const { mapping, preset } = await valuesOf(ingest, { CARQUET_MAPPING: "", CARQUET_DEALERS: "" });
  assert.deepEqual([mapping, preset], [undefined, "homenet"]);
});
