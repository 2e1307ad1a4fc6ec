/**
 * Runs the tests: compiles them, runs files that are neighbours in one process, and reports the processor time of each group.
 *
 * `node test/run.mjs [words...]`, where a word is a folder, a file or the start of one below `test/`, such as `query/facet`, or `compatibility`.
 * `CARQUET_TESTS` sets the extent (`support/extent.ts`). `CARQUET_CPU_SECONDS_MAX` fails a run that needs more processor time: unlike the time that
 * passes, it hardly depends on what else the machine does. Extent and budget are for the whole suite, on any Node.js that is supported.
 */
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { setPriority, tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { finished } from "node:stream/promises";
import { run } from "node:test";
import { spec } from "node:test/reporters";
import { fileURLToPath } from "node:url";
import { compatibilityFiles } from "./compatibility.mjs";

const require = createRequire(import.meta.url);
const { compile } = require("../bin/compile.cjs");
const { generateTypes } = require("../bin/generate.cjs");
const here = dirname(fileURLToPath(import.meta.url));
/** Four at once on two cores: tests wait for disks and for timeouts of other programs, so that three leave a seventh of the processor time unused. */
const concurrency = 4;
/**
 * Loading what a group needs takes a second and more of processor time, as much as many a file. A group of this size takes less than two minutes.
 * Groups start in order of their size, so that none of the largest runs alone at the end.
 */
const groupBytesMax = 96 * 1024;
/**
 * Exports and statements run at the lowest priority, 19. Beside tests of the normal priority, of which a busy machine has several, such a process has
 * less than a hundredth of a processor and misses its deadline; beside tests of this one, a tenth and more. Threads of the engine have 5 more than theirs.
 */
const priority = 14;
/** Files that need less processor time are not listed. */
const shownSeconds = 5;

/** A test file: its path below `test/` without its ending. */
const files = readdirSync(here, { recursive: true })
  .filter((file) => file.endsWith(".test.ts"))
  .map((file) => file.replaceAll("\\", "/").replace(/\.test\.ts$/, ""))
  .sort();

const words = process.argv.slice(2).map((word) => word.replace(/^test\//, "").replace(/\.test\.ts$/, ""));
const chosen = words.length === 0 ? files : files.filter((file) => words.some((word) => names(word, file)));
if (chosen.length === 0) throw new Error(`No test file starts with ${words.join(", ")}: expected the start of one below test/.`);
setPriority(priority);
generateTypes();
const compiled = compile(["src", "test", "bench", "clients"]);
const entries = groupsOf(chosen).map(writeEntry);
const usageFolder = mkdtempSync(join(tmpdir(), "carquet-usage-"));
process.env.CARQUET_USAGE_FOLDER = usageFolder;
/** Groups, commands and workers load the same modules: Node.js compiles each of them once. */
process.env.NODE_COMPILE_CACHE = join(compiled, "compile-cache");
/** How many tests were skipped, by the reason. */
const skipped = new Map();
const reporter = run({ files: entries, concurrency })
  .on("test:fail", ({ todo }) => {
    if (!todo) process.exitCode = 1;
  })
  .on("test:pass", ({ skip }) => {
    if (skip !== undefined && skip !== false) skipped.set(String(skip), (skipped.get(String(skip)) ?? 0) + 1);
  })
  .compose(new spec());
reporter.pipe(process.stdout);
await finished(reporter);
reportUsage();
reportSkipped();

function names(word, file) {
  return word === "compatibility" ? compatibilityFiles.includes(file) : file.startsWith(word);
}

/** Returns groups of files: neighbours in the order of paths, up to the maximum size, and each file that runs alone (`@alone` in its head). */
function groupsOf(chosenFiles) {
  const groups = chosenFiles.filter(isAlone).map((file) => ({ name: file, files: [file], bytes: bytesOf(file) }));
  let open;
  for (const file of chosenFiles) {
    if (isAlone(file)) continue;
    const bytes = bytesOf(file);
    if (open === undefined || open.bytes + bytes > groupBytesMax) groups.push((open = { files: [], bytes: 0 }));
    open.files.push(file);
    open.bytes += bytes;
    open.name = open.files.length === 1 ? file : `${open.files[0]} to ${file}`;
  }
  return groups.sort((one, other) => other.bytes - one.bytes);
}

function bytesOf(file) {
  return statSync(join(here, `${file}.test.ts`)).size;
}

function isAlone(file) {
  const head = readFileSync(join(here, `${file}.test.ts`), "utf8").split("*/", 1)[0];
  return head.includes("@alone");
}

/** Writes the program that runs a group beside the compiled tests, unless it exists; returns its path. */
function writeEntry({ name, files: members }) {
  const path = join(compiled, "test/groups", `${name.replaceAll(/[/ ]/g, "-")}-${members.length}.test.js`);
  const imports = members.map((file) => `  [${JSON.stringify(file)}, () => import("../${file}.test.js")],`);
  const text = [
    'import { runGroup } from "../support/group.js";',
    `await runGroup(${JSON.stringify(name)}, [`,
    ...imports,
    "]);",
    "",
  ].join("\n");
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
  return path;
}

function largestFirst(usages) {
  return [...usages].sort((one, other) => other.seconds - one.seconds);
}

function printUsage(seconds, of) {
  process.stdout.write(`${seconds.toFixed(1).padStart(7)} CPU seconds  ${of}\n`);
}

/** Prints how many tests were skipped for each reason, such as a program that is not installed. */
function reportSkipped() {
  const count = (tests) => `${tests} ${tests === 1 ? "test was" : "tests were"} skipped`;
  for (const [reason, tests] of [...skipped].sort(([, one], [, other]) => other - one))
    process.stdout.write(`${count(tests)}: ${reason === "true" ? "no reason given" : reason}\n`);
}

/** Prints the processor seconds of the most expensive files, of each group and of all; fails the run if they exceed the budget. */
function reportUsage() {
  const groups = readdirSync(usageFolder).map((file) => JSON.parse(readFileSync(join(usageFolder, file), "utf8")));
  rmSync(usageFolder, { recursive: true });
  if (groups.length === 0) return;
  const sum = groups.reduce((seconds, group) => seconds + group.seconds, 0);
  const expensive = groups.flatMap((group) => group.files).filter((file) => file.seconds >= shownSeconds);
  for (const { file, seconds } of largestFirst(expensive)) printUsage(seconds, file);
  for (const { name, seconds, files: members } of largestFirst(groups))
    printUsage(seconds, `in the group ${name} (${members.length} ${members.length === 1 ? "file" : "files"})`);
  printUsage(sum, `in ${groups.length} processes`);
  const most = Number(process.env.CARQUET_CPU_SECONDS_MAX ?? Number.POSITIVE_INFINITY);
  if (sum <= most) return;
  process.stderr.write(`The tests needed ${sum.toFixed(0)} CPU seconds: expected at most ${most}.\n`);
  process.exitCode = 1;
}
