/**
 * Runs the commands of README.md and docs/ in order, each page in its own terminal, and compares the outputs that they show.
 *
 * A block `sh` is run: every command must end with code 0, every response must have a status below 300; the flag `status=400` expects
 * that status, `no-test` names commands that are not run, each with its reason in the table below, `no-test=systemd` a whole block that is
 * not run, with its reason under `systemd`. A block with the flag `output` shows
 * the output of the command before it: `json` an excerpt of it (with `shape`, of its keys), all others the whole text. A block `sql` is run
 * on the lake.
 */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { describe, test } from "node:test";
import { projectPath } from "../../src/base/project-files.ts";
import { createLake, queryLake } from "../support/lakes/lakes.ts";
import { fileScope } from "../support/scope.ts";
import { differences } from "./excerpt.ts";
import { type FencedBlock, fencedBlocks, pages } from "./markdown.ts";
import { Terminal, type TerminalResult } from "./terminal.ts";

/** Pages whose commands start without a lake; all others start with that of the sample delivery. */
const startEmpty: ReadonlySet<string> = new Set(["README.md", "docs/ingest.md"]);

/** Commands that are not run, and why. */
const notRun: Readonly<Record<string, string>> = {
  "npm run -s carquet -- ingest feeds/2026-11-20": "the day of a scheduler; ingest.md runs ingest on the sample",
  "npm run -s carquet -- vacuum": "takes its default flags after that ingest; the same page runs it with flags",
  "npm run bench -- --listings 1000000": "takes hours; test/bench runs the suite's parts",
  "npm run bench -- --listings 200000 --quick --json now.json --compare before.json":
    "takes long; test/bench compares runs",
  "cd data/lake && duckdb -init versions/$(cat CURRENT).sql":
    "needs the duckdb shell; views.test.ts runs the same file",
  container: "needs a container engine; test/deploy runs the steps of the image, and the image",
  systemd: "changes the machine; test/deploy checks the units and runs the ingest script",
  clients: "needs the generators; test/clients runs them, and the clients",
  package: "needs the registry of npm; test/deploy installs and starts the package",
};

const isSkipped = ({ flags }: FencedBlock): boolean => flags.some((flag) => /^no-test(=|$)/.test(flag));
const isRun = (block: FencedBlock): boolean => block.language === "sh" && !isSkipped(block);

/** The commands of a block: continued lines are joined, comments are left out. */
const commandsIn = ({ text }: FencedBlock): readonly string[] =>
  text
    .replaceAll(/\\\n\s*/g, "")
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "" && !line.startsWith("#"));

/** The value of a flag `name=value`. */
const flagOf = ({ flags }: FencedBlock, name: string): string | undefined =>
  flags.find((flag) => flag.startsWith(`${name}=`))?.slice(name.length + 1);

const { lake } = await createLake(fileScope);

/** Runs the commands of a block; returns the result of the last one. */
async function runBlock(terminal: Terminal, block: FencedBlock): Promise<TerminalResult | undefined> {
  const status = flagOf(block, "status");
  let last: TerminalResult | undefined;
  for (const command of commandsIn(block)) {
    const message = `${block.place}: ${command}`;
    last = await terminal.run(command);
    assert.equal(last.code, 0, `${message}\n${last.out}${last.err}`);
    for (const found of last.statuses)
      assert.ok(status === undefined ? found < 300 : found === Number(status), `${message}: ${found} ${last.out}`);
  }
  return last;
}

/** Fails unless a block shows the output of the command before it. */
function checkOutput({ place, language, flags, text }: FencedBlock, result: TerminalResult | undefined): void {
  assert.ok(result, `${place}: no command before this output`);
  if (language !== "json") {
    const plain = (lines: string): string => lines.trim().replaceAll(/ +$/gm, "");
    assert.equal(plain(result.out), plain(text), place);
    return;
  }
  const compared = flags.includes("shape") ? "shape" : "values";
  assert.deepEqual(differences(JSON.parse(text), JSON.parse(result.out), compared), [], place);
}

describe("the commands of a page work in order", { concurrency: 3 }, () => {
  for (const page of pages) {
    const blocks = fencedBlocks(page);
    if (!blocks.some(isRun) && !blocks.some(({ language }) => language === "sql")) continue;
    test(page, async (scope) => {
      const terminal = await Terminal.open(scope, startEmpty.has(page) ? undefined : lake);
      let last: TerminalResult | undefined;
      for (const block of blocks) {
        if (isRun(block)) last = await runBlock(terminal, block);
        else if (block.flags.includes("output")) checkOutput(block, last);
        else if (block.language === "sql")
          assert.notDeepEqual(await queryLake(terminal.lake, block.text), [], block.place);
      }
      await terminal.stop();
    });
  }
});

test("every command that is not run has a reason, and every reason a command", () => {
  const skipped = pages.flatMap(fencedBlocks).filter(isSkipped);
  const named = skipped.flatMap((block) => flagOf(block, "no-test") ?? commandsIn(block));
  assert.deepEqual([...new Set(named)].sort(), Object.keys(notRun).sort());
});

test("every script that the documentation runs with npm exists", () => {
  const { scripts }: { readonly scripts: Readonly<Record<string, string>> } = JSON.parse(
    readFileSync(projectPath("package.json"), "utf8"),
  );
  const lifecycle = ["start", "test"];
  const named = pages.flatMap((page) => [
    ...readFileSync(projectPath(page), "utf8").matchAll(/npm (?:run (?:-s )?([\w:]+)|(start|test)\b)/g),
  ]);
  const unknown = named.flatMap(([, script, short]) => {
    const name = script ?? short ?? "";
    return name in scripts || lifecycle.includes(name) ? [] : [name];
  });
  assert.deepEqual([named.length > 0, unknown], [true, []]);
});
